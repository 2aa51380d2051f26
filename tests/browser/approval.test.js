// Calls that wait for a person: yes, yes with changes, no.

import { after, before, describe, it } from "node:test";
import assert from "node:assert/strict";
import { open } from "./support/page.js";
import { serve, started } from "./support/server.js";
import { hasResults, vendor } from "./support/fake-vendor.js";

describe("a refund", () => {
  let server;
  before(async () => (server = await serve()));
  after(() => server.kill());

  const refund = async (t, order) => {
    const opened = await open(t, server.url);
    await opened.ask(`Refund order ${order}, 20 euros`);
    const card = opened.page.getByRole("region", { name: "Call of Issue refund" });
    const asked = card.getByRole("group", { name: "Allow this call?" });
    await asked.waitFor();
    return { ...opened, card, asked };
  };

  it("shows exactly what will run, and runs when it is approved", async (t) => {
    const { asked, card, answers, turn, shot } = await refund(t, "A-1042");
    assert.deepEqual(await asked.locator("dd").allTextContents(), ["A-1042", "20", "customer request"]);
    await asked.getByText("This cannot be undone.").waitFor();
    await shot("approval");
    await asked.getByRole("button", { name: "Approve" }).click();
    await answers(1);
    await asked.waitFor({ state: "detached" });
    await card.getByRole("button", { name: /Done/ }).click();
    await card.getByText("Refunded 20.00 EUR for order A-1042 (customer request)").waitFor();
    await turn(0).locator(".prose", { hasText: "Refunded 20.00 EUR" }).waitFor();
  });

  it("does not run when it is denied, and the model reads why", async (t) => {
    const { asked, card, answers, turn, shot } = await refund(t, "A-2000");
    await asked.getByRole("button", { name: "Deny…" }).click();
    await asked.getByRole("textbox", { name: /Why not\?/ }).fill("the order is too old");
    await shot("deny");
    await asked.getByRole("button", { name: "Deny", exact: true }).click();
    await answers(1);
    await card.getByRole("button", { name: /Denied/ }).click();
    await card.locator("pre", { hasText: "the order is too old" }).waitFor();
    await turn(0).locator(".prose", { hasText: "denied" }).waitFor();
  });

  it("runs with arguments that a person has changed in a form", async (t) => {
    const { asked, card, answers, shot } = await refund(t, "A-3000");
    await asked.getByRole("button", { name: "Edit…" }).click();
    const amount = asked.getByRole("textbox", { name: /amount/ });
    assert.equal(await amount.inputValue(), "20");
    await amount.fill("many");
    await asked.getByRole("button", { name: "Approve with changes" }).click();
    await asked.getByText("This is not a number.").waitFor();
    await amount.fill("12.5");
    await asked.getByText("This is not a number.").waitFor({ state: "hidden" });
    await asked.getByRole("textbox", { name: /reason/ }).fill("broken in transit");
    await shot("edit");
    await asked.getByRole("button", { name: "Approve with changes" }).click();
    await answers(1);
    await card.getByRole("button", { name: /Done/ }).click();
    await card.getByRole("heading", { name: "Changed to" }).waitFor();
    await card.getByText("Refunded 12.50 EUR for order A-3000 (broken in transit)").waitFor();
  });

  it("still waits after the page was loaded again", async (t) => {
    const { page, asked, answers, turn } = await refund(t, "A-4000");
    await page.reload();
    await asked.waitFor();
    assert.deepEqual(await asked.locator("dd").allTextContents(), ["A-4000", "20", "customer request"]);
    await asked.getByRole("button", { name: "Approve" }).click();
    await answers(1);
    await turn(0).locator(".prose", { hasText: "A-4000" }).waitFor();
  });

  it("is over when the turn is stopped", async (t) => {
    const { page, asked, answers } = await refund(t, "A-5000");
    await page.getByRole("button", { name: "Stop" }).click();
    await asked.waitFor({ state: "detached" });
    await answers(1);
  });
});

describe("several calls that wait", () => {
  it("are decided one by one, and the turn goes on after the last", async (t) => {
    const model = await vendor(t, (reply, body) => {
      if (hasResults(body)) reply.text("One of two.").end();
      else reply.calls(["issue_refund", { order: "A-1", amount: 1 }], ["issue_refund", { order: "A-2", amount: 2 }]);
    });
    const server = await started(t, { model: "openai-chat:test-model", settings: model.settings });
    const { page, ask, answers, turn } = await open(t, server.url);
    await ask("Refund both");
    const cards = turn(0).getByRole("region", { name: "Call of Issue refund" });
    const asked = page.getByRole("group", { name: "Allow this call?" });
    await asked.nth(1).waitFor();
    await cards.nth(0).getByRole("button", { name: "Approve" }).click();
    await cards.nth(0).getByText("Approved").waitFor();
    assert.equal(await asked.count(), 1);
    await cards.nth(1).getByRole("button", { name: "Deny…" }).click();
    await cards.nth(1).getByRole("button", { name: "Deny", exact: true }).click();
    await answers(1);
    await turn(0).getByText("One of two.").waitFor();
    await cards.nth(0).getByRole("button", { name: /Done/ }).waitFor();
    await cards
      .nth(1)
      .getByRole("button", { name: /Denied/ })
      .waitFor();
  });
});
