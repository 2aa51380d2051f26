// The HTTP client of the server's API: parsed JSON on success, `ApiError` on failure.

const TOKEN_KEY = "toolwright.token";

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
    const bodyText = body === undefined ? undefined : JSON.stringify(body);
    response = await fetch(`api/${path}`, { method, headers, body: bodyText, signal, cache: "no-store" });
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
  conversations: () => json("conversations"),
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
  lowered: (name, dialect) => json(`${itemPath("tools", name)}/lowered?for=${encodeURIComponent(dialect)}`),
  call: (name, body) => json(itemPath("tools", name), { method: "POST", body }),
  prompts: async () => (await json("prompts")).map(toSpec),
  render: (name, args) => json(itemPath("prompts", name), { method: "POST", body: { arguments: args } }),
};
