// Approval by role: the owner of a conversation and those who take part in it cannot approve, a manager can.

import { describe, it } from "node:test";
import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { SUITE_TIMEOUT, acceptLink, conversationId, createLink, probe, probeJson, start } from "./support/people.js";

const TITLE = "Refund order A-1042, 20 euros";

describe("a call that managers approve", { timeout: SUITE_TIMEOUT }, () => {
  it("waits for a manager, whoever else is connected", async (t) => {
    const { signIn, store } = await start(t, { more: '[tools.issue_refund]\napprovers = "role:manager"\n' });
    const [ada, bob] = [await signIn("ada"), await signIn("bob")];
    await ada.send(TITLE);
    const waiting = ada.page.getByRole("group", { name: "This call waits for others" });
    await waiting.getByText("Decided by role:manager").waitFor();
    assert.equal(await waiting.getByRole("button").count(), 0, "there is nothing to decide with");
    await ada.page.getByText("Waits for others", { exact: true }).waitFor();
    await ada.page.getByText("A call waits for the decision of others").waitFor();
    await ada.assertAccessible("approval-of-others");
    await ada.screenshot("approval-of-others");

    // Being connected, and being the owner, are no right.
    await acceptLink(bob.page, await createLink(ada.page, TITLE, "participate"));
    await bob.page.getByRole("group", { name: "This call waits for others" }).waitFor();
    for (const person of [ada, bob]) {
      const path = `/api/conversations/${conversationId(person.page)}`;
      const { pending } = await probeJson(person.page, "GET", path);
      const decision = { call: pending[0].call.id, token: pending[0].token, verdict: "approve" };
      assert.equal((await probe(person.page, "POST", `${path}/decide`, decision)).status, 403);
      assert.deepEqual(await probeJson(person.page, "GET", "/api/approvals"), []);
      assert.equal(await person.page.getByRole("link", { name: /^Approvals/ }).isVisible(), false);
    }

    const mia = await signIn("mia");
    await mia.page.getByRole("link", { name: "Approvals 1" }).click();
    const call = mia.page.getByRole("region", { name: "Issue refund" });
    await call.getByText("For Ada Lovelace").waitFor();
    assert.deepEqual(await call.locator("dd").allTextContents(), ["A-1042", "20", "customer request"]);
    await mia.assertAccessible("approvals");
    await mia.screenshot("approvals");
    // She sees the call, and nothing else of the conversation.
    assert.equal((await probe(mia.page, "GET", "/api/conversations")).text, "[]");
    await call.getByRole("button", { name: "Approve", exact: true }).click();
    await mia.page.getByRole("heading", { name: "Nothing waits for you" }).waitFor();
    await mia.screenshot("approvals-none");
    await ada.turn(0).locator(".prose", { hasText: "Refunded 20.00 EUR" }).waitFor();
    await ada.waitForTurns(1);
    // The journal records who has approved; neither the owner nor an export is shown it.
    const database = new DatabaseSync(store.url.replace(/^sqlite:/, ""), { readOnly: true });
    const entries = database.prepare("SELECT entry FROM entries").all().map(({ entry }) => JSON.parse(entry));
    database.close();
    assert.deepEqual(
      entries.filter(({ what }) => what.decided).map(({ principal }) => principal.subject),
      ["corp:mia"],
    );
  });
});
