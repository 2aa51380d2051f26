// The list of conversations in the sidebar: open, export, rename, share, delete; those of others can be left.

import { h, button, setChildren, proseNodes, setText } from "../ui/dom.js";
import { icon } from "../ui/icons.js";
import { api } from "../net/api-client.js";
import { announce } from "../ui/live-region.js";
import { waitForServer } from "../net/reconnect.js";
import { confirm } from "../ui/dialog.js";
import { renameDialog } from "./rename-dialog.js";
import { shareDialog } from "../sharing/share-dialog.js";
import { dateTime, relativeTime } from "../ui/format.js";

/**
 * @param {{onRefreshed: () => void, onRemoved: (id: string) => void, hasPeople: () => boolean}} handlers `hasPeople`
 *   returns true if people sign in to the server, so that there are others to share with
 */
export function conversationList({ onRefreshed, onRemoved, hasPeople }) {
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
    const isOwn = conversation.access === "owner";
    const origin = isOwn ? conversation.shared && "Shared" : `Shared by ${conversation.owner ?? "the operator"}`;
    const name = h("span", { class: "conversation-title" }, proseNodes(title));
    const time = h("time", { class: "quiet", title: dateTime(updated) }, running ? "running" : relativeTime(updated));
    const openLink = h(
      "a",
      { href: `#/c/${encodeURIComponent(id)}`, "aria-current": id === openId ? "page" : null, "data-key": id },
      name,
      origin ? h("span", { class: "tag", title: origin }, isOwn ? "shared" : (conversation.owner ?? "operator")) : null,
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
    const ownButtons = () => [
      rowButton("Rename", "edit", () => renameDialog(id, title, refresh)),
      hasPeople() ? rowButton("Share", "share", () => shareDialog(id, refresh)) : null,
      rowButton("Delete", "trash", () => remove(id, title)),
    ];
    const leaveButton = () => rowButton("Leave", "close", () => leave(id, title));
    return h(
      "li",
      { "data-running": running ? "yes" : null },
      openLink,
      h("span", { class: "row-buttons" }, exportButton, isOwn ? ownButtons() : leaveButton()),
    );
  };

  const leave = async (id, title) => {
    const text = `“${title}” disappears from this list. The link lets you in again while it is valid.`;
    if (!(await confirm("Leave this conversation?", h("p", {}, proseNodes(text)), "Leave"))) return;
    try {
      await api.leaveShare(id.replace(/^@~/, ""));
      await refresh();
      onRemoved(id);
    } catch (error) {
      announce(error.message, { urgent: true, show: true });
    }
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

  const refresh = async () => {
    try {
      conversations = await api.conversations();
      draw();
      onRefreshed();
    } catch (error) {
      if (!conversations.length) {
        status.hidden = false;
        setText(status, error.message);
        if (error.kind === "offline") waitForServer().then(refresh);
      }
    }
  };

  return {
    node,
    refresh,
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
