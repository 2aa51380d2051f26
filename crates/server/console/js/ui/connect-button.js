// A button that connects the person to a server: begins the login, shows its link, and waits until it is finished.

import { api } from "../net/api-client.js";
import { loadConnections } from "../state/connections.js";
import { h, button, setChildren, setText } from "./dom.js";
import { icon } from "./icons.js";
import { externalLink } from "./link.js";

/** How often the server is asked whether the login is finished. */
const POLL_MILLIS = 1500;

/**
 * @param {string} server
 * @param {() => Promise<void> | void} onConnected
 */
export function connectButton(server, onConnected) {
  const node = h("div", { class: "connect" });
  const error = h("p", { class: "error", role: "alert" });

  const waitUntilConnected = async () => {
    while (node.isConnected) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MILLIS));
      const connections = await loadConnections().catch(() => []);
      if (connections.some((it) => it.name === server && it.isConnected)) return void (await onConnected());
    }
  };
  const begin = async () => {
    setText(error, "");
    start.disabled = true;
    try {
      const { link } = await api.connect(server);
      const page = externalLink(link, [`Open the login page of ${server}`]);
      setChildren(node, page, h("p", { class: "quiet", role: "status" }, "Waiting until you have logged in there."));
      if (page instanceof HTMLElement) page.focus();
      await waitUntilConnected();
    } catch ({ message }) {
      setChildren(node, start, error);
      setText(error, message);
      start.disabled = false;
    }
  };
  const start = button("Connect", { icon: icon("check"), small: true, kind: "primary", on: { click: begin } });
  setChildren(node, start, error);
  return node;
}
