// What happens when pages are loaded again, answers stopped, servers lost.

import { after, describe, it } from "node:test";
import assert from "node:assert/strict";
import { open } from "./support/page.js";
import { started, storeFile } from "./support/server.js";
import { KEY, gate, hasResults, vendor } from "./support/fake-vendor.js";

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

  it("shows a message that waits until its turn begins, on a reloaded page too", async (t) => {
    const more = [gate(), gate(), gate()];
    const model = await vendor(t, async (reply, body) => {
      await more[model.asked.length - 1].opened;
      reply.text(`You said: ${body.messages.at(-1).content}`).end();
    });
    const server = await started(t, { model: WITH, settings: model.settings });
    const { page, ask, answers, turn, shot, accessible } = await open(t, server.url);
    const waiting = page.getByRole("list", { name: "Queued messages" }).getByRole("listitem");
    const texts = async () => (await waiting.locator(".bubble p").allTextContents()).join();
    await ask("First");
    await turn(0).getByText("Working…").waitFor();
    await ask("Second");
    await waiting.first().waitFor();
    await ask("Third");
    await waiting.nth(1).waitFor();
    assert.equal(await texts(), "Second,Third");
    await waiting.first().getByText("Queued until the turn before it ends").waitFor();
    await accessible("queued messages");
    await shot("queued");
    await page.reload();
    await waiting.nth(1).waitFor();
    assert.equal(await texts(), "Second,Third");
    more[0].open();
    await turn(1).getByText("Working…").waitFor();
    assert.equal(await texts(), "Third");
    assert.equal(await turn(1).locator(".bubble p").textContent(), "Second");
    more[1].open();
    await turn(2).getByText("Working…").waitFor();
    assert.equal(await waiting.count(), 0);
    more[2].open();
    await answers(3);
    await turn(2).getByText("You said: Third").waitFor();
  });

  it("is not in the way of what is written before the server has responded", async (t) => {
    const server = await started(t);
    const { page, message, ask, answers, turn } = await open(t, server.url);
    const more = gate();
    const held = gate();
    await page.route("**/prompt", async (route) => {
      held.open();
      await more.opened;
      await route.continue();
    });
    await ask("What time is it in Tokyo?");
    await held.opened;
    await ask("And the weather there?");
    assert.equal(await message.inputValue(), "And the weather there?");
    more.open();
    await answers(2);
    assert.equal(await turn(0).locator(".bubble p").textContent(), "What time is it in Tokyo?");
    assert.equal(await turn(1).locator(".bubble p").textContent(), "And the weather there?");
    assert.equal(await message.inputValue(), "");
    assert.equal(await page.locator(".turn").count(), 2);
  });

  it("gives a message back that a lost server has not begun with", async (t) => {
    const never = gate();
    const more = gate();
    const arrived = gate();
    const model = await vendor(t, async (reply) => {
      arrived.open();
      await (model.asked.length > 1 ? more : never).opened;
      reply.text("The first answer.").end();
    });
    const store = storeFile();
    t.after(() => store.remove());
    const options = { model: WITH, settings: model.settings, store: store.url };
    const server = await started(t, options);
    const { page, message, ask, answers, turn } = await open(t, server.url);
    const waiting = page.getByRole("list", { name: "Queued messages" }).getByRole("listitem");
    await ask("First");
    await turn(0).getByText("Working…").waitFor();
    await ask("Second");
    await waiting.first().waitFor();
    // The model is asked once the message is stored.
    await arrived.opened;
    await server.kill();
    const banner = page.getByText("The connection is lost. Reconnecting…");
    await banner.waitFor();
    assert.equal(await waiting.count(), 1);
    await started(t, { ...options, port: server.port });
    await banner.waitFor({ state: "detached" });
    more.open();
    await answers(1);
    await waiting.first().waitFor({ state: "detached" });
    assert.equal(await message.inputValue(), "Second");
    assert.equal(await page.locator(".turn").count(), 1);
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
      .getByText(/100 tokens in \(25 from cache\), 20 out/)
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
    await page.getByText("The server does not answer. Is it still running?").waitFor({ state: "hidden" });
    assert.equal(await turn(0).locator(".prose").textContent(), said);
    // What was written when nobody listened is still in its field.
    await page.keyboard.press("Enter");
    await answers(2);
    await turn(1).locator(".prose", { hasText: "22C" }).waitFor();
  });

  it("says no more that it does not answer once it does, where nothing was said yet", async (t) => {
    const server = await started(t);
    const { page, message, ask, answers } = await open(t, server.url);
    await page.getByRole("heading", { name: "What can I do for you?" }).waitFor();
    await server.kill();
    await ask("What time is it in Tokyo?");
    const fault = page.getByText("The server does not answer. Is it still running?");
    await fault.waitFor();
    assert.equal(await message.inputValue(), "What time is it in Tokyo?");
    await started(t, { port: server.port });
    await fault.waitFor({ state: "hidden" });
    await message.press("Enter");
    await answers(1);
  });

  it("is found again by a page that was opened meanwhile", async (t) => {
    const server = await started(t);
    const { page } = await open(t, server.url);
    await page.getByRole("heading", { name: "What can I do for you?" }).waitFor();
    // The page itself comes from the cache; nothing of the API answers.
    let lost = true;
    await page.route("**/api/**", (route) => (lost ? route.abort() : route.continue()));
    await page.reload();
    await page.getByRole("heading", { name: "The server cannot be reached" }).waitFor();
    lost = false;
    await page.getByRole("heading", { name: "What can I do for you?" }).waitFor();
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

describe("the numbers of a turn", () => {
  const foots = async (page) => {
    const facts = page.locator(".turn-foot .facts");
    const titles = facts.evaluateAll((all) => all.map((it) => `${it.textContent} | ${it.title}`));
    return { foots: await titles, calls: await page.locator(".call-time").allTextContents() };
  };

  it("are the same while it is watched and after a reload", async (t) => {
    const store = storeFile();
    t.after(() => store.remove());
    const model = await vendor(t, (reply, body) => {
      if (hasResults(body)) return reply.text("Both.").end();
      reply.calls(["get_weather", { city: "London" }], ["get_city_time", { city: "Tokyo" }]);
    });
    const prices = '[[prices]]\nmodel = "openai-chat:test-model"\ninput = 1000.0\noutput = 1000.0\n';
    const settings = model.settings + prices;
    const server = await started(t, { model: WITH, settings, store: store.url });
    const { page, ask, answers } = await open(t, server.url);
    for (const turn of [1, 2, 3]) {
      await ask(`London and Tokyo, ${turn}`);
      await answers(turn);
    }
    const live = await foots(page);
    await page.reload();
    await answers(3);
    assert.deepEqual(live, await foots(page));
    for (const foot of live.foots)
      assert.match(foot, / · 2 steps · 2 calls · 240 tokens · \$0\.24 \| 200 tokens in \(50 from cache\), 40 out$/);
  });

  it("have no price where none is known, however the turn ends", async (t) => {
    const never = gate();
    const model = await vendor(t, async (reply, body) => {
      const asked = body.messages.at(-1).content;
      if (asked === "Answer") return reply.text("An answer.").end();
      if (asked === "Fail") return reply.response.end("data: {}nonsense\n\n");
      if (!hasResults(body) && asked === "Call, then stop") return reply.calls(["get_weather", { city: "London" }]);
      reply.text("I will go on for a while");
      await never.opened;
    });
    const server = await started(t, { model: WITH, settings: model.settings });
    const { page, message, ask, answers, turn } = await open(t, server.url);
    await ask("Answer");
    await answers(1);
    await ask("Stop");
    await turn(1).getByText("I will go on").waitFor();
    await message.press("Escape");
    await answers(2);
    await ask("Call, then stop");
    await turn(2).getByText("I will go on").waitFor();
    await message.press("Escape");
    await answers(3);
    const live = await foots(page);
    assert.equal(live.foots.join().includes("$"), false, live.foots.join());
    await page.reload();
    await answers(3);
    assert.deepEqual(live, await foots(page));
    await ask("Fail");
    await answers(4);
    assert.equal((await foots(page)).foots.join().includes("$"), false);
  });
});

describe("the place in a long conversation", () => {
  const LONG = `${"A line that is long enough to be broken anew when there is less room for it. ".repeat(4)}\n\n`;

  const long = async (t) => {
    const model = await vendor(t, (reply, body) => {
      const asked = body.messages.findLast((it) => it.role === "user").content;
      if (!hasResults(body)) return reply.calls(["get_weather", { city: "London" }]);
      reply.text(asked === "In short" ? "Cloudy." : LONG.repeat(6)).end();
    });
    const server = await started(t, { model: WITH, settings: model.settings });
    const opened = await open(t, server.url);
    for (const turn of [1, 2, 3]) {
      await opened.ask(`Question ${turn}`);
      await opened.answers(turn);
    }
    return opened;
  };
  /** Where an element is seen, once the page has settled. */
  const top = (locator) =>
    locator.evaluate(
      (node) =>
        new Promise((resolve) => {
          const settled = () => resolve(Math.round(node.getBoundingClientRect().top));
          requestAnimationFrame(() => requestAnimationFrame(settled));
        }),
    );

  /** Lines end where pixels do. */
  const near = (now, before, when) => assert.ok(Math.abs(now - before) <= 1, `${when}: ${now}, before ${before}`);

  for (const turn of [1, 2]) {
    it(`stays when details are opened and closed, in turn ${turn + 1} of 3`, async (t) => {
      const { page, turn: at, shot } = await long(t);
      const details = at(turn).getByRole("button", { name: "Details" });
      await details.scrollIntoViewIfNeeded();
      const before = await top(details);
      await details.click();
      const panel = page.getByRole("complementary", { name: "Details of the turn" });
      await panel.waitFor();
      near(await top(details), before, "opened");
      await shot(`place-${turn}`);
      await page.keyboard.press("Escape");
      await panel.waitFor({ state: "hidden" });
      near(await top(details), before, "closed");
    });
  }

  it("stays when a card at the end is opened, whatever is said then", async (t) => {
    const { page, ask, answers, turn } = await long(t);
    await ask("In short");
    await answers(4);
    const head = turn(3).getByRole("button", { name: /Weather/ });
    const before = await top(head);
    await head.click();
    await turn(3).getByRole("heading", { name: "Arguments" }).waitFor();
    assert.equal(await top(head), before, "opened");
    const other = await open(t, page.url());
    await other.ask("In short");
    await answers(5);
    assert.equal(await top(head), before, "another turn");
    await page.getByRole("button", { name: "To the end" }).click();
    assert.notEqual(await top(head), before, "at the end again");
  });
});
