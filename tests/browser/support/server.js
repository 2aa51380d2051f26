// Starts the real program, which serves the console on a free port.

import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Starts `toolwright serve`; the caller must kill it.
 * @param {{model?: string, settings?: string, port?: number, store?: string, args?: string[]}} [options]
 *   settings: the text of a `toolwright.toml`
 */
export async function startServer({ model = "demo", settings = "", port = 0, store = "memory:", args = [] } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "toolwright-browser-"));
  writeFileSync(join(folder, "toolwright.toml"), settings);
  const command = ["serve", "--addr", `127.0.0.1:${port}`, "--model", model, "--store", store, ...args];
  const { PATH } = process.env;
  const child = spawn(process.env.TOOLWRIGHT, command, {
    cwd: folder,
    env: { PATH, HOME: folder },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  const url = await address(child);
  return {
    url,
    port: Number(new URL(url).port),
    /** Kills the process without a shutdown, as a crash does. */
    async kill() {
      child.kill("SIGKILL");
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Starts a server for one test. */
export async function startServerFor(t, options) {
  const server = await startServer(options);
  t.after(() => server.kill());
  return server;
}

/** Waits for the line with the URL. */
function address(child) {
  return new Promise((resolve, reject) => {
    let output = "";
    const read = (chunk) => {
      output += chunk;
      const found = /(http:\/\/127\.0\.0\.1:\d+)\S*\s/.exec(output);
      if (found) resolve(found[1]);
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`the server exited with ${code}:\n${output}`)));
  });
}

/** Creates a store file that outlives the server. */
export function storeFile() {
  const folder = mkdtempSync(join(tmpdir(), "toolwright-browser-"));
  return {
    url: `sqlite:${join(folder, "conversations.db")}`,
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
