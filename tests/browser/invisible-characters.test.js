// Invisible and reordering characters are displayed as escapes.

import { describe, it } from "node:test";
import assert from "node:assert/strict";
import { openPage } from "./support/page.js";
import { startServerFor } from "./support/server.js";
import { fakeVendor, hasResults } from "./support/fake-vendor.js";

/** Without escapes, a browser displays `A-1042`. */
const ORDER = "A-\u202e2401\u202c";
const ORDER_SHOWN = "A-\\u202e2401\\u202c";

/** One character of each kind, with its escape. */
const KINDS = [
  ["\u0000", "\\u0000"],
  ["\u001b", "\\u001b"],
  ["\r", "\\u000d"],
  ["\u007f", "\\u007f"],
  ["\u0085", "\\u0085"],
  ["\u00ad", "\\u00ad"],
  ["\u034f", "\\u034f"],
  ["\u061c", "\\u061c"],
  ["\u115f", "\\u115f"],
  ["\u180e", "\\u180e"],
  ["\u200b", "\\u200b"],
  ["\u200d", "\\u200d"],
  ["\u200e", "\\u200e"],
  ["\u200f", "\\u200f"],
  ["\u2028", "\\u2028"],
  ["\u2029", "\\u2029"],
  ["\u202a", "\\u202a"],
  ["\u202e", "\\u202e"],
  ["\u2060", "\\u2060"],
  ["\u2066", "\\u2066"],
  ["\u2069", "\\u2069"],
  ["\u2800", "\\u2800"],
  ["\u3164", "\\u3164"],
  ["\ufe0f", "\\ufe0f"],
  ["\ufeff", "\\ufeff"],
  ["\ufff9", "\\ufff9"],
  ["\u{e0001}", "\\u{e0001}"],
  ["\u{e0041}", "\\u{e0041}"],
  ["\u{e0100}", "\\u{e0100}"],
  ["\ud800", "\\ud800"],
];
const SPLIT = KINDS.map(([raw]) => `x${raw}`).join("");
const SPLIT_SHOWN = KINDS.map(([, shown]) => `x${shown}`).join("");

/** Finds unescaped bidirectional controls on the page, in texts and in attributes that screen readers read. */
const unescaped = (page) =>
  page.evaluate(() => {
    const controls = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/;
    const found = controls.test(document.title) ? [document.title] : [];
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) if (controls.test(texts.currentNode.data)) found.push(texts.currentNode.data);
    for (const node of document.querySelectorAll("[title], [aria-label], [placeholder]"))
      for (const name of ["title", "aria-label", "placeholder"])
        if (controls.test(node.getAttribute(name) ?? "")) found.push(`${name}: ${node.getAttribute(name)}`);
    return found;
  });

