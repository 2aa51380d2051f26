// Starts the real program, which serves the console on a free port.

import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Starts `toolwright serve`; the caller must kill it.
 * @param {{program?: string, model?: string, settings?: string, files?: Record<string, string>, port?: number,
 *          store?: string, args?: string[], env?: Record<string, string>}} [options]
 *   settings: the text of a `toolwright.toml`; files: contents of other files in its folder
 */
export async function startServer({
  program = process.env.TOOLWRIGHT,
  model = "demo",
  settings = "",
  files = {},
  port = 0,
  store = "memory:",
  args = [],
  env = {},
} = {}) {
  const folder = mkdtempSync(join(tmpdir(), "toolwright-browser-"));
  for (const [name, text] of Object.entries({ "toolwright.toml": settings, ...files }))
    writeFileSync(join(folder, name), text);
  const command = ["serve", "--addr", `127.0.0.1:${port}`, "--model", model, "--store", store, ...args];
  const { PATH } = process.env;
  const child = spawn(program, command, {
    cwd: folder,
    env: { PATH, HOME: folder, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = new Promise((resolve) => child.once("exit", resolve));
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += chunk));
  const url = await address(child);
  return {
    url,
    port: Number(new URL(url).port),
    /** What it has printed so far, its log included. */
    output: () => output,
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
    /** The bytes of its files. */
    contents: () => readdirSync(folder).map((name) => readFileSync(join(folder, name), "latin1")),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
