// The chat: opens a conversation, follows what happens in it, takes what a person writes and decides.

import { h, button, fill } from "../ui/dom.js";
import { api } from "../api/client.js";
import { announce, reader } from "../ui/live-region.js";
import { composer } from "./composer.js";
import { plain } from "../ui/content-view.js";
import { apply, empty, pend, taken, waits } from "../state/conversation.js";
import { adopt, fromEntries, keepSent } from "../state/journal.js";
import { follow } from "../api/event-stream.js";
import { panel } from "../details/details-panel.js";
import { queue } from "./message-queue.js";
import { scroller } from "./scroll-area.js";
import { turnView } from "./turn-view.js";
import { welcome } from "./welcome.js";

/**
 * @param {any} app what the pages share: `info`, `tools`, `specOf`, `go`, `changed`, `runs`, `retitle`
 */
export function chatPage(app) {
  const turns = h("div", { class: "turns" });
  const state = h("div", { class: "chat-state" });
  const banner = h("div", { class: "banner", role: "status" });
  const waiting = queue();
  const scroll = scroller(h("div", { class: "transcript-inner" }, state, turns, waiting.node));
  const write = composer({ send, stop: () => api.stop(id) });
  const side = panel(complete, () => [column, document.querySelector(".top")], scroll.hold);
  const column = h("div", { class: "chat-column" }, banner, scroll.node, write.node);
  const node = h("div", { class: "chat" }, column, side.node);
  const desk = { specOf: app.specOf, decide, details: (turn) => side.open(turn) };

  let id = null;
  let conversation = empty();
  let views = [];
  let following = null;
  let abandon = () => {};
  let planned = false;
  /** Whether a conversation is opened to say something in it: nobody has to be welcomed. */
  let fresh = false;
  let shown = false;
  /** Whether the conversation of the address does not exist. */
  let unknown = false;
  let voice = reader();

  /** Draws what changed, once per frame however much streams in. */
  const plan = () => {
    if (planned) return;
    planned = true;
    requestAnimationFrame(() => {
      planned = false;
      draw();
    });
  };

  const draw = () => {
    const last = conversation.turns.length - 1;
    conversation.turns.forEach((turn, index) => {
      if (!views[index]) {
        views[index] = turnView(desk);
        turns.append(views[index].node);
      }
      views[index].update(turn, conversation.running && index === last);
    });
    for (const gone of views.splice(last + 1)) gone.node.remove();
    turns.setAttribute("aria-busy", String(conversation.running));
    app.runs(conversation.running);
    write.state({ running: conversation.running, waiting: waits(conversation) });
    side.update();
    scroll.settle();
  };

  /** Takes a conversation as the server has it. */
  const take = (snapshot) => {
    const before = conversation;
    conversation = keepSent(fromEntries(snapshot.entries ?? []), before);
    side.swap(conversation.turns[before.turns.indexOf(side.turn())]);
    conversation.running = snapshot.running;
    for (const asked of snapshot.pending ?? []) pend(conversation, asked);
    const { text, reasoning } = snapshot.partial ?? {};
    if (reasoning) apply(conversation, { type: "reasoning", delta: reasoning }, Date.now());
    if (text) apply(conversation, { type: "text", delta: text }, Date.now());
    waiting.take(snapshot.queued ?? []);
    fill(state);
    exists(fresh || conversation.running || conversation.turns.length > 0 || waiting.size() > 0);
    if (!conversation.running) giveBack();
    fresh = false;
    plan();
    return snapshot.seq;
  };

  /** Shows whether the conversation exists; in one that does not, the first message begins a new one. */
  const exists = (whether) => {
    if (!whether) fill(state, missing());
    if (unknown === !whether) return;
    unknown = !whether;
    app.retitle();
  };

  /** Queued messages that a restarted server no longer has go back to the input field. */
  const giveBack = () => {
    const lost = waiting.lost();
    if (!lost.length) return;
    write.insert(lost.join("\n"));
    announce("The server restarted before it began with your message, which is in the input field again", { urgent: true, show: true });
  };

  const hear = ({ at, event }) => {
    // What was missed is not to be had any more: the whole comes instead.
    if (event.type === "snapshot") return void take(event);
    if (event.type === "said") {
      fill(state);
      exists(true);
    }
    waiting.hear(event);
    const turn = apply(conversation, event, at);
    speak(event, turn);
    if (event.type === "ended" || event.type === "error") settle(turn);
    if (!conversation.running) giveBack();
    if (event.type === "said" || event.type === "ended") app.changed();
    plan();
  };

  const speak = (event, turn) => {
    const { type } = event;
    if (type === "said") voice = reader();
    if (type === "text") voice.grow(turn.steps.at(-1).parts.at(-1).text);
    if (type === "step") {
      voice.end();
      voice = reader();
    }
    const name = (tool) => app.specOf(tool)?.title ?? tool;
    if (type === "running") announce(`Running ${name(event.tool)}`);
    if (type === "asked")
      announce(`${name(event.call.name)} needs your decision. Press A to go there.`, { urgent: true });
    if (type === "result" && event.result.isError) announce(`${name(event.result.tool)} failed`);
    if (type === "error") announce(event.message, { urgent: true });
  };

  const connection = (how, error) => {
    if (how === "open") return void fill(banner);
    if (how === "connecting") return void (views.length || fill(state, skeleton()));
    if (how === "lost") {
      const now = button("Try now", { small: true, on: { click: () => following.retry() } });
      if (state.querySelector(".skeleton")) fill(state);
      return void fill(banner, h("span", { class: "pulse" }), "The connection is lost. Reconnecting…", now);
    }
    fill(banner);
    if (error.status === 404) exists(false);
    else fill(state, nothing("This did not work", error.message));
  };

  const missing = () =>
    nothing("There is no such conversation", "It was deleted, belongs to another person, or the link is incomplete.");

  /** Settles when the connection stands, cannot be made at first, or is not wanted any more. */
  function open(wanted) {
    leave();
    id = wanted;
    return new Promise((resolve, reject) => {
      abandon = () => reject(new Error("Nothing was sent: another conversation was opened."));
      const state = (how, error) => {
        connection(how, error);
        if (how === "open") resolve();
        else if (how !== "connecting") reject(error);
      };
      const begin = async (signal) => take(await api.conversation(wanted, signal));
      following = follow(wanted, { begin, event: hear, state });
    });
  }

  function leave() {
    abandon();
    following?.stop();
    following = null;
    side.shut();
    views.forEach((view) => view.node.remove());
    views = [];
    conversation = empty();
    waiting.clear();
    unknown = false;
    voice = reader();
    fill(banner);
    fill(state);
    scroll.toEnd();
  }

  async function send(body, parts) {
    if (id === null || unknown) await begin();
    const message = waiting.add(parts);
    try {
      const { queued } = await api.prompt(id, body);
      if (queued) message.show();
      else message.drop();
      if (queued) announce("It will be said when the turn before it is over", { show: true });
    } catch (error) {
      message.drop();
      throw error;
    }
    scroll.toEnd();
  }

  /** Opens a new conversation before anything is said in it, so that nothing of it is missed. */
  async function begin() {
    fresh = true;
    const wanted = newId();
    try {
      await open(wanted);
    } catch (error) {
      if (id === wanted) show(null);
      throw error;
    }
    app.go(`#/c/${encodeURIComponent(id)}`);
  }

  async function decide(call, decision) {
    await api.decide(id, { call: call.id, token: call.asked.token, ...decision });
  }

  /** Shows a turn's numbers once they are those of the journal, which a reload reads. */
  async function settle(turn) {
    turn.unsettled = true;
    try {
      adopt(turn, fromEntries((await api.conversation(id)).entries).turns);
    } catch {
      // The times of the events are close enough until the page reconnects.
    }
    turn.unsettled = false;
    turn.version += 1;
    plan();
  }

  /** Brings the vendor's own words of each step, which only the journal has. */
  async function complete(turn) {
    if (taken(turn).every((step) => step.raw.length || step.endedAt === null)) return;
    try {
      const kept = fromEntries((await api.conversation(id)).entries);
      const same = kept.turns[conversation.turns.indexOf(turn)];
      taken(turn).forEach((step, index) => (step.raw = (same && taken(same)[index]?.raw) ?? step.raw));
    } catch {
      // The panel shows what is known without it.
    }
  }

  function show(wanted) {
    if (wanted === id && shown) return scroll.restore();
    shown = true;
    // What goes wrong is shown on the page.
    if (wanted) return void open(wanted).catch(() => {});
    leave();
    id = null;
    fill(
      state,
      welcome(app, (words) => write.say(words)),
    );
    write.state({ running: false, waiting: false });
    write.offerFocus();
  }

  return {
    node,
    write,
    show,
    isUnknown: () => unknown,
    firstWords: () => plain(conversation.turns[0]?.user).split("\n", 1)[0],
    /** Goes to the first call that waits. */
    toAsked() {
      turns.querySelector(".ask button")?.focus();
    },
    toggleDetails() {
      if (side.isOpen()) return side.shut();
      const last = conversation.turns.at(-1);
      if (last) side.open(last);
    },
  };
}

/** What stands where a conversation would, and a way on. */
function nothing(title, words) {
  return h(
    "div",
    { class: "nothing" },
    h("h2", {}, title),
    h("p", {}, words),
    h("p", {}, h("a", { class: "button", href: "#/" }, "Start a new one")),
  );
}

function skeleton() {
  return h(
    "div",
    { class: "skeleton", role: "status" },
    h("span", { class: "unseen" }, "Loading the conversation"),
    h("i"),
    h("i"),
    h("i"),
  );
}

function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(9));
  return `web-${[...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
