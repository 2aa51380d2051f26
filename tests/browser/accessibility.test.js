// How it looks and reads: light and dark, wide and narrow, for eyes and for screen readers.

import { after, before, describe, it } from "node:test";
import assert from "node:assert/strict";
import { open } from "./support/page.js";
import { serve } from "./support/server.js";

describe("the console", () => {
  let server;
  before(async () => (server = await serve()));
  after(() => server.kill());

  const ground = (page) => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);

  it("is dark where the system is, and remembers who wants it otherwise", async (t) => {
    const { page } = await open(t, server.url, { dark: true });
    const dark = await ground(page);
    await page.getByRole("button", { name: "Switch to light" }).click();
    const light = await ground(page);
    assert.notEqual(dark, light);
    await page.reload();
    await page.getByRole("button", { name: "Switch to dark" }).waitFor();
    assert.equal(await ground(page), light);
    await page.getByRole("button", { name: "Switch to dark" }).click();
    assert.equal(await ground(page), dark);
  });

  for (const dark of [false, true]) {
    const theme = dark ? "dark" : "light";

    it(`has no serious fault of accessibility on any page, ${theme}`, async (t) => {
      const { page, ask, answers, turn, shot, accessible } = await open(t, server.url, { dark });
      await page.getByRole("heading", { name: "What can I do for you?" }).waitFor();
      await accessible(`welcome, ${theme}`);
      await ask("What time is it in Tokyo?");
      await answers(1);
      await turn(0)
        .getByRole("button", { name: /City time/ })
        .click();
      await ask("What time is it in Atlantis?");
      await answers(2);
      await ask(`Refund order ${theme}-1, 20 euros`);
      const asked = page.getByRole("group", { name: "Allow this call?" });
      await asked.waitFor();
      await accessible(`a call that waits, ${theme}`);
      await shot(`chat-${theme}`);
      await asked.getByRole("button", { name: "Edit…" }).click();
      await accessible(`a call that is changed, ${theme}`);
      await asked.getByRole("button", { name: "Back" }).click();
      await asked.getByRole("button", { name: "Deny…" }).click();
      await accessible(`a call that is denied, ${theme}`);
      await asked.getByRole("button", { name: "Deny", exact: true }).click();
      await answers(3);
      await turn(0).getByRole("button", { name: "Details" }).click();
      await accessible(`timeline, ${theme}`);
      await page.getByRole("tab", { name: "Wire" }).click();
      await accessible(`wire, ${theme}`);
      await page.keyboard.press("Escape");
      await page.getByRole("button", { name: "Keyboard shortcuts" }).click();
      await accessible(`shortcuts, ${theme}`);
      await page.keyboard.press("Escape");
      await page.getByRole("link", { name: "Tools" }).click();
      await accessible(`tools, ${theme}`);
      await page.getByRole("link", { name: /Issue refund/ }).click();
      await page.getByRole("combobox", { name: "Lowered for" }).selectOption("gemini");
      await page.getByRole("group", { name: "Losses" }).waitFor();
      await accessible(`a tool, ${theme}`);
      await shot(`tool-${theme}`);
      await page.getByRole("link", { name: "Prompts" }).click();
      await page.getByRole("form", { name: "Summarize" }).waitFor();
      await accessible(`prompts, ${theme}`);
      await shot(`prompts-${theme}`);
    });
  }

  it("is one column on a phone, with the list in a drawer", async (t) => {
    const { page, ask, answers, turn, shot, accessible } = await open(t, server.url, {
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
    await shot("phone-welcome");
    await ask("What time is it in Tokyo?");
    await answers(1);
    await ask("Refund order phone-1, 20 euros");
    await page.getByRole("group", { name: "Allow this call?" }).waitFor();
    await fits("chat");
    await shot("phone-chat");
    await page.getByRole("button", { name: "Approve" }).click();
    await answers(2);
    await turn(1).getByRole("button", { name: "Details" }).click();
    await fits("details");
    await shot("phone-details");
    await page.getByRole("button", { name: "Close details" }).click();

    const menu = page.getByRole("button", { name: "Menu" });
    await menu.click();
    await page
      .getByRole("link", { name: /What time is it in Tokyo/ })
      .first()
      .waitFor();
    await accessible("drawer");
    await shot("phone-drawer");
    await page.keyboard.press("Escape");
    await page.getByRole("link", { name: "Tools" }).waitFor({ state: "hidden" });
    assert.ok(await menu.evaluate((node) => node === document.activeElement));
    await menu.click();
    await page.getByRole("link", { name: "Tools" }).click();
    await page.getByRole("link", { name: /Convert temperature/ }).click();
    await page.getByRole("textbox", { name: /value/ }).waitFor();
    await fits("tool");
    await accessible("tool on a phone");
    await shot("phone-tool");
  });

  it("tells screen readers what happens while it happens", async (t) => {
    const { page, ask, answers } = await open(t, server.url);
    await ask("What time is it in Tokyo?");
    await answers(1);
    await page.locator("#status", { hasText: "Running City time" }).waitFor({ state: "attached" });
    await page.locator("#status", { hasText: /Tokyo: \d\d:\d\d/ }).waitFor({ state: "attached" });
    await ask("Refund order said-1, 20 euros");
    await page.locator("#alerts", { hasText: "Issue refund needs your decision" }).waitFor({ state: "attached" });
  });
});
