// The page of admins: the conversations of all owners, to read, and the record of such accesses.

import { h, emptyState, lazyDetails, proseNodes, setChildren } from "../ui/dom.js";
import { api } from "../net/api-client.js";
import { dateTime } from "../ui/format.js";
import { accessList } from "./access-list.js";

export function adminPage() {
  const list = h("div", {});
  const node = h("div", { class: "page" }, list);
  return {
    node,
    async show() {
      setChildren(list, h("p", { class: "quiet" }, "Loading…"));
      try {
        const conversations = await api.allConversations();
        const items = conversations.map(({ id, title, owner, updated }) => {
          const link = h("a", { href: `#/c/${encodeURIComponent(id)}` }, proseNodes(title || "Untitled"));
          return h("tr", {}, h("td", {}, link), h("td", {}, proseNodes(owner ?? "Operator")), h("td", {}, dateTime(updated)));
        });
        const head = h("tr", {}, ["Conversation", "Owner", "Last change"].map((name) => h("th", { scope: "col" }, name)));
        const table = h("table", { class: "listing" }, h("thead", {}, head), h("tbody", {}, items));
        const note = "What you open here is read-only, and each access is recorded. The owner sees the record, too.";
        setChildren(
          list,
          h("p", { class: "quiet" }, note),
          items.length ? table : emptyState("No conversations"),
          lazyDetails("", "Recorded accesses", accessList),
        );
      } catch (error) {
        setChildren(list, h("p", { class: "error" }, error.message));
      }
    },
  };
}
