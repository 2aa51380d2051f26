// The console below a prefix: nested in another program, and behind proxies that strip or keep the prefix.

import { describe, it } from "node:test";
import assert from "node:assert/strict";
import { dirname, join } from "node:path";
import { openPage } from "./support/page.js";
import { startProxyFor } from "./support/proxy.js";
import { startServerFor } from "./support/server.js";

const TOKEN = "a-token-of-the-test-0123456789";
const args = ["--token", TOKEN];

/** The program with routes of its own, built beside the command line. */
const nested = {
  program: join(dirname(process.env.TOOLWRIGHT), "examples", "test_programs"),
  env: { TEST_PROGRAM: "nested" },
  args,
};

const places = {
  "nested in another program": async (t) => `${(await startServerFor(t, nested)).url}/ai`,
  "nested in another program as a service": async (t) => `${(await startServerFor(t, nested)).url}/service/ai`,
  "nested as a service, with a slash at the end": async (t) =>
    `${(await startServerFor(t, nested)).url}/service/ai/`,
  "behind a proxy that strips the prefix": async (t) => {
    const server = await startServerFor(t, { args });
    return `${await startProxyFor(t, server.port, { strip: true })}/ai`;
  },
  "behind a proxy that keeps the prefix": async (t) => {
    const server = await startServerFor(t, nested);
    return `${await startProxyFor(t, server.port, { strip: false })}/ai`;
  },
};

for (const [place, start] of Object.entries(places)) {
  describe(`the console ${place}`, () => {
    it("signs in, shows calls, approves one, reloads, and opens a conversation by its URL", async (t) => {
      const url = await start(t);
      const { page, send, waitForTurns, turn, screenshot } = await openPage(t, url);
      const prefix = new URL(url).pathname.replace(/\/$/, "");
      const outside = [];
      const missing = [];
      page.on("request", (request) => {
        const { pathname } = new URL(request.url());
        if (pathname !== prefix && !pathname.startsWith(`${prefix}/`)) outside.push(pathname);
      });
      page.on("response", (response) => response.status() === 404 && missing.push(response.url()));
      const signIn = async (page) => {
        await page.getByLabel("Token").fill(TOKEN);
        await page.getByRole("button", { name: "Go on" }).click();
      };

      await signIn(page);
      await page.getByRole("heading", { name: "What can I do for you?" }).waitFor();
      await send("What time is it in Tokyo?");
      await waitForTurns(1);
      await turn(0).getByRole("region", { name: "Call of City time" }).waitFor();
      await turn(0).locator(".prose", { hasText: "JST" }).waitFor();
      await send("Refund order A-1042, 20 euros");
      await page.getByRole("button", { name: "Approve" }).click();
      await waitForTurns(2);
      await turn(1).locator(".prose", { hasText: "A-1042" }).waitFor();
      await screenshot(`prefix ${place}`.replaceAll(/\W+/g, "-"));

      await page.reload();
      await waitForTurns(2);
      await turn(1)
        .getByRole("button", { name: /Issue refund.*Done/ })
        .waitFor();
      await page.getByRole("link", { name: "Tools" }).click();
      await page.getByRole("link", { name: /Issue refund/ }).waitFor();
      await page.goBack();
      assert.deepEqual([outside, missing], [[], []]);

      const another = await openPage(t, page.url());
      await signIn(another.page);
      await another.waitForTurns(2);
      await another.turn(0).locator(".prose", { hasText: "JST" }).waitFor();
    });
  });
}
