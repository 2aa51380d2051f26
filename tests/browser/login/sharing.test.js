// Sharing by link: to read, to take part, and the end of it, for a page that is open too.

import { describe, it } from "node:test";
import assert from "node:assert/strict";
import {
  acceptLink,
  beginConversation,
  conversationId,
  createLink,
  endLink,
  openShareDialog,
  probe,
  start,
  SUITE_TIMEOUT,
} from "./support/people.js";

const TITLE = "What time is it in Tokyo?";
const link = (page) => page.getByRole("navigation", { name: "Conversations" }).getByRole("link", { name: TITLE });
const missing = (page) => page.getByRole("heading", { name: "There is no such conversation" });

describe("a conversation that is shared by a link", { timeout: SUITE_TIMEOUT }, () => {
  it("can be read until the link is ended, and no longer by a page that is open", async (t) => {
    const { signIn } = await start(t);
    const [ada, bob] = [await signIn("ada"), await signIn("bob")];
    await beginConversation(ada);
    const address = await createLink(ada.page, TITLE, "read");

    await bob.page.goto(address);
    await bob.page.getByRole("heading", { name: "A conversation is shared with you" }).waitFor();
    await bob.assertAccessible("share-accept");
    await bob.screenshot("share-accept");
    await bob.page.getByRole("button", { name: "Open it" }).click();
    await bob.turn(0).locator(".prose", { hasText: "JST" }).waitFor();
    assert.equal(bob.page.url().includes(address.split("/").at(-1)), false, "the token does not stay in the address");
    await bob.page.goBack().catch(() => null);
    assert.equal(bob.page.url().includes("share"), false, "nor in the history");
    await link(bob.page).click();
    await bob.turn(0).locator(".prose", { hasText: "JST" }).waitFor();
    assert.equal(await bob.message.isVisible(), false, "there is nothing to write with");
    await bob.waitForTurns(1);
    assert.equal(await bob.page.getByRole("button", { name: /^(Edit|Ask again)$/ }).count(), 0);
    const id = conversationId(bob.page);
    assert.match(id, /^@~/);
    assert.equal((await probe(bob.page, "POST", `/api/conversations/${id}/prompt`, { text: "Hello" })).status, 403);
    assert.equal((await probe(bob.page, "GET", `/api/conversations/${id}/export`)).status, 200);
    await bob.page.getByText("Here: Ada Lovelace, Bob Builder").waitFor();
    await ada.page.getByText("Here: Ada Lovelace, Bob Builder").waitFor();

    // What happens next is seen at once.
    await ada.send("What is the weather in London?");
    await bob.turn(1).locator(".prose", { hasText: "Cloudy" }).waitFor();
    await bob.waitForTurns(2);
    await bob.assertAccessible("shared-read");
    await bob.screenshot("shared-read");

    const dialog = await openShareDialog(ada.page, TITLE);
    await dialog.getByText("Accepted by Bob Builder").waitFor();
    await ada.assertAccessible("share-dialog");
    await ada.screenshot("share-dialog");
    await dialog.getByRole("button", { name: "Close" }).click();
    await endLink(ada.page, TITLE);
    await missing(bob.page).waitFor();
    await bob.page.locator(".turn").first().waitFor({ state: "detached" });
    await link(bob.page).waitFor({ state: "detached" });
    assert.equal(await bob.message.isVisible(), false, "what is written here would begin a conversation of one's own");
    await bob.screenshot("shared-ended");
    for (const path of ["", "/export", "/events"]) {
      const ended = await probe(bob.page, "GET", `/api/conversations/${id}${path}`);
      assert.deepEqual(ended, await probe(bob.page, "GET", `/api/conversations/@~never-created${path}`));
      assert.equal(ended.status, 404);
    }
    await bob.page.goto(address);
    await bob.page.getByRole("button", { name: "Open it" }).click();
    await bob.page.getByRole("heading", { name: "This link does not work" }).waitFor();
    await bob.screenshot("share-link-ended");
    await ada.page.getByText("Here: Ada Lovelace").waitFor({ state: "detached" });
  });

  it("can be taken part in until the link is ended", async (t) => {
    const { signIn } = await start(t);
    const [ada, bob] = [await signIn("ada"), await signIn("bob")];
    const id = await beginConversation(ada);
    await acceptLink(bob.page, await createLink(ada.page, TITLE, "participate"));
    await bob.turn(0).locator(".prose", { hasText: "JST" }).waitFor();
    await bob.send("What is the weather in London?");
    for (const person of [ada, bob]) {
      await person.turn(1).locator(".prose", { hasText: "Cloudy" }).waitFor();
      await person.waitForTurns(2);
    }
    await bob.screenshot("shared-participate");
    // Only the owner renames, shares and deletes it.
    const shared = conversationId(bob.page);
    for (const [method, path, body] of [
      ["PATCH", "", { title: "Mine" }],
      ["POST", "/shares", { access: "read" }],
      ["GET", "/shares"],
      ["DELETE", ""],
    ]) {
      assert.equal((await probe(bob.page, method, `/api/conversations/${shared}${path}`, body)).status, 403, method);
    }

    await endLink(ada.page, TITLE);
    await missing(bob.page).waitFor();
    const refused = await probe(bob.page, "POST", `/api/conversations/${shared}/prompt`, { text: "Still here?" });
    assert.equal(refused.status, 404);
    const exported = await probe(ada.page, "GET", `/api/conversations/${id}/export`);
    assert.match(exported.text, /weather in London/);
    assert.doesNotMatch(exported.text, /Still here/);
  });
});
