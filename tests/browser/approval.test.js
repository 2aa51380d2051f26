// Approvals: approve, edit, deny.

import { after, before, describe, it } from "node:test";
import assert from "node:assert/strict";
import { openPage } from "./support/page.js";
import { startServer, startServerFor } from "./support/server.js";
import { fakeVendor, hasResults } from "./support/fake-vendor.js";

describe("a refund", () => {
  let server;
  before(async () => (server = await startServer()));
  after(() => server.kill());

  const refund = async (t, order) => {
    const opened = await openPage(t, server.url);
    await opened.send(`Refund order ${order}, 20 euros`);
    const card = opened.page.getByRole("region", { name: "Call of Issue refund" });
    const approval = card.getByRole("group", { name: "Allow this call?" });
    await approval.waitFor();
    return { ...opened, card, approval };
  };

  it("shows exactly what will run, and runs when it is approved", async (t) => {
    const { approval, card, waitForTurns, turn, screenshot } = await refund(t, "A-1042");
    assert.deepEqual(await approval.locator("dd").allTextContents(), ["A-1042", "20", "customer request"]);
    await approval.getByText("This cannot be undone.").waitFor();
    await screenshot("approval");
    await approval.getByRole("button", { name: "Approve" }).click();
    await waitForTurns(1);
    await approval.waitFor({ state: "detached" });
    await card.getByRole("button", { name: /Done/ }).click();
    await card.getByText("Refunded 20.00 EUR for order A-1042 (customer request)").waitFor();
    await turn(0).locator(".prose", { hasText: "Refunded 20.00 EUR" }).waitFor();
  });

  it("does not run when it is denied, and the model reads why", async (t) => {
    const { approval, card, waitForTurns, turn, screenshot } = await refund(t, "A-2000");
    await approval.getByRole("button", { name: "Deny…" }).click();
    await approval.getByRole("textbox", { name: /Why not\?/ }).fill("the order is too old");
    await screenshot("deny");
    await approval.getByRole("button", { name: "Deny", exact: true }).click();
    await waitForTurns(1);
    await card.getByRole("button", { name: /Denied/ }).click();
    await card.locator("pre", { hasText: "the order is too old" }).waitFor();
    await turn(0).locator(".prose", { hasText: "denied" }).waitFor();
  });

  it("runs with arguments that were edited in a form", async (t) => {
    const { approval, card, waitForTurns, screenshot } = await refund(t, "A-3000");
    await approval.getByRole("button", { name: "Edit…" }).click();
    const amount = approval.getByRole("textbox", { name: /amount/ });
    assert.equal(await amount.inputValue(), "20");
    await amount.fill("many");
    await approval.getByRole("button", { name: "Approve with changes" }).click();
    await approval.getByText("This is not a number.").waitFor();
    await amount.fill("12.5");
    await approval.getByText("This is not a number.").waitFor({ state: "hidden" });
    await approval.getByRole("textbox", { name: /reason/ }).fill("broken in transit");
    await screenshot("edit");
    await approval.getByRole("button", { name: "Approve with changes" }).click();
    await waitForTurns(1);
    await card.getByRole("button", { name: /Done/ }).click();
    await card.getByRole("heading", { name: "Changed to" }).waitFor();
    await card.getByText("Refunded 12.50 EUR for order A-3000 (broken in transit)").waitFor();
  });

  it("is still pending after a reload", async (t) => {
    const { page, approval, waitForTurns, turn } = await refund(t, "A-4000");
    await page.reload();
    await approval.waitFor();
    assert.deepEqual(await approval.locator("dd").allTextContents(), ["A-4000", "20", "customer request"]);
    await approval.getByRole("button", { name: "Approve" }).click();
    await waitForTurns(1);
    await turn(0).locator(".prose", { hasText: "A-4000" }).waitFor();
  });

  it("is no longer pending when the turn is stopped", async (t) => {
    const { page, approval, waitForTurns } = await refund(t, "A-5000");
    await page.getByRole("button", { name: "Stop" }).click();
    await approval.waitFor({ state: "detached" });
    await waitForTurns(1);
  });
});

describe("several calls that need approval", () => {
  it("are decided one by one, and the turn continues after the last", async (t) => {
    const model = await fakeVendor(t, (reply, body) => {
      if (hasResults(body)) reply.text("One of two.").end();
      else reply.calls(["issue_refund", { order: "A-1", amount: 1 }], ["issue_refund", { order: "A-2", amount: 2 }]);
    });
    const server = await startServerFor(t, model.options);
    const { page, send, waitForTurns, turn } = await openPage(t, server.url);
    await send("Refund both");
    const cards = turn(0).getByRole("region", { name: "Call of Issue refund" });
    const approval = page.getByRole("group", { name: "Allow this call?" });
    await approval.nth(1).waitFor();
    await cards.nth(0).getByRole("button", { name: "Approve" }).click();
    await cards.nth(0).getByText("Approved").waitFor();
    assert.equal(await approval.count(), 1);
    await cards.nth(1).getByRole("button", { name: "Deny…" }).click();
    await cards.nth(1).getByRole("button", { name: "Deny", exact: true }).click();
    await waitForTurns(1);
    await turn(0).getByText("One of two.").waitFor();
    await cards.nth(0).getByRole("button", { name: /Done/ }).waitFor();
    await cards
      .nth(1)
      .getByRole("button", { name: /Denied/ })
      .waitFor();
  });
});
