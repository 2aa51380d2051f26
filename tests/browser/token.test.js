// A server that requires a token.

import { describe, it } from "node:test";
import assert from "node:assert/strict";
import { openPage } from "./support/page.js";
import { startServerFor } from "./support/server.js";

describe("a server with a token", () => {
  it("accepts it in the URL, from which it is removed at once", async (t) => {
    const server = await startServerFor(t, { args: ["--token", "a-token-of-the-test-0123456789"] });
    const { page, send, waitForTurns, turn } = await openPage(t, `${server.url}/#token=a-token-of-the-test-0123456789`);
    await page.getByRole("heading", { name: "What can I do for you?" }).waitFor();
    assert.equal(page.url().includes("a-token"), false);
    await send("What time is it in Tokyo?");
    await waitForTurns(1);
    await page.reload();
    await turn(0).locator(".prose", { hasText: "JST" }).waitFor();
  });

  it("asks for it otherwise", async (t) => {
    const server = await startServerFor(t, { args: ["--token", "a-token-of-the-test-0123456789"] });
    const { page, screenshot, assertAccessible } = await openPage(t, server.url);
    await page.getByRole("heading", { name: "This server wants a token" }).waitFor();
    await assertAccessible("token");
    await screenshot("token");
    await page.getByLabel("Token").fill("wrong");
    await page.getByRole("button", { name: "Go on" }).click();
    await page.getByText("The server refuses this token.").waitFor();
    await page.getByLabel("Token").fill("a-token-of-the-test-0123456789");
    await page.getByRole("button", { name: "Go on" }).click();
    await page.getByRole("heading", { name: "What can I do for you?" }).waitFor();
  });
});
