// The tools page and the prompts page.

import { after, before, describe, it } from "node:test";
import assert from "node:assert/strict";
import { openPage } from "./support/page.js";
import { startServer, startServerFor } from "./support/server.js";

describe("the tools page", () => {
  let server;
  before(async () => (server = await startServer()));
  after(() => server.kill());

  it("calls a tool from its form", async (t) => {
    const { page, screenshot } = await openPage(t, `${server.url}/#/tools`);
    await page.getByRole("searchbox", { name: "Find a tool" }).fill("weather");
    await page.getByRole("link", { name: /Weather/ }).click();
    await page.getByRole("button", { name: "Call" }).click();
    await page.getByText("A value is needed.").waitFor();
    await page.getByRole("textbox", { name: "city" }).fill("Tokyo");
    await page.getByRole("button", { name: "Call" }).click();
    await page.getByText("Tokyo: Rainy, 22C / 72F, 90% humidity").waitFor();
    await screenshot("tool");
  });

  it("ranks the tools by a question, with their scores", async (t) => {
    const { page, screenshot, assertAccessible } = await openPage(t, `${server.url}/#/tools`);
    const box = page.getByRole("searchbox", { name: "Find a tool" });
    const links = page.locator(".master-list a");
    await links.first().waitFor();
    const all = await links.count();
    await box.fill("Do I get my money back? How hot is it?");
    await page.locator(".score").first().waitFor();
    assert.match(await links.nth(0).textContent(), /issue_refund|convert_temperature|get_weather/);
    const scores = (await page.locator(".score").allTextContents()).map((text) => Number(text.replace("score ", "")));
    assert.ok(scores.length < all && scores.every((score) => score > 0), scores.join());
    await page.locator("#status", { hasText: "match" }).waitFor({ state: "attached" });
    await assertAccessible("search");
    await screenshot("tool-search");
    await links.first().click();
    await page.getByRole("button", { name: "Call" }).waitFor();
    assert.equal(await page.locator(".score").count(), scores.length, "the result stays while a tool is opened");
    await box.fill("zebra");
    await page.getByText("No tool matches.").waitFor();
    await box.fill("");
    await page.locator(".score").first().waitFor({ state: "detached" });
    assert.equal(await links.count(), all);
  });

  it("also finds a tool by a part of a word, without a score", async (t) => {
    const { page } = await openPage(t, `${server.url}/#/tools`);
    await page.getByRole("searchbox", { name: "Find a tool" }).fill("temp");
    await page.locator("#status", { hasText: "1 tool matches." }).waitFor({ state: "attached" });
    await page.getByRole("link", { name: /Convert temperature/ }).waitFor();
    assert.equal(await page.locator(".score").count(), 0);
  });

  it("asks the server once for what is typed in one go, and shows an error", async (t) => {
    const { page } = await openPage(t, server.url);
    await page.clock.install();
    const questions = [];
    await page.route("**/api/tools?*", (route) => {
      questions.push(new URL(route.request().url()).searchParams.get("search"));
      return route.fulfill({ status: 500, json: { error: { kind: "tools", message: "the tools cannot be listed" } } });
    });
    await page.goto(`${server.url}/#/tools`);
    await page.locator(".master-list a").first().waitFor();
    await page.getByRole("searchbox", { name: "Find a tool" }).pressSequentially("weather");
    assert.deepEqual(questions, []);
    await page.clock.runFor(1000);
    await page.locator(".master-list .error", { hasText: "the tools cannot be listed" }).waitFor();
    assert.deepEqual(questions, ["weather"]);
    await page.getByRole("link", { name: /Weather/ }).waitFor();
  });

  it("shows warnings about the tools of attached servers", async (t) => {
    const attached = await startServerFor(t, { settings: '[mcp.servers.gone]\ncommand = "no-such-program"\n' });
    const { page } = await openPage(t, `${attached.url}/#/tools`);
    await page.getByText("cannot start `no-such-program`").waitFor();
  });

  it("takes the same arguments as JSON", async (t) => {
    const { page } = await openPage(t, `${server.url}/#/tools/convert_temperature`);
    await page.getByRole("textbox", { name: /value/ }).fill("100");
    await page.getByText("JSON", { exact: true }).click();
    const raw = page.getByRole("textbox", { name: /Arguments/ });
    assert.deepEqual(JSON.parse(await raw.inputValue()), { value: 100 });
    await raw.fill('{"value": 100, "from_unit": "C"}');
    await page.getByRole("button", { name: "Call" }).click();
    await page.getByText("100.0C = 212.0F").waitFor();
  });

  it("asks for confirmation of a call that needs approval", async (t) => {
    const { page } = await openPage(t, `${server.url}/#/tools/issue_refund`);
    await page.getByRole("textbox", { name: /order/ }).fill("T-1");
    await page.getByRole("textbox", { name: /amount/ }).fill("5");
    await page.getByRole("button", { name: "Call", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Call Issue refund?" });
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("Not called.").waitFor();
    await page.getByRole("button", { name: "Call", exact: true }).click();
    await dialog.getByRole("button", { name: "Call it" }).click();
    await page.getByText("Refunded 5.00 EUR for order T-1 (customer request)").waitFor();
  });

  it("shows the schema for each provider, and its losses", async (t) => {
    const { page, screenshot } = await openPage(t, `${server.url}/#/tools/issue_refund`);
    await page.getByRole("combobox", { name: "As sent to" }).selectOption("gemini");
    const losses = page.getByRole("group", { name: "Losses" });
    await losses.getByRole("cell", { name: "/properties/reason" }).waitFor();
    await page.getByText("The schema that it receives").click();
    await page.getByRole("group", { name: "The schema that it receives" }).getByText('"propertyOrdering"').waitFor();
    await screenshot("lowering");
  });

  it("shows that a tool failed", async (t) => {
    const { page } = await openPage(t, `${server.url}/#/tools/get_city_time`);
    await page.getByRole("textbox", { name: "city" }).fill("Atlantis");
    await page.getByRole("textbox", { name: "city" }).press("Enter");
    await page.locator(".outcome", { hasText: "failed" }).waitFor();
    await page.getByText(/unknown city `Atlantis`/).waitFor();
  });
});

describe("the prompts page", () => {
  let server;
  before(async () => (server = await startServer()));
  after(() => server.kill());

  it("fills in a prompt and sends it with a message", async (t) => {
    const { page, send, waitForTurns, turn, screenshot } = await openPage(t, `${server.url}/#/prompts`);
    const prompt = page.getByRole("form", { name: "Summarize" });
    await prompt.getByRole("textbox", { name: /topic/ }).fill("bees");
    await prompt.getByRole("button", { name: "Preview" }).click();
    await prompt.getByText(/content on bees concisely, in 100 words/).waitFor();
    await screenshot("prompt");
    await prompt.getByRole("button", { name: "Insert into the chat" }).click();
    await page.locator(".attached-prompt", { hasText: "Summarize" }).waitFor();
    await send("What time is it in Tokyo?");
    await waitForTurns(1);
    await page.locator(".prose", { hasText: /content on bees concisely/ }).waitFor();
    await page.locator(".attached-prompt", { hasText: "Summarize" }).waitFor({ state: "hidden" });
    assert.ok(await turn(0).isVisible());
  });
});
