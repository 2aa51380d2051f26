// The console with an agent of another framework: the page works the same.

import { after, before, describe, it } from "node:test";
import assert from "node:assert/strict";
import { openPage } from "../support/page.js";
import { startServer } from "../support/server.js";

describe("an agent of another framework", () => {
  let server;
  before(async () => (server = await startServer()));
  after(() => server.kill());

  it("answers on the page, with its calls as cards", async (t) => {
    const { send, waitForTurns, turn, screenshot, assertAccessible } = await openPage(t, server.url);
    await send("What is the weather in Paris?");
    await waitForTurns(1);
    await turn(0).locator(".prose", { hasText: "Paris: Partly cloudy, 20C / 68F, 65% humidity" }).waitFor();
    const card = turn(0).getByRole("region", { name: "Call of Weather" });
    const head = card.getByRole("button", { name: /Weather get_weather city: Paris Done/ });
    await head.click();
    await card.getByRole("group", { name: "Arguments" }).getByText('"Paris"').waitFor();
    await turn(0)
      .getByText(/2 steps · 1 call · [\d,]+ tokens/)
      .waitFor();
    await send("And in Tokyo?");
    await waitForTurns(2);
    await turn(1).locator(".prose", { hasText: "Tokyo: Rainy" }).waitFor();
    await screenshot("foreign-agent");
    await assertAccessible("a foreign agent's answer");
  });

  it("shows why a call did not run", async (t) => {
    const { send, waitForTurns, turn, screenshot } = await openPage(t, server.url);
    await send("Refund order A-1042, 20 euros");
    await waitForTurns(1);
    const card = turn(0).getByRole("region", { name: "Call of Issue refund" });
    await card
      .getByText(/denied/)
      .first()
      .waitFor();
    await screenshot("foreign-agent-denied");
  });

  it("is displayed again after a reload", async (t) => {
    const { page, send, waitForTurns, turn } = await openPage(t, server.url);
    await send("What is the weather in London?");
    await waitForTurns(1);
    await page.reload();
    await waitForTurns(1);
    const card = turn(0).getByRole("region", { name: "Call of Weather" });
    assert.equal(await card.count(), 1);
    await turn(0).locator(".prose", { hasText: "London: Cloudy" }).waitFor();
  });
});
