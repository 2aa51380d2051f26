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
} from "../state/conversation.js";
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
  const messageQueue = createMessageQueue();
  const scrollArea = createScrollArea(h("div", { class: "transcript-inner" }, placeholder, turns, messageQueue.node));
  const composer = createComposer({ send: sendMessage, stop: () => api.stop(id) });
  const details = createDetailsPanel(
    loadProviderItems,
    () => [column, document.querySelector(".top")],
    scrollArea.keepPosition,
  );
  const column = h("div", { class: "chat-column" }, banner, scrollArea.node, composer.node);
  const node = h("div", { class: "chat" }, column, details.node);
  const actions = { specOf: app.specOf, decide, details: (turn) => details.open(turn) };

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

  /** Draws at most once per frame. */
  const scheduleDraw = () => {
    if (isDrawScheduled) return;
    isDrawScheduled = true;
    requestAnimationFrame(() => {
      isDrawScheduled = false;
      draw();
    });
  };

  const draw = () => {
    const last = conversation.turns.length - 1;
    conversation.turns.forEach((turn, index) => {
      if (!views[index]) {
        views[index] = turnView(actions);
        turns.append(views[index].node);
      }
      views[index].update(turn, conversation.running && index === last);
    });
    for (const removed of views.splice(last + 1)) removed.node.remove();
    turns.setAttribute("aria-busy", String(conversation.running));
    app.setRunning(conversation.running);
    composer.setState({ running: conversation.running, waiting: isAwaitingApproval(conversation) });
    details.update();
    scrollArea.followEnd();
  };

  /** Replaces the state with a snapshot of the server; returns the sequence number of its last event. */
  const applySnapshot = (snapshot) => {
    const previous = conversation;
    conversation = keepRequests(fromEntries(snapshot.entries ?? []), previous);
    details.replaceTurn(conversation.turns[previous.turns.indexOf(details.turn())]);
    conversation.running = snapshot.running;
    for (const approval of snapshot.pending ?? []) addPendingApproval(conversation, approval);
    const { text, reasoning } = snapshot.partial ?? {};
    if (reasoning) applyEvent(conversation, { type: "reasoning", delta: reasoning }, Date.now());
    if (text) applyEvent(conversation, { type: "text", delta: text }, Date.now());
    messageQueue.applySnapshot(snapshot.queued ?? []);
    setChildren(placeholder);
    setExists(isNew || conversation.running || conversation.turns.length > 0 || messageQueue.size() > 0);
    if (!conversation.running) restoreLostMessages();
    isNew = false;
    scheduleDraw();
    return snapshot.seq;
  };

  /** Shows whether the conversation exists. If it does not, the first message starts a new one. */
  const setExists = (exists) => {
    if (!exists) setChildren(placeholder, missingConversation());
    if (isMissing === !exists) return;
    isMissing = !exists;
    app.updateHeader();
  };

  /** Puts queued messages that a restarted server has lost back into the input field. */
  const restoreLostMessages = () => {
    const lost = messageQueue.takeLost();
    if (!lost.length) return;
    composer.insertText(lost.join("\n"));
    announce("The server restarted before it began with your message, which is in the input field again", {
      urgent: true,
      show: true,
    });
  };

  const onEvent = ({ at, event }) => {
    // The server no longer has the missed events and sends a snapshot instead.
    if (event.type === "snapshot") return void applySnapshot(event);
    if (event.type === "said") {
      setChildren(placeholder);
      setExists(true);
    }
    messageQueue.applyEvent(event);
    const turn = applyEvent(conversation, event, at);
    announceEvent(event, turn);
    if (event.type === "ended" || event.type === "error") adoptJournalTimes(turn);
    if (!conversation.running) restoreLostMessages();
    if (event.type === "said" || event.type === "ended") app.refreshConversations();
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
    if (type === "asked")
      announce(`${name(event.call.name)} needs your decision. Press A to go there.`, { urgent: true });
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
    if (error.status === 404) setExists(false);
    else setChildren(placeholder, notice("This did not work", error.message));
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
      const loadSnapshot = async (signal) => applySnapshot(await api.conversation(conversationId, signal));
      subscription = followConversation(conversationId, { loadSnapshot, onEvent, onState });
    });
  }

  function closeConversation() {
    rejectOpening();
    subscription?.stop();
    subscription = null;
    details.close();
    views.forEach((view) => view.node.remove());
    views = [];
    conversation = emptyConversation();
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
      const { queued } = await api.send(id, body);
      if (queued) {
        message.show();
        announce("It will be said when the turn before it is over", { show: true });
      } else message.remove();
    } catch (error) {
      message.remove();
      throw error;
    }
    scrollArea.scrollToEnd();
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
      copyTimes(turn, fromEntries((await api.conversation(id)).entries).turns);
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
      const stored = fromEntries((await api.conversation(id)).entries);
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