describe("invisible characters", () => {
  it("in arguments are escaped in the approval and in the card", async (t) => {
    const model = await fakeVendor(t, (reply, body) => {
      if (hasResults(body)) reply.text("Done.").end();
      else reply.calls(["issue_refund", { order: ORDER, amount: 1, reason: SPLIT.replaceAll("\ud800", "") }]);
    });
    const server = await startServerFor(t, model.options);
    const { page, send, waitForTurns, turn, screenshot, assertAccessible } = await openPage(t, server.url);
    await send("Refund it");
    const approval = page.getByRole("group", { name: "Allow this call?" });
    await approval.waitFor();
    const [order, amount, reason] = await approval.locator("dd").allTextContents();
    assert.equal(order, ORDER_SHOWN);
    assert.equal(amount, "1");
    assert.equal(reason, SPLIT_SHOWN.replaceAll("\\ud800", ""));
    const marks = approval.locator("dd").first().locator(".escaped");
    assert.deepEqual(await marks.allTextContents(), ["\\u202e", "\\u202c"]);
    await marks.first().hover();
    await assertAccessible("hidden characters");
    await screenshot("hidden-approval");

    // An input cannot highlight characters, so the escaped value is displayed below it.
    await approval.getByRole("button", { name: "Edit…" }).click();
    const field = approval.getByRole("textbox", { name: "order" });
    assert.equal(await field.inputValue(), ORDER);
    await approval.getByText(`With hidden characters: ${ORDER_SHOWN}`, { exact: true }).waitFor();
    await screenshot("hidden-edit");
    await approval.getByText("JSON", { exact: true }).click();
    const json = approval.getByRole("textbox", { name: /Arguments/ });
    assert.ok((await json.inputValue()).includes(`"order": "${ORDER_SHOWN}"`), await json.inputValue());
    assert.equal(JSON.parse(await json.inputValue()).order, ORDER);
    await approval.getByText("Form", { exact: true }).click();
    assert.equal(await field.inputValue(), ORDER);
    // Inputs drop some characters; an unedited value is sent unchanged.
    await approval
      .getByText(`With hidden characters: ${SPLIT_SHOWN.replaceAll("\\ud800", "")}`, { exact: true })
      .waitFor();
    await field.fill("A-1042");
    await approval.getByText("With hidden characters: A-", { exact: false }).waitFor({ state: "hidden" });
    await approval.getByRole("button", { name: "Back" }).click();

    await approval.getByRole("button", { name: "Approve" }).click();
    await waitForTurns(1);
    const card = turn(0).getByRole("region", { name: "Call of Issue refund" });
    const head = card.getByRole("button", { name: /Done/ });
    assert.ok((await head.textContent()).includes(`order: ${ORDER_SHOWN}`));
    await head.click();
    assert.ok((await card.getByRole("group", { name: "Arguments" }).textContent()).includes(ORDER_SHOWN));
    await card.locator("pre.plain", { hasText: `for order ${ORDER_SHOWN}` }).waitFor();
    assert.deepEqual(await unescaped(page), []);
  });

  it("in a tool's name, title and description are escaped", async (t) => {
    const server = await startServerFor(t);
    const { page } = await openPage(t, server.url);
    await page.getByRole("heading", { name: "What can I do for you?" }).waitFor();
    await page.evaluate(async () => {
      const { callCard } = await import("/js/chat/call-card.js");
      const spec = {
        name: "delete\u2066all",
        title: "Read \u202ella\u202c",
        description: "Harmless\u200b: `rm\u2060 -rf`",
        inputSchema: {},
      };
      const view = callCard({ specOf: () => spec, mayApprove: () => true, decide: async () => {} });
      const call = {
        id: "1",
        tool: spec.name,
        argumentsText: '{"k\u202eey": [{"deep": "\u200f"}]}',
        state: "waiting",
        approval: { tool: spec, token: {}, arguments: { "k\u202eey": [{ deep: "\u200f" }] } },
        millis: null,
      };
      view.update(call);
      // Every event redraws the card.
      view.update(call);
      document.getElementById("main").replaceChildren(view.node);
    });
    const card = page.getByRole("region", { name: "Call of Read \\u202ella\\u202c" });
    assert.equal(await card.locator(".call-title").textContent(), "Read \\u202ella\\u202c");
    assert.equal(await card.locator(".call-name").textContent(), "delete\\u2066all");
    assert.equal(await card.locator(".approval > p").first().textContent(), "Harmless\\u200b: rm\\u2060 -rf");
    assert.equal(await card.locator("dt").textContent(), "k\\u202eey");
    assert.equal(await card.locator("dd").textContent(), '[{"deep":"\\u200f"}]');
    assert.deepEqual(await unescaped(page), []);
  });

  it("of every kind are escaped, and nothing else is", async (t) => {
    const server = await startServerFor(t);
    const { page } = await openPage(t, server.url);
    await page.getByRole("heading", { name: "What can I do for you?" }).waitFor();
    const shown = (text) =>
      page.evaluate(async (text) => {
        const { h } = await import("/js/ui/dom.js");
        return h("p", {}, text).textContent;
      }, text);
    assert.equal(await shown(SPLIT), SPLIT_SHOWN);
    const plain = "a\tb\nc é ñ 漢字 שלום العربية 😀 – “quoted” 1 000 \\u202e";
    assert.equal(await shown(plain), plain);
  });

  it("in a conversation's title are escaped in the list, the header and the dialog for deletion", async (t) => {
    const server = await startServerFor(t);
    const { page, send, waitForTurns, turn } = await openPage(t, server.url);
    await send(`Weather in ${ORDER}\u{e0041} 👩‍💻❤️`);
    await waitForTurns(1);
    const title = `Weather in ${ORDER_SHOWN}\\u{e0041} 👩‍💻❤️`;
    const list = page.getByRole("navigation", { name: "Conversations" });
    await list.getByRole("link", { name: title }).waitFor();
    assert.equal(await page.getByRole("heading", { level: 1 }).textContent(), title);
    assert.ok((await page.title()).startsWith(title));
    assert.equal(await turn(0).locator(".bubble p").textContent(), title);
    await list.getByRole("link", { name: title }).hover();
    await list.getByRole("button", { name: `Delete ${title}` }).click();
    await page.getByRole("dialog").getByText(`“${title}” and all its calls`).waitFor();
    assert.deepEqual(await unescaped(page), []);
  });

  it("in an answer are escaped if they reorder or hide text; emoji stay intact", async (t) => {
    const answer = [
      `**Pay \u202e0001\u202c** \u2067x\u2069 and${"\u{e0068}\u{e0069}"} 👩‍👩‍👧 ❤️ می‌خواهم`,
      "[a\u202eb](https://good.example)",
      "```\nrm\u200b -rf \u202e/\n```",
    ].join("\n\n");
    const model = await fakeVendor(t, (reply) => {
      for (const piece of answer) reply.text(piece);
      reply.end();
    });
    const server = await startServerFor(t, model.options);
    const { page, send, waitForTurns, turn, screenshot } = await openPage(t, server.url);
    await send("How much?");
    await waitForTurns(1);
    const prose = turn(0).locator(".prose");
    assert.equal(
      await prose.locator("p").first().textContent(),
      "Pay \\u202e0001\\u202c \\u2067x\\u2069 and\\u{e0068}\\u{e0069} 👩‍👩‍👧 ❤️ می‌خواهم",
    );
    assert.equal(await prose.locator("strong .escaped").count(), 2);
    assert.equal(await prose.locator("a").textContent(), "a\\u202eb");
    assert.equal(await prose.locator("pre").textContent(), "rm\\u200b -rf \\u202e/");
    assert.deepEqual(await unescaped(page), []);
    await screenshot("hidden-answer");
  });
});

