// Waits until a server that could not be reached answers again.

import { api } from "./client.js";

/** Backoff between two tries, in milliseconds: the first and the longest. */
export const FIRST = 250;
export const SLOWEST = 10_000;

let waiting = null;

/** Resolves once the server responds, with whatever status. All callers share one loop. */
export function whenBack() {
  waiting ??= tries().finally(() => (waiting = null));
  return waiting;
}

async function tries() {
  for (let wait = FIRST; ; wait = Math.min(wait * 2, SLOWEST)) {
    await new Promise((resolve) => setTimeout(resolve, wait));
    const answered = await api.info().then(
      () => true,
      (error) => error.kind !== "offline",
    );
    if (answered) return;
  }
}
