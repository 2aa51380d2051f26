// The servers that every person connects to on their own.

import { api } from "../net/api-client.js";

let connections = [];

/** Loads the connections of this person. */
export async function loadConnections() {
  connections = await api.connections();
  return connections;
}

/** Returns the server that a tool asks the person to connect to; undefined for other tools. */
export const connectionOf = (tool) => connections.find((it) => it.tool === tool);
