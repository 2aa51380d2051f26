// Waits for a server that cannot be reached.

import { api } from "./api-client.js";

/** The shortest and the longest delay between two attempts, in milliseconds. */
export const MIN_BACKOFF = 250;
export const MAX_BACKOFF = 10_000;

let polling = null;

/** Resolves when the server responds, with any status. All callers share one loop. */
export function waitForServer() {
  polling ??= poll().finally(() => (polling = null));
  return polling;
}

async function poll() {
  for (let delay = MIN_BACKOFF; ; delay = Math.min(delay * 2, MAX_BACKOFF)) {
    await new Promise((resolve) => setTimeout(resolve, delay));
    const isReachable = await api.info().then(
      () => true,
      (error) => error.kind !== "offline",
    );
    if (isReachable) return;
  }
}
