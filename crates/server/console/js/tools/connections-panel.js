// The servers that the person connects to on their own, with a button for each.

import { api } from "../net/api-client.js";
import { loadConnections } from "../state/connections.js";
import { h, button, setChildren, setText } from "../ui/dom.js";
import { connectButton } from "../ui/connect-button.js";
import { icon } from "../ui/icons.js";

export function connectionsPanel() {
  const node = h("section", { class: "connections", "aria-label": "Your connections", hidden: true });
  const error = h("p", { class: "error", role: "alert" });

  const disconnect = async (name) => {
    setText(error, "");
    try {
      await api.disconnect(name);
    } catch ({ message }) {
      setText(error, message);
    }
    await show();
  };
  const row = ({ name, isConnected }) =>
    h(
      "div",
      { class: "connection" },
      h("span", {}, h("strong", {}, name), h("span", { class: "quiet" }, isConnected ? " connected" : " not connected")),
      isConnected
        ? button("Disconnect", { icon: icon("cross"), small: true, on: { click: () => disconnect(name) } })
        : connectButton(name, show),
    );
  const show = async () => {
    const connections = await loadConnections().catch(() => []);
    node.hidden = !connections.length;
    setChildren(node, connections.map(row), error);
  };
  return { node, show };
}
