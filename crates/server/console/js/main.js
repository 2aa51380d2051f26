// The entry point: routes the URL to a page, and wires up the sidebar, the header and the shortcuts.

import { h, button, emptyState, setAttribute, setChildren, setText } from "./ui/dom.js";
import { icon } from "./ui/icons.js";
import { api, decodeSegment, SERVER_URL, storeToken, takeTokenFromUrl } from "./net/api-client.js";
import { waitForServer } from "./net/reconnect.js";
import { account } from "./shell/account.js";
import { chatPage } from "./chat/chat-page.js";
import { inlineCode } from "./ui/inline-code.js";
import { externalLink } from "./ui/link.js";
import { conversationList, exportConversation } from "./shell/conversation-list.js";
import { modelName } from "./ui/format.js";
import { promptsPage } from "./tools/prompts-page.js";
import { loadConnections } from "./state/connections.js";
import { quotaStatus } from "./shell/quota-status.js";
import { shortcuts } from "./shell/shortcuts.js";
import { signInPage, takeSignInFailure } from "./shell/sign-in-page.js";
import { themeSwitch } from "./shell/theme-switch.js";
import { toolsPage } from "./tools/tools-page.js";
import { acceptPage } from "./sharing/accept-page.js";
import { adminPage } from "./sharing/admin-page.js";
import { approvalsPage } from "./sharing/approvals-page.js";
import { sidebarDrawer } from "./shell/sidebar-drawer.js";
import { MISLEADING, escapeText } from "./ui/escape.js";

takeTokenFromUrl();
const signInFailure = takeSignInFailure();

const app = {
  info: null,
  tools: null,
  me: null,
  loading: null,
  /** Loads the info, the tools and the account, once. */
  load() {
    this.loading ??= Promise.all([api.info(), api.tools(), api.me(), loadConnections()]).then(
      ([info, tools, me]) => Object.assign(this, { info, tools, me }),
      (error) => {
        this.loading = null;
        throw error;
      },
    );
    return this.loading;
  },
  specOf: (name) => app.tools?.find((tool) => tool.name === name),
  /** Returns true if these approvers include this person, for a call of its own. */
  mayApprove: (approvers) => approvers.some((rule) => ownRules().includes(rule)),
  /** Shows the number of calls of others that wait for a decision. */
  setApprovals(count) {
    approvalsLink.hidden = !count && current.page !== "approvals";
    setText(approvalsLink.querySelector(".count"), count ? String(count) : "");
  },
  navigate: (hash) => (location.hash = hash),
  /** After a message or an answer: the list and the quota have changed. */
  refreshConversations() {
    quota.refresh();
    return conversationNav.refresh();
  },
  setRunning: (running) => conversationNav.setRunning(running),
  updateHeader: () => drawHeader(),
  /** Inserts a rendered prompt into the chat: as editable text if its role is user, else as an attachment. */
  insertPrompt(prompt) {
    const { composer } = pages.chat;
    const insert = () => (prompt.role === "user" ? composer.insertText(prompt.text) : composer.attachPrompt(prompt));
    location.hash = lastChatHash;
    // This listener runs after the one that shows the page.
    addEventListener("hashchange", insert, { once: true });
  },
};

const conversationNav = conversationList({
  onRefreshed: () => drawHeader(),
  onRemoved: (id) => id === current.id && app.navigate("#/"),
  hasPeople: () => Boolean(app.me?.subject),
});
const pages = {
  chat: chatPage(app),
  tools: toolsPage(app),
  prompts: promptsPage(app),
  approvals: approvalsPage(app),
  share: acceptPage(app),
  all: adminPage(),
  unknown: unknownPage(),
};
const approvalsLink = /** @type {any} */ (document.querySelector('[data-page="approvals"]'));
const adminLink = /** @type {any} */ (document.querySelector('[data-page="all"]'));
const people = document.getElementById("people");
const brandTitle = document.title;
const brandLinks = document.getElementById("brand-links");
const heading = document.getElementById("heading");
const modelLabel = document.getElementById("model");
const main = document.getElementById("main");
const headerButtons = document.getElementById("header-buttons");
const drawer = sidebarDrawer();
const quota = quotaStatus();
const theme = themeSwitch();
let current = { page: "chat", id: null };
let lastChatHash = "#/";

