// The console before an agent of another framework: whoever answers, the page is the same.

import { after, before, describe, it } from "node:test";
import assert from "node:assert/strict";
import { open } from "../support/page.js";
import { serve } from "../support/server.js";

describe("an agent of another framework", () => {
  let server;
  before(async () => (server = await serve()));
  after(() => server.kill());

  it("answers on the page, with its calls as cards", async (t) => {
    const { ask, answers, turn, shot, accessible } = await open(t, server.url);
    await ask("What is the weather in Paris?");
    await answers(1);
    await turn(0)
      .locator(".prose", { hasText: "Paris: Partly cloudy, 20C / 68F, 65% humidity" })
      .waitFor();
    const card = turn(0).getByRole("region", { name: "Call of Weather" });
    const head = card.getByRole("button", { name: /Weather get_weather city: Paris Done/ });
    await head.click();
    await card.getByRole("group", { name: "Arguments" }).getByText('"Paris"').waitFor();
    await turn(0)
      .getByText(/2 steps · 1 call · \d+ tokens/)
      .waitFor();
    await ask("And in Tokyo?");
    await answers(2);
    await turn(1).locator(".prose", { hasText: "Tokyo: Rainy" }).waitFor();
    await shot("foreign-agent");
    await accessible("a foreign agent's answer");
  });

  it("tells why a call did not run", async (t) => {
    const { ask, answers, turn, shot } = await open(t, server.url);
    await ask("Refund order A-1042, 20 euros");
    await answers(1);
    const card = turn(0).getByRole("region", { name: "Call of Issue refund" });
    await card.getByText(/denied/).first().waitFor();
    await shot("foreign-agent-denied");
  });

  it("is there again after a reload", async (t) => {
    const { page, ask, answers, turn } = await open(t, server.url);
    await ask("What is the weather in London?");
    await answers(1);
    await page.reload();
    await answers(1);
    const card = turn(0).getByRole("region", { name: "Call of Weather" });
    assert.equal(await card.count(), 1);
    await turn(0).locator(".prose", { hasText: "London: Cloudy" }).waitFor();
  });
});
