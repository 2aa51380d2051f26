// Branches: messages that are edited, asked again, and switched between.

import { describe, it } from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { openPage } from "./support/page.js";
import { startServerFor } from "./support/server.js";
import { fakeVendor, gate } from "./support/fake-vendor.js";
import { endOf, versionsOf } from "../../crates/server/console/js/state/branches.js";

/** A model that answers with the texts of all user messages. */
const joiningVendor = (t) =>
  fakeVendor(t, (reply, body) => {
    const texts = body.messages.filter(({ role }) => role === "user").map(({ content }) => content);
    reply.text(`${texts.join(" ")}.`).end();
  });

/** Opens a conversation with these messages, each of which is answered. */
async function chat(t, texts, options) {
  const model = await joiningVendor(t);
  const server = await startServerFor(t, model.options);
  const opened = await openPage(t, server.url, options);
  for (const [index, text] of texts.entries()) {
    await opened.send(text);
    await opened.waitForTurns(index + 1);
  }
  return { ...opened, model };
}

const messages = (page) => page.locator(".turn .bubble p").allTextContents();
const answer = (turn, text) => turn.locator(".prose").getByText(text, { exact: true });
const bar = (turn) => ({
  edit: turn.getByRole("button", { name: "Edit" }),
  again: turn.getByRole("button", { name: "Ask again" }),
  previous: turn.getByRole("button", { name: "Previous version" }),
  next: turn.getByRole("button", { name: "Next version" }),
  version: (number, count) => turn.getByText(`Version ${number} of ${count}`),
});

describe("an edited message", () => {
  it("is answered on a branch of its own, and the other one stays", async (t) => {
    const { page, message, turn, model, screenshot, assertAccessible } = await chat(t, ["One", "Two", "Three"]);
    const { edit, previous, next, version } = bar(turn(1));
    assert.equal(await previous.count(), 0);
    await message.fill("A draft");
    await edit.click();
    assert.equal(await message.inputValue(), "Two");
    await page.getByText("Editing a message.").waitFor();
    await assertAccessible("editing");
    await screenshot("branch-edit");
    await message.fill("Zwei");
    await message.press("Enter");
    await answer(turn(1), "One Zwei.").waitFor();
    await version(2, 2).waitFor();
    assert.deepEqual(await messages(page), ["One", "Zwei"]);
    assert.equal(await message.inputValue(), "A draft");
    assert.equal(await page.getByText("Editing a message.").count(), 0);
    assert.equal(await next.getAttribute("aria-disabled"), "true");
    await assertAccessible("branches");
    await screenshot("branch-switch");

    // By keyboard, to the other branch and back.
    await previous.focus();
    await page.keyboard.press("Enter");
    await version(1, 2).waitFor();
    assert.deepEqual(await messages(page), ["One", "Two", "Three"]);
    await answer(turn(2), "One Two Three.").waitFor();
    assert.equal(await previous.evaluate((node) => node === document.activeElement), true);
    await next.click();
    await version(2, 2).waitFor();
    assert.deepEqual(await messages(page), ["One", "Zwei"]);

    // The next message continues the branch that is shown.
    await previous.click();
    await version(1, 2).waitFor();
    await message.fill("Four");
    await message.press("Enter");
    await answer(turn(3), "One Two Three Four.").waitFor();
    await message.fill("Five");
    await message.press("Enter");
    await answer(turn(4), "One Two Three Four Five.").waitFor();
    assert.equal(model.requests.length, 6);
    await page.reload();
    await answer(turn(4), "One Two Three Four Five.").waitFor();
    await bar(turn(1)).version(1, 2).waitFor();
  });

  it("can be the first one, and edited several times", async (t) => {
    const { page, message, turn } = await chat(t, ["One"]);
    for (const [number, text] of [
      [2, "Uno"],
      [3, "Un"],
    ]) {
      await bar(turn(0)).edit.click();
      await message.fill(text);
      await message.press("Enter");
      await bar(turn(0)).version(number, number).waitFor();
    }
    await bar(turn(0)).previous.click();
    await bar(turn(0)).version(2, 3).waitFor();
    assert.deepEqual(await messages(page), ["Uno"]);
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Export this conversation" }).click(),
    ]);
    const lines = readFileSync(await download.path(), "utf8").trim().split("\n");
    assert.equal(JSON.parse(lines[1]).what.user.content[0].text, "Uno");
  });

  it("is left as it is when the edit is cancelled", async (t) => {
    const { page, message, turn, send } = await chat(t, ["One"]);
    await message.fill("A draft");
    await bar(turn(0)).edit.click();
    await message.press("Escape");
    assert.equal(await message.inputValue(), "A draft");
    await bar(turn(0)).edit.click();
    await page.getByRole("button", { name: "Do not edit" }).click();
    assert.equal(await message.inputValue(), "A draft");
    await send("Two");
    await answer(turn(1), "One Two.").waitFor();
    assert.equal(await bar(turn(1)).previous.count(), 0);
  });

  it("is followed by other tabs", async (t) => {
    const { page, message, turn } = await chat(t, ["One", "Two"]);
    const other = await openPage(t, page.url());
    await answer(other.turn(1), "One Two.").waitFor();
    await bar(turn(0)).edit.click();
    await message.fill("Eins");
    await message.press("Enter");
    await answer(other.turn(0), "Eins.").waitFor();
    await bar(other.turn(0)).version(2, 2).waitFor();
    assert.deepEqual(await messages(other.page), ["Eins"]);
    // A page that shows another branch follows a new turn, too.
    await bar(other.turn(0)).previous.click();
    await bar(other.turn(0)).version(1, 2).waitFor();
    await message.fill("Zwei");
    await message.press("Enter");
    await answer(other.turn(1), "Eins Zwei.").waitFor();
    assert.deepEqual(await messages(other.page), ["Eins", "Zwei"]);
  });
});

