// The list of conversations in the sidebar: open, export, delete.

import { h, button, setChildren, proseNodes, setText } from "../ui/dom.js";
import { icon } from "../ui/icons.js";
import { api } from "../net/api-client.js";
import { announce } from "../ui/live-region.js";
import { waitForServer } from "../net/reconnect.js";
import { confirm } from "../ui/dialog.js";
import { dateTime, relativeTime } from "../ui/format.js";

/** @param {{onRefreshed: () => void, onRemoved: (id: string) => void}} handlers */
export function conversationList({ onRefreshed, onRemoved }) {
  const list = h("ul", { class: "conversations" });
  const status = h("p", { class: "list-status quiet" });
  const node = h(
    "nav",
    { class: "conversation-nav", "aria-labelledby": "conversations-title" },
    h("h2", { id: "conversations-title" }, "Conversations"),
    status,
    list,
  );
  let openId = null;
  /** True if a turn runs in the open conversation; its page knows that before the server's list does. */
  let isOpenRunning = false;
  let conversations = [];

  const draw = () => {
    status.hidden = conversations.length > 0;
    status.textContent = "Nothing yet. What you ask is kept here.";
    // The focus is restored after the list is redrawn.
    const focused = list.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    setChildren(list, conversations.map(listItem));
    if (focused) list.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  };

  const listItem = (conversation) => {
    const title = conversation.title || "Untitled";
    const { id, updated } = conversation;
    const running = id === openId ? isOpenRunning : conversation.running;
    const name = h("span", { class: "conversation-title" }, proseNodes(title));
    const time = h("time", { class: "quiet", title: dateTime(updated) }, running ? "running" : relativeTime(updated));
    const openLink = h(
      "a",
      { href: `#/c/${encodeURIComponent(id)}`, "aria-current": id === openId ? "page" : null, "data-key": id },
      name,
      time,
    );
    const rowButton = (action, iconName, click) =>
      button(`${action} ${title}`, {
        icon: icon(iconName),
        iconOnly: true,
        small: true,
        "data-key": `${action} ${id}`,
        on: { click },
      });
    const exportButton = rowButton("Export", "export", () => exportConversation(id));
    const deleteButton = rowButton("Delete", "trash", () => remove(id, title));
    return h(
      "li",
      { "data-running": running ? "yes" : null },
      openLink,
      h("span", { class: "row-buttons" }, exportButton, deleteButton),
    );
  };

  const remove = async (id, title) => {
    const isConfirmed = await confirm(
      "Delete this conversation?",
      h("p", {}, proseNodes(`“${title}” and all its calls will be gone. This cannot be undone.`)),
      "Delete",
    );
    if (!isConfirmed) return;
    try {
      await api.remove(id);
      conversations = conversations.filter((other) => other.id !== id);
      draw();
      announce("Conversation deleted", { show: true });
      onRemoved(id);
    } catch (error) {
      announce(error.message, { urgent: true, show: true });
    }
  };

  return {
    node,
    async refresh() {
      try {
        conversations = await api.conversations();
        draw();
        onRefreshed();
      } catch (error) {
        if (!conversations.length) {
          status.hidden = false;
          setText(status, error.message);
          if (error.kind === "offline") waitForServer().then(() => this.refresh());
        }
      }
    },
    /** Highlights the open conversation. */
    setOpen(id) {
      openId = id;
      draw();
    },
    setRunning(running) {
      if (running === isOpenRunning) return;
      isOpenRunning = running;
      draw();
    },
    titleOf: (id) => conversations.find((conversation) => conversation.id === id)?.title,
  };
}

/** Downloads a conversation as a file: the path to the entry `at`, or to the newest one if it is null. */
export async function exportConversation(id, at = null) {
  try {
    const url = URL.createObjectURL(await api.export(id, at));
    h("a", { href: url, download: `${id}.jsonl` }).click();
    URL.revokeObjectURL(url);
    announce("Conversation exported", { show: true });
  } catch (error) {
    announce(error.message, { urgent: true, show: true });
  }
}
