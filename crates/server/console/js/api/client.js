// The server's answers as data, its refusals as errors with words for a person.

const KEY = "toolwright.token";

/** What went wrong, for a person to read. */
class ApiError extends Error {
  /**
   * @param {number} status 0 where nobody answered
   * @param {string} kind
   * @param {string} message
   */
  constructor(status, kind, message) {
    super(message);
    this.status = status;
    this.kind = kind;
  }
}

/** A part of an address as it was meant; as it is, where it was not encoded. */
export function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Takes the token out of the address, once: it is nobody's bookmark. */
export function takeToken() {
  const match = /^#token=([^&]*)$/.exec(location.hash);
  if (!match) return;
  keepToken(decoded(match[1]));
  history.replaceState(null, "", location.pathname + location.search);
}

/** Keeps a token for as long as this tab is open. */
export function keepToken(token) {
  sessionStorage.setItem(KEY, token);
}

/**
 * Sends a request; the answer must be a success.
 * @param {string} path below `api/`, with its segments encoded
 * @param {{method?: string, body?: any, signal?: AbortSignal, accept?: string}} [options]
 * @returns {Promise<Response>}
 */
export async function request(path, { method = "GET", body, signal, accept = "application/json" } = {}) {
  const headers = { accept };
  const token = sessionStorage.getItem(KEY);
  if (token) headers.authorization = `Bearer ${token}`;
  if (body !== undefined) headers["content-type"] = "application/json";
  let response;
  try {
    const sent = body === undefined ? undefined : JSON.stringify(body);
    response = await fetch(`api/${path}`, { method, headers, body: sent, signal, cache: "no-store" });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, "offline", "The server does not answer. Is it still running?");
  }
  if (!response.ok) throw await refusal(response);
  return response;
}

async function refusal(response) {
  const said = await response.json().catch(() => null);
  const error = said?.error ?? {};
  const message = error.message ?? `The server answered with status ${response.status}.`;
  return new ApiError(response.status, error.kind ?? "unknown", message);
}

async function json(path, options) {
  const response = await request(path, options);
  const text = await response.text();
  return text ? JSON.parse(text) : null;
}

/** A tool in the shape of its spec, whichever list it comes from. */
function spec({ parameters, output, hints, ...tool }) {
  return { inputSchema: parameters, outputSchema: output, annotations: hints, ...tool };
}

const one = (id) => `conversations/${encodeURIComponent(id)}`;
const named = (kind, name) => `${kind}/${encodeURIComponent(name)}`;

/** Every request the console makes, by what it is for. */
export const api = {
  info: () => json("info"),
  conversations: () => json("conversations"),
  conversation: (id, signal) => json(one(id), { signal }),
  remove: (id) => json(one(id), { method: "DELETE" }),
  export: async (id) => (await request(`${one(id)}/export`, { accept: "*/*" })).blob(),
  events: (id, after, signal) =>
    request(`${one(id)}/events?after=${encodeURIComponent(after)}`, { signal, accept: "text/event-stream" }),
  prompt: (id, body) => json(`${one(id)}/prompt`, { method: "POST", body }),
  decide: (id, body) => json(`${one(id)}/decide`, { method: "POST", body }),
  stop: (id) => json(`${one(id)}/stop`, { method: "POST", body: {} }),
  tools: async () => (await json("tools")).map(spec),
  lowered: (name, dialect) => json(`${named("tools", name)}/lowered?for=${encodeURIComponent(dialect)}`),
  call: (name, body, signal) => json(named("tools", name), { method: "POST", body, signal }),
  prompts: async () => (await json("prompts")).map(spec),
  render: (name, args) => json(named("prompts", name), { method: "POST", body: { arguments: args } }),
};
