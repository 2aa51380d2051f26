// What happens when pages are loaded again, answers stopped, servers lost.

import { after, describe, it } from "node:test";
import assert from "node:assert/strict";
import { open } from "./support/page.js";
import { started, storeFile } from "./support/server.js";
import { KEY, gate, hasResults, vendor } from "./support/vendor.js";

const WITH = "openai-chat:test-model";

describe("an answer that is being written", () => {
  it("is there and goes on after the page was loaded again", async (t) => {
    const more = gate();
    const model = await vendor(t, async (reply) => {
      reply.text("The first half, ");
      await more.opened;
      reply.text("the second half.").end();
    });
    const server = await started(t, { model: WITH, settings: model.settings });
    const { page, ask, answers, turn, shot } = await open(t, server.url);
    await ask("Tell me something");
    const prose = turn(0).locator(".prose");
    await prose.getByText("The first half,").waitFor();
    await page.reload();
    await prose.getByText("The first half,").waitFor();
    await shot("reloaded");
    more.open();
    await answers(1);
    assert.equal(await prose.textContent(), "The first half, the second half.");
    assert.equal(await page.locator(".turn").count(), 1);
  });

  it("can be stopped with Escape, and what was said stays", async (t) => {
    const never = gate();
    const model = await vendor(t, async (reply) => {
      reply.text("I will go on for a while");
      await never.opened;
    });
    const server = await started(t, { model: WITH, settings: model.settings });
    const { page, message, ask, answers, turn } = await open(t, server.url);
    await ask("Tell me everything");
    await turn(0).getByText("I will go on").waitFor();
    await message.press("Escape");
    await answers(1);
    await turn(0).getByText("Stopped.").waitFor();
    await turn(0).getByText("I will go on for a while").waitFor();
    assert.equal(await page.getByRole("button", { name: "Stop" }).isVisible(), false);
  });

  it("lets the next message wait for its end", async (t) => {
    const more = gate();
    const model = await vendor(t, async (reply, body) => {
      await more.opened;
      reply.text(`You said: ${body.messages.at(-1).content}`).end();
    });
    const server = await started(t, { model: WITH, settings: model.settings });
    const { page, ask, answers, turn } = await open(t, server.url);
    await ask("First");
    await turn(0).getByText("Working…").waitFor();
    await ask("Second");
    await page.getByText("It will be said when the turn before it is over").first().waitFor();
    assert.equal(await page.locator(".turn").count(), 1);
    more.open();
    await answers(2);
    await turn(0).getByText("You said: First").waitFor();
    await turn(1).getByText("You said: Second").waitFor();
  });

  it("shows arguments while they are written", async (t) => {
    const more = gate();
    const model = await vendor(t, async (reply, body) => {
      if (hasResults(body)) return reply.text("It is warm.").end();
      const piece = (text, first) =>
        reply.chunk({
          tool_calls: [
            {
              index: 0,
              ...(first ? { id: "call_0", type: "function" } : {}),
              function: { ...(first ? { name: "get_weather" } : {}), arguments: text },
            },
          ],
        });
      piece('{"city": "Par', true);
      await more.opened;
      piece('is"}', false);
      reply.end("tool_calls");
    });
    const server = await started(t, { model: WITH, settings: model.settings });
    const { ask, answers, turn } = await open(t, server.url);
    await ask("How is the weather?");
    const card = turn(0).getByRole("region", { name: "Call of Weather" });
    const head = card.getByRole("button", { name: /Being written/ });
    await head.click();
    await card.getByText('{"city": "Par').first().waitFor();
    more.open();
    await answers(1);
    await card.getByText("Paris: Partly cloudy, 20C / 68F, 65% humidity").waitFor();
  });
});

describe("a slow tool", () => {
  it("says how far it is", async (t) => {
    const model = await vendor(t, (reply, body) => {
      if (hasResults(body)) reply.text("It is written.").end();
      else reply.calls(["write_report", { topic: "bees", pace_ms: 500 }]);
    });
    const server = await started(t, { model: WITH, settings: model.settings });
    const { ask, answers, turn } = await open(t, server.url);
    await ask("A report on bees");
    const card = turn(0).getByRole("region", { name: "Call of Write report" });
    await card.getByText("50 % · drawing charts").first().waitFor();
    await answers(1);
    await card.getByRole("button", { name: /Done/ }).waitFor();
  });
});

