// The account of the person who has signed in: a button with their name, and a dialog with roles, sessions and the accesses of admins.

import { h, button, lazyDetails, setChildren, setText } from "../ui/dom.js";
import { icon } from "../ui/icons.js";
import { dialog } from "../ui/dialog.js";
import { dateTime, relativeTime } from "../ui/format.js";
import { MISLEADING } from "../ui/escape.js";
import { api } from "../net/api-client.js";
import { accessList } from "../sharing/access-list.js";

/** The button; hidden until a person is known. */
export function account() {
  const name = h("span", { class: "account-name" });
  const node = h(
    "button",
    { type: "button", class: "button bare account", hidden: true, "aria-haspopup": "dialog" },
    icon("person"),
    name,
  );
  let person = null;
  node.addEventListener("click", () => openDialog(person));
  return {
    node,
    /** @param {{subject: string | null, name: string | null, roles: string[], session: boolean}} me */
    show(me) {
      person = me;
      node.hidden = !me.subject;
      setText(name, displayName(me), MISLEADING);
    },
  };
}

const displayName = (me) => me.name ?? me.subject ?? "";

function openDialog(me) {
  const sessions = h("ul", { class: "sessions" }, h("li", { class: "quiet" }, "Loading…"));
  const error = h("p", { class: "error", role: "alert" });
  const show = (failure) => setText(error, failure.message);
  const load = () => api.sessions().then((list) => setChildren(sessions, list.map(row)), show);
  const row = (session) => {
    const began = h("time", { title: dateTime(session.began) }, `Begun ${relativeTime(session.began)}`);
    const ended = () => api.endSession(session.id).then(load, show);
    const end = button("End", { small: true, kind: "danger", on: { click: ended } });
    const place = session.current ? h("span", { class: "tag" }, "This browser") : end;
    return h("li", {}, h("span", {}, began, session.provider && ` with ${session.provider}`), place);
  };
  const signOut = () => api.signOut().then(leave, show);
  const buttons = me.session ? [button("Sign out", { kind: "primary", on: { click: signOut } })] : [];
  const roles = me.roles.length ? me.roles.map((role) => h("span", { class: "tag" }, role)) : h("span", {}, "None");
  dialog(
    displayName(me),
    [
      h(
        "dl",
        { class: "account-facts" },
        h("dt", {}, "Subject"),
        h("dd", {}, h("code", {}, me.subject)),
        h("dt", {}, "Roles"),
        h("dd", {}, roles),
      ),
      h("h3", {}, "Sessions"),
      sessions,
      // The record of an admin is about everyone, and has a page.
      me.roles.includes("admin") ? null : lazyDetails("", "Read by admins", accessList),
      error,
    ],
    buttons,
  );
  load();
}

/** Leaves the page of a person who has signed out: for the provider’s own sign-out page, if there is one. */
function leave(answer) {
  if (answer?.logout) location.assign(answer.logout);
  else location.reload();
}
