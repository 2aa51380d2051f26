// The console with the keyboard only.

import { after, before, describe, it } from "node:test";
import assert from "node:assert/strict";
import { openPage } from "./support/page.js";
import { startServer } from "./support/server.js";

describe("with the keyboard only, a person", () => {
  let server;
  before(async () => (server = await startServer()));
  after(() => server.kill());

  const focused = (page) =>
    page.evaluate(() => {
      const node = document.activeElement;
      return node.getAttribute("aria-label") ?? (node.labels?.[0] ?? node).textContent.trim();
    });
  /** Presses Tab until the named element has the focus; every focus on the way must be visible. */
  const tabTo = async (page, name, key = "Tab") => {
    for (let stops = 0; stops < 60; stops += 1) {
      await page.keyboard.press(key);
      const now = await focused(page);
      const ring = await page.evaluate(() => {
        const node = document.activeElement;
        if (node === document.body) return true;
        const { outlineStyle } = getComputedStyle(node);
        const around = node.closest(".composer") ?? node;
        const label = node.labels?.[0] ?? node;
        return [outlineStyle, getComputedStyle(around).outlineStyle, getComputedStyle(label).outlineStyle].some(
          (it) => it !== "none",
        );
      });
      assert.ok(ring, `the focus on ${now} cannot be seen`);
      if (name.test(now)) return now;
    }
    throw new Error(`${name} was not reached`);
  };

  it("sends a message, opens a card, and opens the details", async (t) => {
    const { page, message, waitForTurns, turn } = await openPage(t, server.url);
    await page.getByRole("heading", { name: "What can I do for you?" }).waitFor();
    assert.ok(await message.evaluate((node) => node === document.activeElement), "the message input has the focus");
    await page.keyboard.type("What time is it");
    await page.keyboard.press("Shift+Enter");
    await page.keyboard.type("in Tokyo?");
    assert.equal(await message.inputValue(), "What time is it\nin Tokyo?");
    await page.keyboard.press("Enter");
    await waitForTurns(1);
    assert.equal(await message.inputValue(), "");
    await tabTo(page, /^City time/, "Shift+Tab");
    await page.keyboard.press("Enter");
    await turn(0).getByRole("heading", { name: "Arguments" }).waitFor();
    await tabTo(page, /^Details$/);
    await page.keyboard.press("Enter");
    const tab = (name) => page.getByRole("tab", { name, selected: true });
    await tab("Timeline").waitFor();
    await page.keyboard.press("ArrowRight");
    await tab("Wire").waitFor();
    await page.keyboard.press("Escape");
    assert.equal(await focused(page), "Details");
  });

  it("decides about a call", async (t) => {
    const { page, send, waitForTurns, turn } = await openPage(t, server.url);
    await send("Refund order K-1, 20 euros");
    await page.getByRole("group", { name: "Allow this call?" }).waitFor();
    await tabTo(page, /^Stop$/);
    await page.keyboard.press("a");
    assert.equal(await focused(page), "Approve");
    await tabTo(page, /^Edit…$/);
    await page.keyboard.press("Enter");
    await page.getByRole("textbox", { name: "order" }).waitFor();
    await page.keyboard.press("Escape");
    assert.equal(await focused(page), "Edit…");
    await tabTo(page, /^Deny…$/);
    await page.keyboard.press("Enter");
    await page.keyboard.type("no");
    await page.keyboard.press("Enter");
    await waitForTurns(1);
    await turn(0).locator(".prose", { hasText: "denied" }).waitFor();
  });

  it("opens the list of shortcuts, and uses them", async (t) => {
    const { page, message, screenshot } = await openPage(t, server.url);
    await page.getByRole("heading", { name: "What can I do for you?" }).waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("?");
    const keys = page.getByRole("dialog", { name: "Keyboard shortcuts" });
    await keys.waitFor();
    await screenshot("shortcuts");
    await page.keyboard.press("Escape");
    await keys.waitFor({ state: "detached" });
    await page.keyboard.press("t");
    await page.getByRole("heading", { level: 1, name: "Tools" }).waitFor();
    await page.keyboard.press("p");
    await page.getByRole("heading", { level: 1, name: "Prompts" }).waitFor();
    await page.keyboard.press("l");
    await page.locator("html[data-theme=dark]").waitFor();
    await page.keyboard.press("n");
    await page.getByRole("heading", { level: 1, name: "New conversation" }).waitFor();
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("/");
    assert.ok(await message.evaluate((node) => node === document.activeElement));
    await page.keyboard.type("t?");
    assert.equal(await message.inputValue(), "t?", "typed keys are no shortcuts");
  });

  it("switches single keys off", async (t) => {
    const { page } = await openPage(t, server.url);
    await page.getByRole("heading", { name: "What can I do for you?" }).waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("?");
    await page.getByRole("checkbox", { name: /Use these shortcuts/ }).press("Space");
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await page.keyboard.press("t");
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
    assert.equal(await page.getByRole("heading", { level: 1 }).textContent(), "New conversation");
  });

  it("skips to the content", async (t) => {
    const { page } = await openPage(t, `${server.url}/#/tools`);
    await page.getByRole("searchbox").waitFor();
    await tabTo(page, /^Skip to the content$/);
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.id), "main");
    assert.equal(await page.evaluate(() => location.hash), "#/tools");
  });

  it("calls a tool", async (t) => {
    const { page } = await openPage(t, `${server.url}/#/tools/get_weather`);
    await page.getByRole("textbox", { name: "city" }).waitFor();
    await tabTo(page, /^city/);
    await page.keyboard.type("Paris");
    await page.keyboard.press("Enter");
    await page.getByText("Paris: Partly cloudy, 20C / 68F, 65% humidity").waitFor();
  });
});
