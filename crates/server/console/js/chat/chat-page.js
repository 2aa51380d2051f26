// The chat page: subscribes to a conversation, draws it, and sends messages and approval decisions.

import { h, button, emptyState, setChildren } from "../ui/dom.js";
import { api } from "../net/api-client.js";
import { announce, textAnnouncer } from "../ui/live-region.js";
import { createComposer } from "./composer.js";
import { plainText } from "../ui/content-view.js";
import {
  addPendingApproval,
  applyEvent,
  emptyConversation,
  isAwaitingApproval,
  modelSteps,
  pendingApprovals,
} from "../state/conversation.js";
import { endOf, versionsOf } from "../state/branches.js";
import { copyTimes, fromEntries, keepRequests } from "../state/journal.js";
import { followConversation } from "../net/event-stream.js";
import { createDetailsPanel } from "../details/details-panel.js";
import { createMessageQueue } from "./message-queue.js";
import { createScrollArea } from "./scroll-area.js";
import { turnView } from "./turn-view.js";
import { welcome } from "./welcome.js";

/**
 * @param {any} app the state and actions that the pages share, see `main.js`
 */
export function chatPage(app) {
  const turns = h("div", { class: "turns" });
  const placeholder = h("div", { class: "chat-placeholder" });
  const banner = h("div", { class: "banner", role: "status" });
  const messageQueue = createMessageQueue(withdraw);
  const scrollArea = createScrollArea(h("div", { class: "transcript-inner" }, placeholder, turns, messageQueue.node));
  const composer = createComposer({ send: sendMessage, stop: () => api.stop(id) });
  const details = createDetailsPanel(
    loadProviderItems,
    () => [column, document.querySelector(".top")],
    scrollArea.keepPosition,
  );
  const column = h("div", { class: "chat-column" }, banner, scrollArea.node, composer.node);
  const node = h("div", { class: "chat" }, column, details.node);
  const actions = {
    specOf: app.specOf,
    mayWrite: () => mayWrite(),
    mayApprove,
    decide,
    details: (turn) => details.open(turn),
    edit: (turn) => composer.edit(plainText(turn.message), turn.after),
    askAgain: (turn) => composer.sendText(plainText(turn.message), turn.after),
    showVersion,
  };

  let id = null;
  let conversation = emptyConversation();
  let views = [];
  let subscription = null;
  let rejectOpening = () => {};
  let isDrawScheduled = false;
  /** True while a new conversation is opened for its first message: the server does not know it yet. */
  let isNew = false;
  let isShown = false;
  /** True if the conversation of the URL does not exist. */
  let isMissing = false;
  let announcer = textAnnouncer();
  /** The id of the last entry of the branch that is shown; null if that is the newest one. */
  let branchEnd = null;
  /** The id of the entry after which the next message continues; null for the newest. */
  let continueAfter = null;
  /** What this person may do: `owner`, `participate`, `read` or `admin`. */
  let access = "owner";
  /** The names of the people who are connected. */
  let participants = [];
  /** The element that keeps its position when another branch is drawn. */
  let anchor = null;

  /** Draws at most once per frame. */
  const scheduleDraw = () => {
    if (isDrawScheduled) return;
    isDrawScheduled = true;
    requestAnimationFrame(() => {
      isDrawScheduled = false;
      if (anchor) scrollArea.keepPosition(draw, anchor);
      else draw();
      anchor = null;
    });
  };

  const draw = () => {
    const last = conversation.turns.length - 1;
    const isWaiting = isAwaitingApproval(conversation);
    conversation.turns.forEach((turn, index) => {
      if (!views[index]) {
        views[index] = turnView(actions);
        turns.append(views[index].node);
      }
      views[index].update(turn, conversation.running && index === last);
      const versions = versionsOf(conversation.branches, turn);
      views[index].updateVersions(turn, versions, conversation.running || isWaiting);
    });
    for (const removed of views.splice(last + 1)) removed.node.remove();
    turns.setAttribute("aria-busy", String(conversation.running));
    app.setRunning(conversation.running);
    const isOwnDecision = pendingApprovals(conversation).some(({ approvers }) => mayApprove(approvers));
    composer.setState({ running: conversation.running, waiting: isWaiting, isOwnDecision });
    details.update();
    scrollArea.followEnd();
  };

  /** Replaces the state with a snapshot of the server; returns the sequence number of its last event. */
  const applySnapshot = (snapshot) => {
    const previous = conversation;
    conversation = keepRequests(fromEntries(snapshot.entries ?? []), previous);
    details.replaceTurn(conversation.turns[previous.turns.indexOf(details.turn())]);
    conversation.running = snapshot.running;
    setAccess(snapshot.access ?? access);
    setParticipants(snapshot.participants ?? []);
    conversation.branches = snapshot.branches ?? [];
    for (const approval of snapshot.pending ?? []) addPendingApproval(conversation, approval);
    const { text, reasoning } = snapshot.partial ?? {};
    if (reasoning) applyEvent(conversation, { type: "reasoning", delta: reasoning }, Date.now());
    if (text) applyEvent(conversation, { type: "text", delta: text }, Date.now());
    messageQueue.applySnapshot(snapshot.queued ?? [], snapshot.queued_positions ?? []);
    setChildren(placeholder);
    setExists(isNew || conversation.running || conversation.turns.length > 0 || messageQueue.size() > 0);
    isNew = false;
    scheduleDraw();
    return snapshot.seq;
  };

  const mayWrite = () => access !== "read" && access !== "admin";

  /** Who may only read has nothing to write with. */
  const setAccess = (newAccess) => {
    access = newAccess;
    composer.node.hidden = !mayWrite();
  };

  const setParticipants = (names) => {
    participants = names;
    app.updateHeader();
  };

  /** Shows whether the conversation exists. If it does not, the first message starts a new one. */
  const setExists = (exists) => {
    if (!exists) setChildren(placeholder, missingConversation());
    if (isMissing === !exists) return;
    isMissing = !exists;
    app.updateHeader();
  };

  /** Returns true if this person may decide about a call; without approvers that is who has asked. */
  function mayApprove(approvers) {
    return mayWrite() && (!approvers || app.mayApprove(approvers));
  }

  /** Shows the branch that ends with an entry, or the newest one if it is null. */
  const showBranch = (end) => {
    branchEnd = continueAfter = end;
    subscription.reload();
  };

  function showVersion(turn, branch) {
    anchor = views[conversation.turns.indexOf(turn)].node;
    const { versions } = versionsOf(conversation.branches, turn);
    announce(`Version ${versions.indexOf(branch) + 1} of ${versions.length}`);
    showBranch(endOf(conversation.branches, branch));
  }

  /** Returns true if an event continues the branch that is shown. */
  const isShownBranch = ({ type, after }) => {
    if (type !== "said" || after === undefined) return branchEnd === null || type === "goodbye";
    const last = conversation.turns.at(-1);
    return after === (last ? last.last : "");
  };

  const onEvent = ({ at, event }) => {
    // The server no longer has the missed events and sends a snapshot instead.
    if (event.type === "snapshot") {
      branchEnd = continueAfter = null;
      return void applySnapshot(event);
    }
    if (event.type === "withdrawn") return messageQueue.remove(event.position);
    if (event.type === "peers") return setParticipants(event.participants ?? []);
    if (!isShownBranch(event)) return showBranch(null);
    if (event.type === "said") {
      branchEnd = null;
      setChildren(placeholder);
      setExists(true);
    }
    messageQueue.applyEvent(event);
    const turn = applyEvent(conversation, event, at);
    announceEvent(event, turn);
    if (event.type === "ended" || event.type === "error") adoptJournalTimes(turn);
    if (["said", "paused", "ended"].includes(event.type)) app.refreshConversations();
    scheduleDraw();
  };

  const announceEvent = (event, turn) => {
    const { type } = event;
    if (type === "said") announcer = textAnnouncer();
    if (type === "text") announcer.update(turn.steps.at(-1).parts.at(-1).text);
    if (type === "step") {
      announcer.finish();
      announcer = textAnnouncer();
    }
    const name = (tool) => app.specOf(tool)?.title ?? tool;
    if (type === "running") announce(`Running ${name(event.tool)}`);
    if (type === "asked") {
      const isOwn = mayApprove(event.approvers);
      const text = isOwn ? "needs your decision. Press A to go there." : "waits for the decision of others.";
      announce(`${name(event.call.name)} ${text}`, { urgent: isOwn });
    }
    if (type === "result" && event.result.isError) announce(`${name(event.result.tool)} failed`);
    if (type === "error") announce(event.message, { urgent: true });
  };

  const onConnectionState = (connectionState, error) => {
    if (connectionState === "open") return void setChildren(banner);
    if (connectionState === "connecting") return void (views.length || setChildren(placeholder, skeleton()));
    if (connectionState === "lost") {
      const retryButton = button("Try now", { small: true, on: { click: () => subscription.retry() } });
      if (placeholder.querySelector(".skeleton")) setChildren(placeholder);
      return void setChildren(
        banner,
        h("span", { class: "pulse" }),
        "The connection is lost. Reconnecting…",
        retryButton,
      );
    }
    setChildren(banner);
    // The session has ended: the page that loads asks who it is.
    if (error.status === 401) return location.reload();
    if (error.status === 404) showEnded();
    else setChildren(placeholder, notice("This did not work", error.message));
  };

  /** The person may not see the conversation any more: what was shown of it disappears, and it leaves the list. */
  const showEnded = () => {
    views.forEach((view) => view.node.remove());
    views = [];
    conversation = emptyConversation();
    messageQueue.clear();
    details.close();
    setAccess("read");
    setParticipants([]);
    app.setRunning(false);
    setExists(false);
    app.refreshConversations();
  };

  const missingConversation = () =>
    notice("There is no such conversation", "It was deleted, belongs to another person, or the link is incomplete.");

  /** Resolves when the connection is open; rejects if the first attempt fails or another conversation is opened. */
  function openConversation(conversationId) {
    closeConversation();
    id = conversationId;
    return new Promise((resolve, reject) => {
      rejectOpening = () => reject(new Error("Nothing was sent: another conversation was opened."));
      const onState = (connectionState, error) => {
        onConnectionState(connectionState, error);
        if (connectionState === "open") resolve();
        else if (connectionState !== "connecting") reject(error);
      };
      const loadSnapshot = async (signal) => applySnapshot(await api.conversation(conversationId, branchEnd, signal));
      subscription = followConversation(conversationId, { loadSnapshot, onEvent, onState });
    });
  }

  function closeConversation() {
    rejectOpening();
    subscription?.stop();
    subscription = null;
    details.close();
    composer.cancelEdit();
    branchEnd = continueAfter = anchor = null;
    views.forEach((view) => view.node.remove());
    views = [];
    conversation = emptyConversation();
    setAccess("owner");
    participants = [];
    messageQueue.clear();
    isMissing = false;
    announcer = textAnnouncer();
    setChildren(banner);
    setChildren(placeholder);
    scrollArea.scrollToEnd();
  }

  async function sendMessage(body, parts) {
    if (id === null || isMissing) await startConversation();
    const message = messageQueue.add(parts);
    try {
      const after = body.after ?? continueAfter ?? undefined;
      const { queued, position } = await api.send(id, { ...body, after });
      continueAfter = null;
      if (queued) {
        message.show(position);
        announce("It is sent when the answer above is complete", { show: true });
      } else message.remove();
    } catch (error) {
      message.remove();
      throw error;
    }
    scrollArea.scrollToEnd();
  }

  /** Withdraws a queued message and returns its text to the input field. */
  async function withdraw(position, text) {
    const conversationId = id;
    try {
      await api.withdraw(id, position);
    } catch (error) {
      const message = error.status === 404 ? "Its turn has begun: it cannot be withdrawn" : error.message;
      return announce(message, { urgent: true, show: true });
    }
    if (id !== conversationId) return;
    messageQueue.remove(position);
    composer.restoreText(text);
    announce("Message withdrawn", { show: true });
  }

  /** Opens a new conversation before its first message is sent, so that no event is missed. */
  async function startConversation() {
    isNew = true;
    const newConversationId = newId();
    try {
      await openConversation(newConversationId);
    } catch (error) {
      if (id === newConversationId) show(null);
      throw error;
    }
    app.navigate(`#/c/${encodeURIComponent(id)}`);
  }

  async function decide(call, decision) {
    await api.decide(id, { call: call.id, token: call.approval.token, ...decision });
  }

  /** Replaces a turn's times by those of the journal; its footer is hidden meanwhile. */
  async function adoptJournalTimes(turn) {
    turn.isSettling = true;
    try {
      const { entries, branches = [] } = await api.conversation(id, branchEnd);
      copyTimes(turn, fromEntries(entries).turns);
      conversation.branches = branches;
    } catch {
      // Until the next reload, the times of the events are displayed.
    }
    turn.isSettling = false;
    turn.version += 1;
    scheduleDraw();
  }

  /** Loads the provider's response items of each step, which only the journal contains. */
  async function loadProviderItems(turn) {
    if (modelSteps(turn).every((step) => step.providerItems.length || step.endedAt === null)) return;
    try {
      const stored = fromEntries((await api.conversation(id, branchEnd)).entries);
      const storedTurn = stored.turns[conversation.turns.indexOf(turn)];
      const steps = storedTurn ? modelSteps(storedTurn) : [];
      modelSteps(turn).forEach(
        (step, index) => (step.providerItems = steps[index]?.providerItems ?? step.providerItems),
      );
    } catch {
      // The panel then displays the streamed response.
    }
  }

  function show(conversationId) {
    if (conversationId === id && isShown) return scrollArea.restore();
    isShown = true;
    // The connection state displays errors.
    if (conversationId) return void openConversation(conversationId).catch(() => {});
    closeConversation();
    id = null;
    setChildren(placeholder, welcome(app, composer.sendText));
    composer.setState({ running: false, waiting: false });
    composer.autofocus();
  }

  return {
    node,
    composer,
    show,
    isMissing: () => isMissing,
    mayWrite,
    participants: () => participants,
    branchEnd: () => branchEnd,
    firstLine: () => plainText(conversation.turns[0]?.message).split("\n", 1)[0],
    /** Focuses the first pending approval. */
    focusApproval() {
      turns.querySelector(".approval button")?.focus();
    },
    toggleDetails() {
      if (details.isOpen()) return details.close();
      const last = conversation.turns.at(-1);
      if (last) details.open(last);
    },
  };
}

function notice(title, text) {
  return emptyState(title, h("p", {}, text), h("p", {}, h("a", { class: "button", href: "#/" }, "Start a new one")));
}

function skeleton() {
  return h(
    "div",
    { class: "skeleton", role: "status" },
    h("span", { class: "visually-hidden" }, "Loading the conversation"),
    h("i"),
    h("i"),
    h("i"),
  );
}

function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(9));
  return `web-${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
