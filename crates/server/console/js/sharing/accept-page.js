// The page behind a link: accepts it, and opens the conversation.

import { h, button, emptyState, setChildren } from "../ui/dom.js";
import { api } from "../net/api-client.js";

/** @param {any} app */
export function acceptPage(app) {
  const node = h("div", { class: "page" });
  return {
    node,
    /** @param {string} token */
    show(token) {
      const accept = async () => {
        try {
          const { id } = await api.acceptShare(token);
          await app.refreshConversations();
          // The token is a secret: it does not stay in the history.
          location.replace(`#/c/${encodeURIComponent(id)}`);
        } catch ({ status, message }) {
          const reason = status === 404 ? "It has ended, or it is incomplete. Ask its owner for another one." : message;
          setChildren(node, h("div", { role: "alert" }, emptyState("This link does not work", h("p", {}, reason))));
        }
      };
      const text = "Its owner sees that you have accepted the link.";
      const open = button("Open it", { kind: "primary", on: { click: accept } });
      setChildren(node, emptyState("A conversation is shared with you", h("p", {}, text), open));
    },
  };
}
