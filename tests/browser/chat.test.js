// Asking, following up, looking at the details, keeping and deleting.

import { after, before, describe, it } from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { open } from "./support/page.js";
import { serve } from "./support/server.js";

describe("a chat with the demo model", () => {
  let server;
  before(async () => (server = await serve()));
  after(() => server.kill());

  it("answers a question, and shows the call as a card", async (t) => {
    const { page, ask, answers, turn, shot } = await open(t, server.url);
    await page.getByRole("heading", { name: "What can I do for you?" }).waitFor();
    await shot("welcome");
    await ask("What time is it in Tokyo?");
    await answers(1);
    await turn(0)
      .locator(".prose", { hasText: /Tokyo: \d\d:\d\d:\d\d \(JST\)/ })
      .waitFor();
    const card = turn(0).getByRole("region", { name: "Call of City time" });
    const head = card.getByRole("button", { name: /City time get_city_time city: Tokyo Done/ });
    assert.equal(await head.getAttribute("aria-expanded"), "false");
    await head.click();
    await card.getByRole("group", { name: "Arguments" }).getByText('"Tokyo"').waitFor();
    await card.getByText(/^Tokyo: \d\d:\d\d:\d\d \(JST\)$/).waitFor();
    await turn(0)
      .getByText(/2 steps · 1 call · ~\d+ tokens · \$0/)
      .waitFor();
    await shot("answer");
  });

  it("knows what a follow-up means", async (t) => {
    const { ask, answers, turn } = await open(t, server.url);
    await ask("What time is it in Tokyo?");
    await answers(1);
    await ask("And the weather there?");
    await answers(2);
    await turn(1).locator(".prose", { hasText: "22C" }).waitFor();
    await turn(1).getByRole("region", { name: "Call of Weather" }).waitFor();
  });

  it("shows a call that failed, and why", async (t) => {
    const { ask, answers, turn, shot } = await open(t, server.url);
    await ask("What time is it in Atlantis?");
    await answers(1);
    const card = turn(0).getByRole("region", { name: "Call of City time" });
    await card.getByRole("heading", { name: "Failed" }).waitFor();
    await card.getByText(/unknown city `Atlantis`/).waitFor();
    await shot("failed");
  });

  it("shows a turn over time, and each step", async (t) => {
    const { page, ask, answers, turn, shot } = await open(t, server.url);
    await ask("What is the weather in Paris?");
    await answers(1);
    await turn(0).getByRole("button", { name: "Details" }).click();
    const panel = page.getByRole("complementary", { name: "Details of the turn" });
    const bars = panel.locator(".timeline li");
    assert.deepEqual(await bars.locator(".bar-name").allTextContents(), [
      "Step 1: the model",
      "get_weather",
      "Step 2: the model",
    ]);
    await shot("timeline");
    await panel.getByRole("tab", { name: "Wire" }).click();
    await panel.getByRole("heading", { name: "Step 2" }).waitFor();
    await panel.locator("summary", { hasText: "Response" }).first().click();
    await panel.getByText('"get_weather"').waitFor();
    await page.keyboard.press("Escape");
    await panel.waitFor({ state: "hidden" });
  });

  it("lists conversations: opens, exports, and deletes them after asking", async (t) => {
    const { page, ask, answers, turn, shot } = await open(t, server.url);
    await ask("Convert 100 C to Fahrenheit");
    await answers(1);
    const list = page.getByRole("navigation", { name: "Conversations" });
    await list.getByRole("link", { name: /Convert 100 C/ }).waitFor();
    assert.equal(await page.getByRole("heading", { level: 1 }).textContent(), "Convert 100 C to Fahrenheit");
    await page.getByRole("link", { name: "New conversation" }).click();
    await page.getByRole("heading", { name: "What can I do for you?" }).waitFor();
    await list.getByRole("link", { name: /Convert 100 C/ }).click();
    await turn(0).locator(".prose", { hasText: "212.0F" }).waitFor();

    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export this conversation" }).click(),
    ]);
    const [header, ...entries] = readFileSync(await download.path(), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    assert.equal(header.toolwright, "journal");
    assert.equal(entries[0].what.user.content[0].text, "Convert 100 C to Fahrenheit");

    const remove = list.getByRole("button", { name: "Delete Convert 100 C to Fahrenheit" });
    await list.getByRole("link", { name: /Convert 100 C/ }).hover();
    await remove.click();
    const asked = page.getByRole("dialog", { name: "Delete this conversation?" });
    await shot("delete");
    await asked.getByRole("button", { name: "Cancel" }).click();
    await list.getByRole("link", { name: /Convert 100 C/ }).hover();
    await remove.click();
    await asked.getByRole("button", { name: "Delete" }).click();
    await list.getByRole("link", { name: /Convert 100 C/ }).waitFor({ state: "detached" });
    await page.getByRole("heading", { name: "What can I do for you?" }).waitFor();
  });

  it("opens a page at any address", async (t) => {
    for (const address of ["/#/c/%E0%A4%A", "/#/tools/no-such-tool", "/#/nonsense/%", "/#"]) {
      const { page } = await open(t, server.url + address);
      await page.getByRole("heading", { level: 2, name: /What can I do for you|There is no tool/ }).waitFor();
    }
  });

  it("offers something to begin with", async (t) => {
    const { page, message } = await open(t, server.url);
    await page.getByRole("button", { name: "What time is it in Tokyo?", exact: true }).click();
    assert.equal(await message.inputValue(), "What time is it in Tokyo?");
  });
});
