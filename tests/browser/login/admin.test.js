// An admin reads every conversation, changes none, and each access is recorded for the owner to see.

import { describe, it } from "node:test";
import assert from "node:assert/strict";
import { SUITE_TIMEOUT, account, beginConversation, conversationId, probe, probeJson, start } from "./support/people.js";

const TITLE = "What time is it in Tokyo?";

describe("an admin", { timeout: SUITE_TIMEOUT }, () => {
  it("reads all conversations, and each access is recorded", async (t) => {
    const { server, signIn } = await start(t);
    const [ada, bob] = [await signIn("ada"), await signIn("bob")];
    const id = await beginConversation(ada);
    assert.equal(await bob.page.getByRole("link", { name: "All conversations" }).isVisible(), false);
    assert.equal((await probe(bob.page, "GET", "/api/conversations?all=true")).status, 403);
    assert.deepEqual(await probeJson(ada.page, "GET", "/api/audit"), []);

    const root = await signIn("root");
    await root.page.getByRole("link", { name: "All conversations" }).click();
    const row = root.page.getByRole("row", { name: new RegExp(TITLE.replace("?", "\\?")) });
    await row.getByText("Ada Lovelace").or(row.getByText("corp:ada")).waitFor();
    await root.assertAccessible("admin");
    await root.screenshot("admin");
    await row.getByRole("link").click();
    await root.turn(0).locator(".prose", { hasText: "JST" }).waitFor();
    assert.equal(conversationId(root.page), `@corp%3Aada/${id}`);
    assert.equal(await root.message.isVisible(), false, "there is nothing to write with");
    await root.assertAccessible("admin-conversation");
    await root.screenshot("admin-conversation");
    const path = `/api/conversations/${encodeURIComponent(conversationId(root.page))}`;
    for (const [method, rest, body] of [
      ["POST", "/prompt", { text: "Hello" }],
      ["POST", "/stop", {}],
      ["PATCH", "", { title: "Mine" }],
      ["POST", "/shares", { access: "read" }],
      ["DELETE", ""],
    ]) {
      assert.equal((await probe(root.page, method, path + rest, body)).status, 403, `${method} ${rest}`);
    }
    assert.equal(
      (await probe(root.page, "GET", "/api/conversations/@corp:ada%2Fnever")).status,
      404,
      "an admin learns what does not exist",
    );

    // Each access is recorded before it is answered: one more request, one more record.
    const records = await probeJson(ada.page, "GET", "/api/audit");
    assert.ok(records.length >= 1);
    for (const record of records) assert.deepEqual([record.admin, record.conversation], ["Grace Hopper", id]);
    assert.equal((await probe(root.page, "GET", `${path}/export`)).status, 200);
    assert.equal((await probeJson(ada.page, "GET", "/api/audit")).length, records.length + 1);
    assert.deepEqual(await probeJson(bob.page, "GET", "/api/audit"), []);
    assert.match(server.output(), /an admin's access .*corp:root/);
    await root.page.getByText("Read only").waitFor();

    await root.page.getByRole("link", { name: "All conversations" }).click();
    await root.page.getByText("Recorded accesses").click();
    await root.page.getByText(`@corp%3Aada/${id}`).first().waitFor();
    await root.screenshot("admin-audit");
    await account(ada.page, "Ada Lovelace").click();
    const dialog = ada.page.getByRole("dialog", { name: "Ada Lovelace" });
    await dialog.getByText("Read by admins").click();
    await dialog.getByText(/Grace Hopper/).first().waitFor();
    await ada.assertAccessible("account-accesses");
    await ada.screenshot("account-accesses");
  });
});
