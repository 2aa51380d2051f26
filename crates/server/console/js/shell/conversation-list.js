// The list of conversations: open, new, export, delete.

import { h, button, fill, prose, text } from "../ui/dom.js";
import { icon } from "../ui/icons.js";
import { api } from "../api/client.js";
import { announce } from "../ui/live-region.js";
import { whenBack } from "../api/reconnect.js";
import { confirm } from "../ui/dialog.js";
import { ago, exact } from "../ui/format.js";

/**
 * @param {{refreshed: () => void, removed: (id: string) => void}} on
 */
export function conversationList(on) {
  const list = h("ul", { class: "conversations" });
  const state = h("p", { class: "list-state quiet" });
  const node = h(
    "nav",
    { class: "conversation-nav", "aria-labelledby": "conversations-title" },
    h("h2", { id: "conversations-title" }, "Conversations"),
    state,
    list,
  );
  let here = null;
  /** Whether a turn runs in the open one: its page knows before the list does. */
  let runs = false;
  let known = [];

  const draw = () => {
    state.hidden = known.length > 0;
    state.textContent = "Nothing yet. What you ask is kept here.";
    // Redrawing must not take the focus away from whoever is in the list.
    const focused = list.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    fill(list, known.map(line));
    if (focused) list.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  };

  const line = (it) => {
    const title = it.title || "Untitled";
    const running = it.id === here ? runs : it.running;
    const name = h("span", { class: "conversation-title" }, prose(title));
    const when = h("time", { class: "quiet", title: exact(it.updated) }, running ? "running" : ago(it.updated));
    const open = h(
      "a",
      { href: `#/c/${encodeURIComponent(it.id)}`, "aria-current": it.id === here ? "page" : null, "data-key": it.id },
      name,
      when,
    );
    const save = button(`Export ${title}`, {
      icon: icon("export"),
      hidden: true,
      small: true,
      "data-key": `export ${it.id}`,
      on: { click: () => download(it.id) },
    });
    const drop = button(`Delete ${title}`, {
      icon: icon("trash"),
      hidden: true,
      small: true,
      "data-key": `delete ${it.id}`,
      on: { click: () => remove(it, title) },
    });
    return h("li", { "data-running": running ? "yes" : null }, open, h("span", { class: "row-buttons" }, save, drop));
  };

  const remove = async (it, title) => {
    const sure = await confirm(
      "Delete this conversation?",
      h("p", {}, prose(`“${title}” and all its calls will be gone. This cannot be undone.`)),
      "Delete",
    );
    if (!sure) return;
    try {
      await api.remove(it.id);
      known = known.filter((other) => other.id !== it.id);
      draw();
      announce("Conversation deleted", { show: true });
      on.removed(it.id);
    } catch (error) {
      announce(error.message, { urgent: true, show: true });
    }
  };

  return {
    node,
    async refresh() {
      try {
        known = await api.conversations();
        draw();
        on.refreshed();
      } catch (error) {
        if (!known.length) {
          state.hidden = false;
          text(state, error.message);
          if (error.kind === "offline") whenBack().then(() => this.refresh());
        }
      }
    },
    /** Marks the one that is open. */
    at(id) {
      here = id;
      draw();
    },
    run(running) {
      if (running === runs) return;
      runs = running;
      draw();
    },
    titleOf: (id) => known.find((it) => it.id === id)?.title,
  };
}

/** Saves a conversation as a file. */
export async function download(id) {
  try {
    const address = URL.createObjectURL(await api.export(id));
    h("a", { href: address, download: `${id}.jsonl` }).click();
    URL.revokeObjectURL(address);
    announce("Conversation exported", { show: true });
  } catch (error) {
    announce(error.message, { urgent: true, show: true });
  }
}
