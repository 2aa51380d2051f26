// Themes, narrow screens, accessibility checks and announcements for screen readers.

import { after, before, describe, it } from "node:test";
import assert from "node:assert/strict";
import { openPage } from "./support/page.js";
import { startServer } from "./support/server.js";

describe("the console", () => {
  let server;
  before(async () => (server = await startServer()));
  after(() => server.kill());

  const background = (page) => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);

  it("follows the theme of the system, and stores another choice", async (t) => {
    const { page } = await openPage(t, server.url, { dark: true });
    const dark = await background(page);
    await page.getByRole("button", { name: "Switch to light" }).click();
    const light = await background(page);
    assert.notEqual(dark, light);
    await page.reload();
    await page.getByRole("button", { name: "Switch to dark" }).waitFor();
    assert.equal(await background(page), light);
    await page.getByRole("button", { name: "Switch to dark" }).click();
    assert.equal(await background(page), dark);
  });

  for (const dark of [false, true]) {
    const theme = dark ? "dark" : "light";

    it(`has no serious accessibility violation on any page, ${theme}`, async (t) => {
      const { page, send, waitForTurns, turn, screenshot, assertAccessible } = await openPage(t, server.url, { dark });
      await page.getByRole("heading", { name: "What can I do for you?" }).waitFor();
      await assertAccessible(`welcome, ${theme}`);
      await send("What time is it in Tokyo?");
      await waitForTurns(1);
      await turn(0)
        .getByRole("button", { name: /City time/ })
        .click();
      await send("What time is it in Atlantis?");
      await waitForTurns(2);
      await send(`Refund order ${theme}-1, 20 euros`);
      const approval = page.getByRole("group", { name: "Allow this call?" });
      await approval.waitFor();
      await assertAccessible(`a pending approval, ${theme}`);
      await screenshot(`chat-${theme}`);
      await approval.getByRole("button", { name: "Edit…" }).click();
      await assertAccessible(`an approval with edits, ${theme}`);
      await approval.getByRole("button", { name: "Back" }).click();
      await approval.getByRole("button", { name: "Deny…" }).click();
      await assertAccessible(`a denial, ${theme}`);
      await approval.getByRole("button", { name: "Deny", exact: true }).click();
      await waitForTurns(3);
      await turn(0).getByRole("button", { name: "Details" }).click();
      await assertAccessible(`timeline, ${theme}`);
      await page.getByRole("tab", { name: "Wire" }).click();
      await assertAccessible(`wire, ${theme}`);
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Keyboard shortcuts" }).click();
      await assertAccessible(`shortcuts, ${theme}`);
      await page.keyboard.press("Escape");
      await page.getByRole("link", { name: "Tools" }).click();
      await assertAccessible(`tools, ${theme}`);
      await page.getByRole("searchbox", { name: "Find a tool" }).fill("give the money back");
      await page.locator(".score").first().waitFor();
      await assertAccessible(`tools that were found, ${theme}`);
      await screenshot(`tool-search-${theme}`);
      await page.getByRole("link", { name: /Issue refund/ }).click();
      await page.getByRole("combobox", { name: "As sent to" }).selectOption("gemini");
      await page.getByRole("group", { name: "Losses" }).waitFor();
      await assertAccessible(`a tool, ${theme}`);
      await screenshot(`tool-${theme}`);
      await page.getByRole("link", { name: "Prompts" }).click();
      await page.getByRole("form", { name: "Summarize" }).waitFor();
      await assertAccessible(`prompts, ${theme}`);
      await screenshot(`prompts-${theme}`);
    });
  }

  it("is one column on a phone, with the list in a drawer", async (t) => {
    const { page, send, waitForTurns, turn, screenshot, assertAccessible } = await openPage(t, server.url, {
      width: 375,
      height: 720,
      touch: true,
    });
    const fits = async (where) => {
      const [inside, outside] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      assert.ok(inside <= outside, `${where}: ${inside} > ${outside}`);
    };
    await page.getByRole("heading", { name: "What can I do for you?" }).waitFor();
    await fits("welcome");
    await screenshot("phone-welcome");
    await send("What time is it in Tokyo?");
    await waitForTurns(1);
    await send("Refund order phone-1, 20 euros");
    await page.getByRole("group", { name: "Allow this call?" }).waitFor();
    await fits("chat");
    await screenshot("phone-chat");
    await page.getByRole("button", { name: "Approve" }).click();
    await waitForTurns(2);
    await turn(1).getByRole("button", { name: "Details" }).click();
    await fits("details");
    await screenshot("phone-details");
    await page.getByRole("button", { name: "Close details" }).click();

    const menu = page.getByRole("button", { name: "Menu" });
    await menu.click();
    await page
      .getByRole("link", { name: /What time is it in Tokyo/ })
      .first()
      .waitFor();
    await assertAccessible("drawer");
    await screenshot("phone-drawer");
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: "Tools" }).waitFor({ state: "hidden" });
    assert.ok(await menu.evaluate((node) => node === document.activeElement));
    await menu.click();
    await page.getByRole("link", { name: "Tools" }).click();
    await page.getByRole("searchbox", { name: "Find a tool" }).fill("how hot is it");
    await page.locator(".score").first().waitFor();
    await fits("tool search");
    await screenshot("phone-tool-search");
    await page.getByRole("link", { name: /Convert temperature/ }).click();
    await page.getByRole("textbox", { name: /value/ }).waitFor();
    await fits("tool");
    await assertAccessible("tool on a phone");
    await screenshot("phone-tool");
  });

  it("announces to screen readers what happens", async (t) => {
    const { page, send, waitForTurns } = await openPage(t, server.url);
    await send("What time is it in Tokyo?");
    await waitForTurns(1);
    await page.locator("#status", { hasText: "Running City time" }).waitFor({ state: "attached" });
    await page.locator("#status", { hasText: /Tokyo: \d\d:\d\d/ }).waitFor({ state: "attached" });
    await send("Refund order reader-1, 20 euros");
    await page.locator("#alerts", { hasText: "Issue refund needs your decision" }).waitFor({ state: "attached" });
  });
});
