// What is left of a quota, below the list of conversations.

import { describe, it } from "node:test";
import { openPage } from "./support/page.js";
import { startServerFor } from "./support/server.js";

describe("a quota", () => {
  it("shows what is left, and why a message is refused", async (t) => {
    const settings = "[quota]\nmessages_per_minute = 2\ntokens_per_day = 100000\n";
    const server = await startServerFor(t, { settings });
    const { page, send, waitForTurns, screenshot, assertAccessible } = await openPage(t, server.url);
    await page.getByText("2 of 2 messages this minute left").waitFor();
    await page.getByText(/of 100,000 tokens today left/).waitFor();
    for (const left of [1, 0]) {
      await send("What time is it in Tokyo?");
      await waitForTurns(2 - left);
      await page.getByText(`${left} of 2 messages this minute left`).waitFor();
    }
    await send("And in London?");
    await page.getByRole("alert").filter({ hasText: "the quota of 2 messages per minute is used up" }).waitFor();
    await assertAccessible("a quota that is used up");
    await screenshot("quota-used-up");
  });

  it("is not shown where nothing is limited", async (t) => {
    const server = await startServerFor(t);
    const { page } = await openPage(t, server.url);
    await page.getByRole("heading", { name: "What can I do for you?" }).waitFor();
    await page.locator("#quota").waitFor({ state: "hidden" });
  });
});
