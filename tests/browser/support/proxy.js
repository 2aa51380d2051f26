// Starts Debian's HAProxy, which serves a server below `/ai`.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import assert from "node:assert/strict";

/**
 * Starts it for one test.
 * @param {any} t
 * @param {number} serverPort
 * @param {{strip: boolean}} options strip: the server does not see the prefix
 * @returns {Promise<string>} the URL of the proxy
 */
export async function startProxyFor(t, serverPort, { strip }) {
  const folder = mkdtempSync(join(tmpdir(), "toolwright-proxy-"));
  const [config, pidFile] = [join(folder, "haproxy.cfg"), join(folder, "pid")];
  const port = await freePort();
  writeFileSync(
    config,
    `
defaults
  mode http
  timeout connect 120s
  timeout client 120s
  timeout server 120s
listen proxy
  bind 127.0.0.1:${port}
  ${strip ? "http-request redirect code 308 location /ai/ if { path /ai }" : ""}
  http-request return status 404 unless { path /ai } or { path_beg /ai/ }
  ${strip ? "http-request replace-path /ai/(.*) /\\1" : ""}
  server behind 127.0.0.1:${serverPort}
`,
  );
  // The daemon's parent exits when the port is bound.
  const { status, stderr } = spawnSync(process.env.HAPROXY, ["-D", "-f", config, "-p", pidFile], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  t.after(() => {
    process.kill(Number(readFileSync(pidFile, "utf8")), "SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });
  return `http://127.0.0.1:${port}`;
}

/** Returns a port that nothing listens on. */
async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}
