// The recorded accesses of admins: to all conversations, for an admin, else to those of this person.

import { h, proseNodes, setChildren } from "../ui/dom.js";
import { api } from "../net/api-client.js";
import { dateTime } from "../ui/format.js";

/** The accesses of admins, the latest first. */
export function accessList() {
  const list = h("ul", { class: "rows" });
  api.accesses().then(
    (records) => {
      const items = records.map(({ at, admin, action, conversation }) =>
        h("li", {}, proseNodes(`${dateTime(at)}: ${admin}, ${action} ${conversation ?? "all conversations"}`)),
      );
      setChildren(list, items.length ? items : h("li", { class: "quiet" }, "None"));
    },
    (error) => setChildren(list, h("li", { class: "error" }, error.message)),
  );
  return list;
}
