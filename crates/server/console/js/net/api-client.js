// The HTTP client of the server's API: parsed JSON on success, `ApiError` on failure.

/** The URL that the console and the API are below, whatever the prefix of a router or a proxy is. */
export const SERVER_URL = new URL("../../", import.meta.url);

/** Servers with different prefixes on one host have different tokens. */
const TOKEN_KEY = `toolwright.token ${SERVER_URL.pathname}`;

/** A failed request, with a message to display. */
class ApiError extends Error {
  /**
   * @param {number} status 0 if the server did not respond
   * @param {string} kind
   * @param {string} message
   */
  constructor(status, kind, message) {
    super(message);
    this.status = status;
    this.kind = kind;
  }
}

/** Decodes a segment of the URL; returns it unchanged if it is malformed. */
export function decodeSegment(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Moves a token from the URL to the session storage, so that it ends up in no bookmark. */
export function takeTokenFromUrl() {
  const match = /^#token=([^&]*)$/.exec(location.hash);
  if (!match) return;
  storeToken(decodeSegment(match[1]));
  history.replaceState(null, "", location.pathname + location.search);
}

/** Stores a token until the tab is closed. */
export function storeToken(token) {
  sessionStorage.setItem(TOKEN_KEY, token);
}

/**
 * Sends a request.
 * @throws {ApiError} if the server cannot be reached or responds with an error
 * @param {string} path below `api/`, with its segments encoded
 * @param {{method?: string, body?: any, signal?: AbortSignal, accept?: string}} [options]
 * @returns {Promise<Response>}
 */
async function request(path, { method = "GET", body, signal, accept = "application/json" } = {}) {
  const headers = { accept };
  const token = sessionStorage.getItem(TOKEN_KEY);
  if (token) headers.authorization = `Bearer ${token}`;
  if (body !== undefined) headers["content-type"] = "application/json";
  let response;
  try {
    const url = new URL(`api/${path}`, SERVER_URL);
    const bodyText = body === undefined ? undefined : JSON.stringify(body);
    response = await fetch(url, { method, headers, body: bodyText, signal, cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, "offline", "The server does not answer. Is it still running?");
  }
  if (!response.ok) throw await errorOf(response);
  return response;
}

async function errorOf(response) {
  const body = await response.json().catch(() => null);
  const error = body?.error ?? {};
  const message = error.message ?? `The server answered with status ${response.status}.`;
  return new ApiError(response.status, error.kind ?? "unknown", message);
}

async function json(path, options) {
  const response = await request(path, options);
  const text = await response.text();
  return text ? JSON.parse(text) : null;
}

/** Renames the fields of a listed tool or prompt to those of a tool spec. */
function toSpec({ parameters, output, hints, ...tool }) {
  return { inputSchema: parameters, outputSchema: output, annotations: hints, ...tool };
}

const conversationPath = (id) => `conversations/${encodeURIComponent(id)}`;
/** The path to an entry, or to the newest one if it is null. */
const pathQuery = (at) => (at === null ? "" : `?at=${encodeURIComponent(at)}`);
const itemPath = (kind, name) => `${kind}/${encodeURIComponent(name)}`;

/** All requests of the console. */
export const api = {
  info: () => json("info"),
  quota: () => json("quota"),
  me: () => json("me"),
  providers: () => json("login"),
  sessions: () => json("sessions"),
  endSession: (id) => json(itemPath("sessions", id), { method: "DELETE" }),
  signOut: () => json("session", { method: "DELETE" }),
  conversations: () => json("conversations"),
  allConversations: () => json("conversations?all=true"),
  accesses: () => json("audit"),
  rename: (id, title) => json(conversationPath(id), { method: "PATCH", body: { title } }),
  shares: (id) => json(`${conversationPath(id)}/shares`),
  share: (id, body) => json(`${conversationPath(id)}/shares`, { method: "POST", body }),
  endShare: (id, share) => json(`${conversationPath(id)}/${itemPath("shares", share)}`, { method: "DELETE" }),
  acceptShare: (token) => json("shares", { method: "POST", body: { token } }),
  leaveShare: (share) => json(itemPath("shares", share), { method: "DELETE" }),
  approvals: () => json("approvals"),
  decideApproval: (id, body) => json(itemPath("approvals", id), { method: "POST", body }),
  conversation: (id, at, signal) => json(conversationPath(id) + pathQuery(at), { signal }),
  remove: (id) => json(conversationPath(id), { method: "DELETE" }),
  export: async (id, at) =>
    (await request(`${conversationPath(id)}/export${pathQuery(at)}`, { accept: "*/*" })).blob(),
  events: (id, after, signal) =>
    request(`${conversationPath(id)}/events?after=${encodeURIComponent(after)}`, {
      signal,
      accept: "text/event-stream",
    }),
  send: (id, body) => json(`${conversationPath(id)}/prompt`, { method: "POST", body }),
  withdraw: (id, position) => json(`${conversationPath(id)}/queue/${position}`, { method: "DELETE" }),
  decide: (id, body) => json(`${conversationPath(id)}/decide`, { method: "POST", body }),
  stop: (id) => json(`${conversationPath(id)}/stop`, { method: "POST", body: {} }),
  tools: async () => (await json("tools")).map(toSpec),
  searchTools: async (question, signal) =>
    (await json(`tools?search=${encodeURIComponent(question)}`, { signal })).map(toSpec),
  lowered: (name, dialect) => json(`${itemPath("tools", name)}/lowered?for=${encodeURIComponent(dialect)}`),
  call: (name, body) => json(itemPath("tools", name), { method: "POST", body }),
  connections: () => json("connections"),
  connect: (name) => json(itemPath("connections", name), { method: "POST" }),
  disconnect: (name) => json(itemPath("connections", name), { method: "DELETE" }),
  prompts: async () => (await json("prompts")).map(toSpec),
  render: (name, args) => json(itemPath("prompts", name), { method: "POST", body: { arguments: args } }),
};
