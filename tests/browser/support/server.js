// The real program, serving the console on a port of its own.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Starts `toolwright serve`.
 * @param {{model?: string, settings?: string, port?: number, store?: string, args?: string[]}} [options]
 *   settings: the text of a `toolwright.toml`
 */
export async function serve({ model = "demo", settings = "", port = 0, store = "memory:", args = [] } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "toolwright-browser-"));
  writeFileSync(join(folder, "toolwright.toml"), settings);
  const words = ["serve", "--addr", `127.0.0.1:${port}`, "--model", model, "--store", store, ...args];
  const { PATH } = process.env;
  const child = spawn(process.env.TOOLWRIGHT, words, {
    cwd: folder,
    env: { PATH, HOME: folder },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const url = await address(child);
  return {
    url,
    port: Number(new URL(url).port),
    /** Ends it without a word, as a crash does. */
    async kill() {
      child.kill("SIGKILL");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A server for one test. */
export async function started(t, options) {
  const server = await serve(options);
  t.after(() => server.kill());
  return server;
}

/** Waits for the line that says where it listens. */
function address(child) {
  return new Promise((resolve, reject) => {
    let said = "";
    const hear = (piece) => {
      said += piece;
      const found = /(http:\/\/127\.0\.0\.1:\d+)\S*\s/.exec(said);
      if (found) resolve(found[1]);
    };
    child.stdout.on("data", hear);
    child.stderr.on("data", hear);
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`it ended with ${code}:\n${said}`)));
  });
}

/** A file for conversations that outlives the server. */
export function storeFile() {
  const folder = mkdtempSync(join(tmpdir(), "toolwright-browser-"));
  return {
    url: `sqlite:${join(folder, "conversations.db")}`,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