/** The rules of approvers that include this person. */
function ownRules() {
  if (!app.me?.subject) return ["owner"];
  return ["owner", `subject:${app.me.subject}`, ...app.me.roles.map((role) => `role:${role}`)];
}

/** Asks for the calls of others that wait for a decision of this person. */
async function refreshApprovals() {
  if (!app.me?.subject) return;
  try {
    app.setApprovals((await api.approvals()).length);
  } catch {
    // The page shows the error.
  }
}

/** The page of an address that has none. */
function unknownPage() {
  const text = "The link is incomplete, or from another version of this page.";
  const link = h("a", { class: "button", href: "#/" }, "Start a conversation");
  const node = h("div", { class: "page" }, emptyState("There is no such page", h("p", {}, text), h("p", {}, link)));
  return { node, show() {} };
}

/**
 * Parses the hash: `#/`, `#/c/ID`, `#/tools`, `#/tools/NAME`, `#/prompts`, `#/approvals`, `#/share/TOKEN` or `#/all`.
 */
function route() {
  const [, first = "", second = ""] = location.hash.split("/");
  const name = decodeSegment(second);
  if (first === "tools") return { page: "tools", id: name || null };
  if (first === "prompts") return { page: "prompts", id: null };
  if (first === "approvals" || first === "all") return { page: first, id: null };
  if (first === "share" && name) return { page: "share", id: name };
  if (first && first !== "c") return { page: "unknown", id: null };
  return { page: "chat", id: first && name ? name : null };
}

function show() {
  const next = route();
  const pageChanges = next.page !== current.page || !main.firstChild;
  current = next;
  if (current.page === "chat") lastChatHash = location.hash || "#/";
  if (pageChanges) setChildren(main, pages[current.page].node);
  pages[current.page].show(current.id);
  conversationNav.setOpen(current.page === "chat" ? current.id : null);
  for (const link of document.querySelectorAll("[data-page]")) {
    const isCurrent = link.dataset.page === current.page && !(current.page === "chat" && current.id);
    setAttribute(link, "aria-current", isCurrent ? "page" : null);
  }
  drawer.close();
  drawHeader();
}

/** Returns the title of the list, or the first message until the list has one. */
function chatTitle() {
  return conversationNav.titleOf(current.id) || pages.chat.firstLine() || "Conversation";
}

function drawHeader() {
  const title = {
    tools: "Tools",
    prompts: "Prompts",
    approvals: "Approvals",
    share: "A shared conversation",
    all: "All conversations",
    unknown: "Unknown page",
    chat: current.id ? chatTitle() : "New conversation",
  }[current.page];
  const names = current.page === "chat" && current.id ? pages.chat.participants() : [];
  const isReadOnly = current.page === "chat" && current.id && !pages.chat.isMissing() && !pages.chat.mayWrite();
  const notes = [isReadOnly && "Read only", names.length > 1 && `Here: ${names.join(", ")}`];
  setText(people, notes.filter(Boolean).join(" · "), MISLEADING);
  setText(heading, title, MISLEADING);
  document.title = `${escapeText(title, MISLEADING)} · ${brandTitle}`;
  headerButtons.hidden = current.page !== "chat" || !current.id || pages.chat.isMissing();
}

