// The chat page: messages, follow-ups, details, export and deletion of conversations.

import { after, before, describe, it } from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { openPage } from "./support/page.js";
import { startServer } from "./support/server.js";

describe("a chat with the demo model", () => {
  let server;
  before(async () => (server = await startServer()));
  after(() => server.kill());

  it("answers a question, and shows the call as a card", async (t) => {
    const { page, send, waitForTurns, turn, screenshot } = await openPage(t, server.url);
    await page.getByRole("heading", { name: "What can I do for you?" }).waitFor();
    await screenshot("welcome");
    await send("What time is it in Tokyo?");
    await waitForTurns(1);
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
      .getByText(/2 steps · 1 call · ~[\d,]+ tokens · \$0/)
      .waitFor();
    await screenshot("answer");
  });

  it("answers a follow-up", async (t) => {
    const { send, waitForTurns, turn } = await openPage(t, server.url);
    await send("What time is it in Tokyo?");
    await waitForTurns(1);
    await send("And the weather there?");
    await waitForTurns(2);
    await turn(1).locator(".prose", { hasText: "22C" }).waitFor();
    await turn(1).getByRole("region", { name: "Call of Weather" }).waitFor();
  });

  it("shows a call that failed, and why", async (t) => {
    const { send, waitForTurns, turn, screenshot } = await openPage(t, server.url);
    await send("What time is it in Atlantis?");
    await waitForTurns(1);
    const card = turn(0).getByRole("region", { name: "Call of City time" });
    await card.getByRole("heading", { name: "Failed" }).waitFor();
    await card.getByText(/unknown city `Atlantis`/).waitFor();
    await screenshot("failed");
  });

  it("shows the timeline of a turn, and the requests of each step", async (t) => {
    const { page, send, waitForTurns, turn, screenshot } = await openPage(t, server.url);
    await send("What is the weather in Paris?");
    await waitForTurns(1);
    await turn(0).getByRole("button", { name: "Details" }).click();
    const panel = page.getByRole("complementary", { name: "Details of the turn" });
    const bars = panel.locator(".timeline li");
    assert.deepEqual(await bars.locator(".bar-name").allTextContents(), [
      "Step 1: the model",
      "get_weather",
      "Step 2: the model",
    ]);
    await screenshot("timeline");
    await panel.getByRole("tab", { name: "Wire" }).click();
    await panel.getByRole("heading", { name: "Step 2" }).waitFor();
    await panel.locator("summary", { hasText: "Response" }).first().click();
    await panel.getByText('"get_weather"').waitFor();
    await page.keyboard.press("Escape");
    await panel.waitFor({ state: "hidden" });
  });

  it("lists conversations: opens, exports, and deletes them after a confirmation", async (t) => {
    const { page, send, waitForTurns, turn, screenshot } = await openPage(t, server.url);
    await send("Convert 100 C to Fahrenheit");
    await waitForTurns(1);
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
    const dialog = page.getByRole("dialog", { name: "Delete this conversation?" });
    await screenshot("delete");
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await list.getByRole("link", { name: /Convert 100 C/ }).hover();
    await remove.click();
    await dialog.getByRole("button", { name: "Delete" }).click();
    await list.getByRole("link", { name: /Convert 100 C/ }).waitFor({ state: "detached" });
    await page.getByRole("heading", { name: "What can I do for you?" }).waitFor();
  });

  it("opens a page at any address", async (t) => {
    const headings = /What can I do for you|There is no (tool|such conversation|such page)/;
    for (const address of ["/#/c/%E0%A4%A", "/#/tools/no-such-tool", "/#/nonsense/%", "/#"]) {
      const { page } = await openPage(t, server.url + address);
      await page.getByRole("heading", { level: 2, name: headings }).waitFor();
    }
  });

  it("says so if an address has no page", async (t) => {
    const { page } = await openPage(t, `${server.url}/#/nonsense`);
    await page.getByRole("heading", { name: "There is no such page" }).waitFor();
    await page.getByRole("link", { name: "Start a conversation" }).click();
    await page.getByRole("heading", { level: 2, name: /What can I do for you/ }).waitFor();
  });

  it("speaks of the model in words for people", async (t) => {
    const { page } = await openPage(t, server.url);
    await page.getByRole("heading", { level: 2, name: /What can I do for you/ }).waitFor();
    const text = await page.locator("main").innerText();
    assert.doesNotMatch(text, /chosen by|is set|--model/);
  });

  it("shows that an unknown conversation does not exist, and starts another", async (t) => {
    const { page, send, waitForTurns, turn, screenshot, assertAccessible } = await openPage(
      t,
      `${server.url}/#/c/no-such-conversation`,
    );
    await page.getByRole("heading", { name: "There is no such conversation" }).waitFor();
    await page.getByText(/belongs to another person/).waitFor();
    assert.equal(await page.getByRole("button", { name: "Export this conversation" }).isVisible(), false);
    await assertAccessible("an unknown conversation");
    await screenshot("unknown");
    await send("What time is it in Tokyo?");
    await waitForTurns(1);
    await turn(0).locator(".prose", { hasText: "JST" }).waitFor();
    assert.match(await page.evaluate(() => location.hash), /^#\/c\/web-/);
    await page.getByRole("heading", { name: "There is no such conversation" }).waitFor({ state: "detached" });

    // The server may also respond with 404.
    const error = { error: { kind: "unknown", message: "there is no such conversation" } };
    await page.route("**/api/conversations/refused", (route) => route.fulfill({ status: 404, json: error }));
    await page.goto(`${server.url}/#/c/refused`);
    await page.getByRole("heading", { name: "There is no such conversation" }).waitFor();
    await page.getByRole("link", { name: "Start a new one" }).click();
    await page.getByRole("heading", { name: "What can I do for you?" }).waitFor();
  });

  it("shows that the conversation was deleted in another tab", async (t) => {
    const one = await openPage(t, server.url);
    await one.send("What time is it in Tokyo?");
    await one.waitForTurns(1);
    const address = one.page.url();
    const two = await openPage(t, address);
    await two.waitForTurns(1);
    const id = decodeURIComponent(address.split("/c/")[1]);
    const deleted = await fetch(`${server.url}/api/conversations/${id}`, { method: "DELETE" });
    assert.equal(deleted.status, 204);
    for (const { page } of [one, two]) {
      await page.getByRole("heading", { name: "There is no such conversation" }).waitFor();
      assert.equal(await page.locator(".turn").count(), 0);
    }
  });

  it("suggests messages made from the tools' examples, each of which leads to a call", async (t) => {
    const { page, turn, screenshot } = await openPage(t, server.url);
    const suggestions = page.locator(".suggestion");
    await suggestions.first().waitFor();
    await screenshot("suggestions");
    const calls = [];
    for (const text of await suggestions.allTextContents()) {
      await page.getByRole("button", { name: text, exact: true }).click();
      await turn(0)
        .getByRole("button", { name: /Done|Needs your decision/ })
        .waitFor();
      calls.push([text, await turn(0).locator(".call-name").textContent()]);
      await page.getByRole("link", { name: "New conversation" }).click();
    }
    assert.deepEqual(calls, [
      ["Tell me the current date and time in the server's time zone", "get_current_time"],
      ["Tell me the current time in Tokyo", "get_city_time"],
      ["Refund order A-1042 to the customer's card: amount 20", "issue_refund"],
      ["Tell me the weather in Tokyo", "get_weather"],
    ]);
  });

  it("sends a suggestion when it is clicked, and keeps the draft", async (t) => {
    const { page, message, waitForTurns, turn } = await openPage(t, server.url);
    await message.fill("Something else");
    await page.getByRole("button", { name: "Tell me the current time in Tokyo", exact: true }).click();
    await waitForTurns(1);
    assert.equal(await turn(0).locator(".bubble p").textContent(), "Tell me the current time in Tokyo");
    await turn(0).locator(".prose", { hasText: "JST" }).waitFor();
    assert.equal(await message.inputValue(), "Something else");
  });
});
