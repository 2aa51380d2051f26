// The dialog in which an owner shares a conversation: creates links, lists who has accepted them, and ends them.

import { h, button, proseNodes, setChildren, setText, uid } from "../ui/dom.js";
import { api } from "../net/api-client.js";
import { copyButton } from "../ui/clipboard.js";
import { dialog } from "../ui/dialog.js";
import { dateTime } from "../ui/format.js";
import { announce } from "../ui/live-region.js";

const ACCESS = { read: "Can read", participate: "Can take part" };
const LIFETIMES = { "": "Until it is ended", 3600: "An hour", 86400: "A day", 604800: "A week" };

/**
 * Opens the dialog.
 * @param {string} id
 * @param {() => void} onChanged
 */
export function shareDialog(id, onChanged) {
  const links = h("ul", { class: "rows", "aria-label": "Links" });
  const created = h("div", { class: "field", role: "status" });
  const error = h("p", { class: "error", role: "alert" });
  const access = select("What others may do", ACCESS);
  const lifetime = select("For how long", LIFETIMES);

  const attempt = async (action) => {
    error.textContent = "";
    try {
      await action();
      await refresh();
      onChanged();
    } catch ({ message }) {
      setText(error, message);
    }
  };
  const refresh = async () => setChildren(links, (await api.shares(id)).map(linkItem));
  const linkItem = (share) => {
    const names = share.participants.map(({ name }) => name ?? "The operator");
    const until = share.expires ? `until ${dateTime(share.expires)}` : "until it is ended";
    const end = button("End", { small: true, kind: "danger", on: { click: () => attempt(() => endShare(share.id)) } });
    return h(
      "li",
      { class: "share" },
      h("span", {}, `${ACCESS[share.access]}, ${until}`),
      h("span", { class: "quiet" }, proseNodes(names.length ? `Accepted by ${names.join(", ")}` : "Not accepted yet")),
      end,
    );
  };
  const endShare = async (share) => {
    await api.endShare(id, share);
    setChildren(created);
    announce("The link has ended", { show: true });
  };
  const create = async () => {
    const expires_in = lifetime.input.value ? Number(lifetime.input.value) : undefined;
    const { token } = await api.share(id, { access: access.input.value, expires_in });
    const url = new URL(location.href);
    url.hash = `#/share/${token}`;
    const fieldId = uid("link");
    setChildren(
      created,
      h("label", { for: fieldId }, "The link, which is shown only now"),
      h("input", { type: "text", id: fieldId, readonly: true, value: url.href }),
      copyButton("Copy the link", () => url.href, "Link copied"),
    );
    announce("Link created");
  };
  const createButton = button("Create a link", { kind: "primary", on: { click: () => attempt(create) } });
  const explanation = "All who can sign in here and have the link can open this conversation.";
  dialog("Share this conversation", [
    h("p", { class: "quiet" }, explanation),
    access.node,
    lifetime.node,
    h("div", { class: "buttons" }, createButton),
    created,
    error,
    links,
  ]);
  attempt(async () => {});
}

function select(label, options) {
  const id = uid("share");
  const choices = Object.entries(options).map(([value, text]) => h("option", { value }, text));
  // The keys that are numbers come first.
  choices.sort((one, two) => Number(one.getAttribute("value") || 0) - Number(two.getAttribute("value") || 0));
  const input = /** @type {any} */ (h("select", { id }, choices));
  return { input, node: h("div", { class: "field" }, h("label", { for: id }, label), input) };
}