/** @param {boolean} [isTokenEntered] true if the user has just entered a token */
async function start(isTokenEntered = false) {
  try {
    await app.load();
  } catch (error) {
    if (error.status === 401) return askWhoItIs(isTokenEntered);
    if (error.kind === "offline") waitForServer().then(() => app.info || start());
    const retryButton = button("Try again", { kind: "primary", on: { click: () => start() } });
    const notice = emptyState("The server cannot be reached", h("p", {}, error.message), retryButton);
    return void setChildren(main, h("div", { role: "alert" }, notice));
  }
  setChildren(main);
  setText(modelLabel, modelName(app.info.model));
  pages.chat.composer.setModels(app.info);
  const { links } = app.info.console;
  setChildren(
    brandLinks,
    links.map(({ label, url }) => externalLink(url, [label], SERVER_URL)),
  );
  brandLinks.hidden = !links.length;
  version.textContent = app.info.version;
  accountButton.show(app.me);
  version.title = `Conversations are kept in ${app.info.store}`;
  quota.refresh();
  adminLink.hidden = !(app.me.subject && app.me.roles.includes("admin"));
  await conversationNav.refresh();
  refreshApprovals();
  show();
}

/** Shows the providers to sign in with, and the form for a token if the server takes one. */
async function askWhoItIs(isTokenEntered) {
  const { providers, token } = await api.providers().catch(() => ({ providers: [], token: true }));
  setChildren(main, signInPage(providers, signInFailure, token ? tokenForm(isTokenEntered) : null));
  /** @type {HTMLElement} */ (main.querySelector(providers.length ? "a.button" : "#token")).focus();
}

function tokenForm(wasRejected) {
  const input = h("input", { type: "password", id: "token", autocomplete: "off", required: true });
  const submit = (event) => {
    event.preventDefault();
    storeToken(input.value.trim());
    start(true);
  };
  const rejection = h("p", { class: "error", role: "alert" }, wasRejected ? "The server refuses this token." : "");
  return h(
    "form",
    { class: "empty-state", on: { submit } },
    h("h2", {}, "This server wants a token"),
    h("p", {}, inlineCode("It was chosen where the server was started, with --token or in its settings.")),
    h("div", { class: "field" }, h("label", { for: "token" }, "Token"), input, rejection),
    h("div", { class: "buttons" }, button("Go on", { kind: "primary", type: "submit" })),
  );
}

document.getElementById("conversation-list").append(conversationNav.node);
headerButtons.hidden = true;
headerButtons.append(
  button("Export this conversation", {
    icon: icon("export"),
    iconOnly: true,
    on: { click: () => exportConversation(current.id, pages.chat.branchEnd()) },
  }),
  button("Details of the last turn", {
    icon: icon("panel"),
    iconOnly: true,
    on: { click: () => pages.chat.toggleDetails() },
  }),
);
const keyboardShortcuts = shortcuts([
  ["/", "Write a message", () => (current.page === "chat" ? pages.chat.composer.focus() : app.navigate(lastChatHash))],
  ["n", "New conversation", () => app.navigate("#/")],
  ["a", "Go to the call that waits for a decision", () => pages.chat.focusApproval()],
  ["d", "Details of the last turn", () => current.page === "chat" && pages.chat.toggleDetails()],
  ["t", "Tools", () => app.navigate("#/tools")],
  ["p", "Prompts", () => app.navigate("#/prompts")],
  ["l", "Light or dark", () => theme.toggle()],
]);
const version = h("span", { class: "quiet version" });
const accountButton = account();
document.getElementById("sidebar-buttons").before(quota.node, accountButton.node);
document
  .getElementById("sidebar-buttons")
  .append(
    theme.node,
    button("Keyboard shortcuts", { icon: icon("keyboard"), iconOnly: true, on: { click: keyboardShortcuts.showHelp } }),
    version,
  );
for (const link of document.querySelectorAll("[data-icon]")) link.prepend(icon(link.dataset.icon));
document.querySelector(".skip").addEventListener("click", (event) => {
  // The hash is the route.
  event.preventDefault();
  main.focus();
});
// Other tabs and programs also create conversations.
document.addEventListener("visibilitychange", () => {
  if (!app.info || document.hidden) return;
  conversationNav.refresh();
  refreshApprovals();
});
addEventListener("hashchange", () => {
  if (!app.info) return;
  show();
  refreshApprovals();
  // Navigation moves the focus to the new page.
  if (current.page === "chat") pages.chat.composer.autofocus();
  else main.focus();
});
start();
