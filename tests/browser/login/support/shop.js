// A FastMCP server with an OAuth provider of its own: `tests/program/credentials/oauth_shop.py`.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "../../../..");

/** Starts it for one test. */
export async function startShop(t) {
  const python = join(ROOT, "target/real/python/bin/python");
  const child = spawn(python, [join(ROOT, "tests/program/credentials/oauth_shop.py")], { stdio: ["pipe", "pipe", "inherit"] });
  t.after(() => child.kill());
  /** Every token, code and client secret that it has issued. */
  const secrets = new Set();
  const port = await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code) => reject(new Error(`the shop exited with ${code}`)));
    createInterface(child.stdout).on("line", (line) => {
      const { port, secret } = JSON.parse(line);
      if (secret) secrets.add(secret);
      if (port) resolve(port);
    });
  });
  return { url: `http://127.0.0.1:${port}`, secrets };
}