describe("the dialog before a tool is called", () => {
  for (const [width, dark] of [
    [1200, false],
    [375, true],
  ]) {
    it(`shows the arguments as they will be sent, ${width} wide`, async (t) => {
      const server = await startServerFor(t);
      const { page, screenshot, assertAccessible } = await openPage(t, `${server.url}/#/tools/issue_refund`, {
        width,
        dark,
      });
      const sent = [];
      page.on("request", (it) => it.method() === "POST" && sent.push(it.postDataJSON()));
      await page.getByRole("textbox", { name: /order/ }).fill(ORDER);
      await page.getByRole("textbox", { name: /amount/ }).fill("5");
      await page.getByRole("button", { name: "Call", exact: true }).click();
      const dialog = page.getByRole("dialog", { name: "Call Issue refund?" });
      await dialog.waitFor();
      assert.deepEqual(await dialog.locator("dt").allTextContents(), ["order", "amount"]);
      assert.deepEqual(await dialog.locator("dd").allTextContents(), [ORDER_SHOWN, "5"]);
      await assertAccessible("the dialog");
      await screenshot(`confirm-call-${width}`);
      assert.deepEqual(await unescaped(page), []);
      await dialog.getByRole("button", { name: "Call it" }).click();
      await page.getByText(`Refunded 5.00 EUR for order ${ORDER_SHOWN}`).waitFor();
      assert.deepEqual(sent.at(-1), { arguments: { order: ORDER, amount: 5 }, confirmed: true });
    });
  }

  it("keeps the beginning of long arguments and the buttons visible", async (t) => {
    const server = await startServerFor(t);
    const { page, screenshot, assertAccessible } = await openPage(t, `${server.url}/#/tools/issue_refund`, {
      height: 600,
    });
    await page.getByText("JSON", { exact: true }).click();
    const args = { order: "A-1", amount: 5, reason: "A long reason.\n".repeat(200) };
    await page.getByRole("textbox", { name: /Arguments/ }).fill(JSON.stringify(args));
    await page.getByRole("button", { name: "Call", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Call Issue refund?" });
    await dialog.waitFor();
    for (const seen of [dialog.locator("dd").first(), dialog.getByRole("button", { name: "Call it" })]) {
      const { y, height } = await seen.boundingBox();
      assert.ok(y >= 0 && y + height <= 600, `at ${y}`);
    }
    assert.equal(await dialog.locator("dd").last().textContent(), args.reason);
    await assertAccessible("long arguments");
    await screenshot("confirm-call-long");
  });
});