describe("two pages of one conversation", () => {
  it("show the same, whoever says or decides it", async (t) => {
    const server = await started(t);
    const one = await open(t, server.url);
    await one.ask("What time is it in Tokyo?");
    await one.answers(1);
    const two = await open(t, one.page.url());
    await two.answers(1);
    await two.ask("Refund order A-1042, 20 euros");
    const asked = one.page.getByRole("group", { name: "Allow this call?" });
    await asked.getByRole("button", { name: "Approve" }).click();
    await two.answers(2);
    await two.turn(1).locator(".prose", { hasText: "Refunded" }).waitFor();
    assert.equal(await one.page.locator(".turn").count(), 2);
  });
});

describe("the wire view", () => {
  it("shows each request and response, and no secret", async (t) => {
    const model = await vendor(t, (reply, body) => {
      if (hasResults(body)) reply.text("It is cloudy.").end();
      else reply.calls(["get_weather", { city: "London" }]);
    });
    const server = await started(t, { model: WITH, settings: model.settings });
    const { page, ask, answers, turn, shot } = await open(t, server.url);
    await ask("London?");
    await answers(1);
    await turn(0).getByRole("button", { name: "Details" }).click();
    await page.getByRole("tab", { name: "Wire" }).click();
    const panel = page.getByRole("complementary", { name: "Details of the turn" });
    await panel
      .getByText(/100 tokens in, 20 out/)
      .first()
      .waitFor();
    for (const part of await panel.locator("summary").all()) await part.click();
    const requests = panel.getByRole("group", { name: "Request" });
    assert.equal(await requests.count(), 2);
    const sent = JSON.parse(await requests.nth(1).textContent());
    assert.equal(sent.model, "test-model");
    assert.deepEqual(sent, model.asked[1].body);
    await panel.getByRole("group", { name: "Response" }).first().getByText("London").waitFor();
    assert.equal(model.asked[0].headers.authorization, `Bearer ${KEY}`);
    assert.equal((await page.content()).includes(KEY), false);
    await shot("wire");
  });
});

describe("a vendor that refuses", () => {
  it("is quoted where the answer would be", async (t) => {
    const model = await vendor(t, (reply) => reply.response.end("data: {}nonsense\n\n"));
    const server = await started(t, { model: WITH, settings: model.settings });
    const { ask, answers, turn, shot } = await open(t, server.url);
    await ask("Hello?");
    await answers(1);
    assert.notEqual(await turn(0).locator(".trouble").textContent(), "");
    await shot("trouble");
  });
});

describe("a server that is lost", () => {
  const store = storeFile();
  after(() => store.remove());

  it("is found again, with everything that was said", async (t) => {
    let server = await started(t, { store: store.url });
    const { page, ask, answers, turn, shot } = await open(t, server.url);
    await ask("What time is it in Tokyo?");
    await answers(1);
    const said = await turn(0).locator(".prose").textContent();
    await server.kill();
    const banner = page.getByText("The connection is lost. Reconnecting…");
    await banner.waitFor();
    await shot("lost");
    await ask("And the weather there?");
    await page.getByText("The server does not answer. Is it still running?").waitFor();
    server = await started(t, { store: store.url, port: server.port });
    await banner.waitFor({ state: "detached" });
    assert.equal(await turn(0).locator(".prose").textContent(), said);
    // What was written when nobody listened is still in its field.
    await page.keyboard.press("Enter");
    await answers(2);
    await turn(1).locator(".prose", { hasText: "22C" }).waitFor();
  });

  it("goes on with the turn it was lost in", async (t) => {
    const never = gate();
    const model = await vendor(t, async (reply) => {
      if (model.asked.length > 1) return reply.text("This is the whole answer.").end();
      reply.text("This is half an");
      await never.opened;
    });
    const options = { model: WITH, settings: model.settings, store: store.url };
    const server = await started(t, options);
    const { page, ask, answers, turn } = await open(t, server.url);
    await ask("Will you be there?");
    await turn(0).getByText("This is half an").waitFor();
    await server.kill();
    await page.getByText("The connection is lost. Reconnecting…").waitFor();
    await started(t, { ...options, port: server.port });
    await answers(1);
    await turn(0).getByText("This is the whole answer.").waitFor();
    assert.equal(await page.locator(".bubble").count(), 1);
  });
});