describe("a message that is asked again", () => {
  it("has another answer, and the other one stays", async (t) => {
    const model = await fakeVendor(t, (reply) => reply.text(`Answer ${model.requests.length}.`).end());
    const server = await startServerFor(t, model.options);
    const { page, message, send, waitForTurns, turn } = await openPage(t, server.url);
    await send("One");
    await waitForTurns(1);
    await message.fill("A draft");
    await bar(turn(0)).again.click();
    await answer(turn(0), "Answer 2.").waitFor();
    await bar(turn(0)).version(2, 2).waitFor();
    assert.deepEqual(await messages(page), ["One"]);
    assert.equal(await message.inputValue(), "A draft");
    await bar(turn(0)).previous.click();
    await answer(turn(0), "Answer 1.").waitFor();
  });

  it("can be queued, and no other version is shown meanwhile", async (t) => {
    const more = gate();
    const model = await fakeVendor(t, async (reply, body) => {
      if (body.messages.at(-1).content === "Slow") await more.opened;
      reply.text(`Answer ${model.requests.length}.`).end();
    });
    const server = await startServerFor(t, model.options);
    const { page, send, waitForTurns, turn } = await openPage(t, server.url);
    await send("One");
    await waitForTurns(1);
    await bar(turn(0)).again.click();
    await bar(turn(0)).version(2, 2).waitFor();
    await send("Slow");
    await turn(1).getByText("Working…").waitFor();
    assert.equal(await bar(turn(0)).previous.getAttribute("aria-disabled"), "true");
    await bar(turn(0)).again.click();
    await page.getByRole("list", { name: "Queued messages" }).getByText("One").waitFor();
    more.open();
    await bar(turn(0)).version(3, 3).waitFor();
    assert.deepEqual(await messages(page), ["One"]);
  });
});

describe("the versions of a message", () => {
  for (const [name, options] of [
    ["phone", { width: 390, height: 700, touch: true }],
    ["dark", { dark: true }],
  ]) {
    it(`are shown in ${name}`, async (t) => {
      const long = "A question that is long enough to be broken into several lines on a narrow screen";
      const { message, turn, screenshot, assertAccessible } = await chat(t, ["One", long], options);
      await bar(turn(1)).edit.click();
      await screenshot(`branch-edit-${name}`);
      await message.fill(`${long}, again`);
      await message.press("Enter");
      await bar(turn(1)).version(2, 2).waitFor();
      await assertAccessible(name);
      await screenshot(`branch-switch-${name}`);
    });
  }

  it("are the branches that begin at the same place, and end where the newest one ends", () => {
    const branch = (first, after, last) => ({ first, after, last });
    const [a, b, c, d, e] = [
      branch("a", "", "b"),
      branch("c", "b", "d"),
      branch("e", "b", "f"),
      branch("g", "d", "h"),
      branch("i", "d", "j"),
    ];
    const branches = [a, b, c, d, e];
    assert.deepEqual(versionsOf(branches, { first: "e", after: "b" }), { versions: [b, c], index: 1 });
    assert.deepEqual(versionsOf(branches, { first: "x", after: "b" }), { versions: [], index: -1 });
    assert.deepEqual(versionsOf(branches, {}), { versions: [], index: -1 });
    assert.equal(endOf(branches, c), "f");
    assert.equal(endOf(branches, b), "j");
    assert.equal(endOf(branches, a), "f");
  });
});
