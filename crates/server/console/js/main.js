// The shell: pages by address, what they share, the drawer, the keys.

import { h, attr, button, fill, text } from "./ui/dom.js";
import { icon } from "./ui/icons.js";
import { api, decoded, keepToken, takeToken } from "./api/client.js";
import { whenBack } from "./api/reconnect.js";
import { chatPage } from "./chat/chat-page.js";
import { coded } from "./ui/inline-code.js";
import { conversationList, download } from "./shell/conversation-list.js";
import { modelName } from "./ui/format.js";
import { promptsPage } from "./tools/prompts-page.js";
import { shortcuts } from "./shell/shortcuts.js";
import { themeSwitch } from "./shell/theme-switch.js";
import { toolsPage } from "./tools/tools-page.js";
import { drawer } from "./shell/sidebar-drawer.js";
import { MISLEADING, escaped } from "./ui/escape.js";

takeToken();

const app = {
  info: null,
  tools: null,
  loading: null,
  /** Brings what every page needs, once. */
  load() {
    this.loading ??= Promise.all([api.info(), api.tools()]).then(
      ([info, tools]) => Object.assign(this, { info, tools }),
      (error) => {
        this.loading = null;
        throw error;
      },
    );
    return this.loading;
  },
  specOf: (name) => app.tools?.find((tool) => tool.name === name),
  go: (address) => (location.hash = address),
  changed: () => list.refresh(),
  runs: (running) => list.run(running),
  /** Draws the header again: whether the open conversation exists has changed. */
  retitle: () => titles(),
  /** Takes a prompt to the chat: a person's words can be changed there, the model's own are sent as they are. */
  insert(prompt) {
    const { write } = pages.chat;
    location.hash = lastChat;
    // The page is shown before anything goes in.
    addEventListener("hashchange", () => (prompt.role === "user" ? write.insert(prompt.text) : write.attach(prompt)), {
      once: true,
    });
  },
};

const list = conversationList({ refreshed: () => titles(), removed: (id) => id === here.id && app.go("#/") });
const pages = { chat: chatPage(app), tools: toolsPage(app), prompts: promptsPage(app) };
const heading = document.getElementById("heading");
const model = document.getElementById("model");
const main = document.getElementById("main");
const tools = document.getElementById("header-buttons");
const side = drawer();
const theme = themeSwitch();
let here = { page: "chat", id: null };
let lastChat = "#/";

/** `#/`, `#/c/ID`, `#/tools`, `#/tools/NAME`, `#/prompts`. */
function route() {
  const [, first = "", second = ""] = location.hash.split("/");
  const name = decoded(second);
  if (first === "tools") return { page: "tools", id: name || null };
  if (first === "prompts") return { page: "prompts", id: null };
  return { page: "chat", id: first === "c" && name ? name : null };
}

function show() {
  const next = route();
  const changes = next.page !== here.page || !main.firstChild;
  here = next;
  if (here.page === "chat") lastChat = location.hash || "#/";
  if (changes) fill(main, pages[here.page].node);
  pages[here.page].show(here.id);
  list.at(here.page === "chat" ? here.id : null);
  for (const link of document.querySelectorAll("[data-page]")) {
    const current = link.dataset.page === here.page && !(here.page === "chat" && here.id);
    if (current) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  side.shut();
  titles();
}

/** What the list calls it; what was said first, until the list knows. */
function chatTitle() {
  return list.titleOf(here.id) || pages.chat.firstWords() || "Conversation";
}

function titles() {
  const title = { tools: "Tools", prompts: "Prompts", chat: here.id ? chatTitle() : "New conversation" }[here.page];
  text(heading, title, MISLEADING);
  document.title = `${escaped(title, MISLEADING)} · Toolwright`;
  tools.hidden = here.page !== "chat" || !here.id || pages.chat.isUnknown();
}

/** @param {boolean} [tried] whether a token was just typed */
async function begin(tried = false) {
  const retry = () => begin();
  try {
    await app.load();
  } catch (error) {
    if (error.status === 401) {
      fill(main, tokenForm(tried));
      return void document.getElementById("token").focus();
    }
    if (error.kind === "offline") whenBack().then(() => app.info || begin());
    const again = button("Try again", { kind: "primary", on: { click: retry } });
    return void fill(
      main,
      h(
        "div",
        { class: "nothing", role: "alert" },
        h("h2", {}, "The server cannot be reached"),
        h("p", {}, error.message),
        again,
      ),
    );
  }
  fill(main);
  text(model, modelName(app.info.model));
  attr(model, "title", app.info.model?.why ?? "");
  pages.chat.write.offer(app.info);
  version.textContent = app.info.version;
  version.title = `Conversations are kept in ${app.info.store}`;
  await list.refresh();
  show();
}

function tokenForm(refusedBefore) {
  const input = h("input", { type: "password", id: "token", autocomplete: "off", required: true });
  const submit = (event) => {
    event.preventDefault();
    keepToken(input.value.trim());
    begin(true);
  };
  const refused = h("p", { class: "fault", role: "alert" }, refusedBefore ? "The server refuses this token." : "");
  return h(
    "form",
    { class: "nothing", on: { submit } },
    h("h2", {}, "This server wants a token"),
    h("p", {}, coded("It was chosen where the server was started, with --token or in its settings.")),
    h("div", { class: "field" }, h("label", { for: "token" }, "Token"), input, refused),
    h("div", { class: "buttons" }, button("Go on", { kind: "primary", type: "submit" })),
  );
}

document.getElementById("conversation-list").append(list.node);
tools.hidden = true;
tools.append(
  button("Export this conversation", { icon: icon("export"), hidden: true, on: { click: () => download(here.id) } }),
  button("Details of the last turn", {
    icon: icon("panel"),
    hidden: true,
    on: { click: () => pages.chat.toggleDetails() },
  }),
);
const keys = shortcuts([
  ["/", "Write a message", () => (here.page === "chat" ? pages.chat.write.focus() : app.go(lastChat))],
  ["n", "New conversation", () => app.go("#/")],
  ["a", "Go to the call that waits for a decision", () => pages.chat.toAsked()],
  ["d", "Details of the last turn", () => here.page === "chat" && pages.chat.toggleDetails()],
  ["t", "Tools", () => app.go("#/tools")],
  ["p", "Prompts", () => app.go("#/prompts")],
  ["l", "Light or dark", () => theme.flip()],
]);
const version = h("span", { class: "quiet version" });
document
  .getElementById("sidebar-buttons")
  .append(
    theme.node,
    button("Keyboard shortcuts", { icon: icon("keyboard"), hidden: true, on: { click: keys.help } }),
    version,
  );
for (const link of document.querySelectorAll("[data-icon]")) link.prepend(icon(link.dataset.icon));
document.querySelector(".skip").addEventListener("click", (event) => {
  // The address belongs to the pages.
  event.preventDefault();
  main.focus();
});
// Other pages and programs make conversations, too.
document.addEventListener("visibilitychange", () => app.info && !document.hidden && list.refresh());
addEventListener("hashchange", () => {
  if (!app.info) return;
  show();
  // Who goes to a page is taken to where it begins.
  if (here.page === "chat") pages.chat.write.offerFocus();
  else main.focus();
});
begin();
