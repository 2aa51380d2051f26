// Turns that are streamed, reloaded, stopped, queued or interrupted by a lost server.

import { after, describe, it } from "node:test";
import assert from "node:assert/strict";
import { openPage } from "./support/page.js";
import { startServerFor, storeFile } from "./support/server.js";
import { KEY, fakeVendor, gate, hasResults } from "./support/fake-vendor.js";

describe("an answer that is being streamed", () => {
  it("continues after a reload of the page", async (t) => {
    const more = gate();
    const model = await fakeVendor(t, async (reply) => {
      reply.text("The first half, ");
      await more.opened;
      reply.text("the second half.").end();
    });
    const server = await startServerFor(t, model.options);
    const { page, send, waitForTurns, turn, screenshot } = await openPage(t, server.url);
    await send("Tell me something");
    const prose = turn(0).locator(".prose");
    await prose.getByText("The first half,").waitFor();
    await page.reload();
    await prose.getByText("The first half,").waitFor();
    await screenshot("reloaded");
    more.open();
    await waitForTurns(1);
    assert.equal(await prose.textContent(), "The first half, the second half.");
    assert.equal(await page.locator(".turn").count(), 1);
  });

  it("can be stopped with Escape, and its text stays", async (t) => {
    const never = gate();
    const model = await fakeVendor(t, async (reply) => {
      reply.text("I will go on for a while");
      await never.opened;
    });
    const server = await startServerFor(t, model.options);
    const { page, message, send, waitForTurns, turn } = await openPage(t, server.url);
    await send("Tell me everything");
    await turn(0).getByText("I will go on").waitFor();
    await message.press("Escape");
    await waitForTurns(1);
    await turn(0).getByText("Stopped.").waitFor();
    await turn(0).getByText("I will go on for a while").waitFor();
    assert.equal(await page.getByRole("button", { name: "Stop" }).isVisible(), false);
  });

  it("queues the next message until it ends", async (t) => {
    const more = gate();
    const model = await fakeVendor(t, async (reply, body) => {
      await more.opened;
      reply.text(`You said: ${body.messages.at(-1).content}`).end();
    });
    const server = await startServerFor(t, model.options);
    const { page, send, waitForTurns, turn } = await openPage(t, server.url);
    await send("First");
    await turn(0).getByText("Working…").waitFor();
    await send("Second");
    await page.getByText("It is sent when the answer above is complete").first().waitFor();
    assert.equal(await page.locator(".turn").count(), 1);
    more.open();
    await waitForTurns(2);
    await turn(0).getByText("You said: First").waitFor();
    await turn(1).getByText("You said: Second").waitFor();
  });

  it("shows queued messages until their turns begin, also after a reload", async (t) => {
    const more = [gate(), gate(), gate()];
    const model = await fakeVendor(t, async (reply, body) => {
      await more[model.requests.length - 1].opened;
      reply.text(`You said: ${body.messages.at(-1).content}`).end();
    });
    const server = await startServerFor(t, model.options);
    const { page, send, waitForTurns, turn, screenshot, assertAccessible } = await openPage(t, server.url);
    const waiting = page.getByRole("list", { name: "Queued messages" }).getByRole("listitem");
    const texts = async () => (await waiting.locator(".bubble p").allTextContents()).join();
    await send("First");
    await turn(0).getByText("Working…").waitFor();
    await send("Second");
    await waiting.first().waitFor();
    await send("Third");
    await waiting.nth(1).waitFor();
    assert.equal(await texts(), "Second,Third");
    await waiting.first().getByText("Waiting: it is sent when the answer above is complete").waitFor();
    await assertAccessible("queued messages");
    await screenshot("queued");
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
    await waitForTurns(3);
    await turn(2).getByText("You said: Third").waitFor();
  });

  it("does not block a message that is sent before the server has responded", async (t) => {
    const server = await startServerFor(t);
    const { page, message, send, waitForTurns, turn } = await openPage(t, server.url);
    const more = gate();
    const intercepted = gate();
    await page.route("**/prompt", async (route) => {
      intercepted.open();
      await more.opened;
      await route.continue();
    });
    await send("What time is it in Tokyo?");
    await intercepted.opened;
    await send("And the weather there?");
    assert.equal(await message.inputValue(), "And the weather there?");
    more.open();
    await waitForTurns(2);
    assert.equal(await turn(0).locator(".bubble p").textContent(), "What time is it in Tokyo?");
    assert.equal(await turn(1).locator(".bubble p").textContent(), "And the weather there?");
    assert.equal(await message.inputValue(), "");
    assert.equal(await page.locator(".turn").count(), 2);
  });

  it("withdraws a queued message, and returns its text to the empty input", async (t) => {
    const more = gate();
    const model = await fakeVendor(t, async (reply, body) => {
      await more.opened;
      reply.text(`You said: ${body.messages.at(-1).content}`).end();
    });
    const server = await startServerFor(t, model.options);
    const { page, message, send, waitForTurns, turn } = await openPage(t, server.url);
    const waiting = page.getByRole("list", { name: "Queued messages" }).getByRole("listitem");
    const withdraw = (index) => waiting.nth(index).getByRole("button", { name: "Withdraw" });
    await send("First");
    await turn(0).getByText("Working…").waitFor();
    for (const text of ["Second", "Third", "Fourth"]) {
      await send(text);
      await waiting.filter({ hasText: text }).waitFor();
    }
    const other = await openPage(t, page.url());
    const waitingThere = other.page.getByRole("list", { name: "Queued messages" }).getByRole("listitem");
    await waitingThere.nth(2).waitFor();
    await withdraw(0).focus();
    await page.keyboard.press("Enter");
    await waiting.nth(2).waitFor({ state: "detached" });
    await waitingThere.nth(2).waitFor({ state: "detached" });
    assert.equal(await message.inputValue(), "Second");
    assert.equal(await message.evaluate((node) => node === document.activeElement), true);
    // There is a draft now, which stays.
    await withdraw(0).click();
    await waiting.nth(1).waitFor({ state: "detached" });
    assert.equal(await message.inputValue(), "Second");
    // A message whose turn has begun is not withdrawn.
    await page.route("**/queue/*", async (route) => {
      more.open();
      await other.waitForTurns(2);
      await route.continue();
    });
    await withdraw(0).click();
    await page.locator("#toast", { hasText: "Its turn has begun" }).waitFor();
    await waitForTurns(2);
    assert.equal(await turn(1).locator(".bubble p").textContent(), "Fourth");
    assert.equal(await message.inputValue(), "Second");
  });

  it("answers a queued message after the server was lost", async (t) => {
    const never = gate();
    const arrived = gate();
    const model = await fakeVendor(t, async (reply, body) => {
      arrived.open();
      if (model.requests.length === 1) await never.opened;
      reply.text(`You said: ${body.messages.at(-1).content}`).end();
    });
    const store = storeFile();
    t.after(() => store.remove());
    const options = { ...model.options, store: store.url };
    const server = await startServerFor(t, options);
    const { page, message, send, waitForTurns, turn } = await openPage(t, server.url);
    const waiting = page.getByRole("list", { name: "Queued messages" }).getByRole("listitem");
    await send("First");
    await turn(0).getByText("Working…").waitFor();
    await send("Second");
    await waiting.first().waitFor();
    // The model gets a request after the message is stored.
    await arrived.opened;
    await server.kill();
    const banner = page.getByText("The connection is lost. Reconnecting…");
    await banner.waitFor();
    assert.equal(await waiting.count(), 1);
    await startServerFor(t, { ...options, port: server.port });
    await banner.waitFor({ state: "detached" });
    await waitForTurns(2);
    await turn(1).getByText("You said: Second").waitFor();
    assert.equal(await waiting.count(), 0);
    assert.equal(await message.inputValue(), "");
    assert.equal(await page.locator(".turn").count(), 2);
  });

  it("shows arguments while they are streamed", async (t) => {
    const more = gate();
    const model = await fakeVendor(t, async (reply, body) => {
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
    const server = await startServerFor(t, model.options);
    const { send, waitForTurns, turn } = await openPage(t, server.url);
    await send("How is the weather?");
    const card = turn(0).getByRole("region", { name: "Call of Weather" });
    const head = card.getByRole("button", { name: /Being written/ });
    await head.click();
    await card.getByText('{"city": "Par').first().waitFor();
    more.open();
    await waitForTurns(1);
    await card.getByText("Paris: Partly cloudy, 20C / 68F, 65% humidity").waitFor();
  });
});

describe("a slow tool", () => {
  it("shows its progress", async (t) => {
    const model = await fakeVendor(t, (reply, body) => {
      if (hasResults(body)) reply.text("It is written.").end();
      else reply.calls(["write_report", { topic: "bees", pace_ms: 500 }]);
    });
    const server = await startServerFor(t, model.options);
    const { send, waitForTurns, turn } = await openPage(t, server.url);
    await send("A report on bees");
    const card = turn(0).getByRole("region", { name: "Call of Write report" });
    await card.getByText("50 % · drawing charts").first().waitFor();
    await waitForTurns(1);
    await card.getByRole("button", { name: /Done/ }).waitFor();
  });
});

describe("two tabs with one conversation", () => {
  it("show the same messages and decisions", async (t) => {
    const server = await startServerFor(t);
    const one = await openPage(t, server.url);
    await one.send("What time is it in Tokyo?");
    await one.waitForTurns(1);
    const two = await openPage(t, one.page.url());
    await two.waitForTurns(1);
    await two.send("Refund order A-1042, 20 euros");
    const approval = one.page.getByRole("group", { name: "Allow this call?" });
    await approval.getByRole("button", { name: "Approve" }).click();
    await two.waitForTurns(2);
    await two.turn(1).locator(".prose", { hasText: "Refunded" }).waitFor();
    assert.equal(await one.page.locator(".turn").count(), 2);
  });
});

describe("the wire view", () => {
  it("shows each request and response, and no secret", async (t) => {
    const model = await fakeVendor(t, (reply, body) => {
      if (hasResults(body)) reply.text("It is cloudy.").end();
      else reply.calls(["get_weather", { city: "London" }]);
    });
    const server = await startServerFor(t, model.options);
    const { page, send, waitForTurns, turn, screenshot } = await openPage(t, server.url);
    await send("London?");
    await waitForTurns(1);
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
    assert.deepEqual(sent, model.requests[1].body);
    await panel.getByRole("group", { name: "Response" }).first().getByText("London").waitFor();
    assert.equal(model.requests[0].headers.authorization, `Bearer ${KEY}`);
    assert.equal((await page.content()).includes(KEY), false);
    await screenshot("wire");
  });
});

describe("an error of the vendor", () => {
  it("is displayed in place of the answer", async (t) => {
    const model = await fakeVendor(t, (reply) => reply.response.end("data: {}nonsense\n\n"));
    const server = await startServerFor(t, model.options);
    const { send, waitForTurns, turn, screenshot } = await openPage(t, server.url);
    await send("Hello?");
    await waitForTurns(1);
    assert.notEqual(await turn(0).locator(".turn-error").textContent(), "");
    await screenshot("turn-error");
  });
});

describe("a server that is lost", () => {
  const store = storeFile();
  after(() => store.remove());

  it("is reconnected, with the whole conversation", async (t) => {
    let server = await startServerFor(t, { store: store.url });
    const { page, send, waitForTurns, turn, screenshot } = await openPage(t, server.url);
    await send("What time is it in Tokyo?");
    await waitForTurns(1);
    const answer = await turn(0).locator(".prose").textContent();
    await server.kill();
    const banner = page.getByText("The connection is lost. Reconnecting…");
    await banner.waitFor();
    await screenshot("lost");
    await send("And the weather there?");
    await page.getByText("The server does not answer. Is it still running?").waitFor();
    server = await startServerFor(t, { store: store.url, port: server.port });
    await banner.waitFor({ state: "detached" });
    await page.getByText("The server does not answer. Is it still running?").waitFor({ state: "hidden" });
    assert.equal(await turn(0).locator(".prose").textContent(), answer);
    // The message that could not be sent is still in the input.
    await page.keyboard.press("Enter");
    await waitForTurns(2);
    await turn(1).locator(".prose", { hasText: "22C" }).waitFor();
  });

  it("removes the error on the start screen when it responds again", async (t) => {
    const server = await startServerFor(t);
    const { page, message, send, waitForTurns } = await openPage(t, server.url);
    await page.getByRole("heading", { name: "What can I do for you?" }).waitFor();
    await server.kill();
    await send("What time is it in Tokyo?");
    const error = page.getByText("The server does not answer. Is it still running?");
    await error.waitFor();
    assert.equal(await message.inputValue(), "What time is it in Tokyo?");
    await startServerFor(t, { port: server.port });
    await error.waitFor({ state: "hidden" });
    await message.press("Enter");
    await waitForTurns(1);
  });

  it("is reconnected by a page that was loaded meanwhile", async (t) => {
    const server = await startServerFor(t);
    const { page } = await openPage(t, server.url);
    await page.getByRole("heading", { name: "What can I do for you?" }).waitFor();
    // The page is loaded, but no request to the API succeeds.
    let lost = true;
    await page.route("**/api/**", (route) => (lost ? route.abort() : route.continue()));
    await page.reload();
    await page.getByRole("heading", { name: "The server cannot be reached" }).waitFor();
    lost = false;
    await page.getByRole("heading", { name: "What can I do for you?" }).waitFor();
  });

  it("continues the interrupted turn", async (t) => {
    const never = gate();
    const model = await fakeVendor(t, async (reply) => {
      if (model.requests.length > 1) return reply.text("This is the whole answer.").end();
      reply.text("This is half an");
      await never.opened;
    });
    const options = { ...model.options, store: store.url };
    const server = await startServerFor(t, options);
    const { page, send, waitForTurns, turn } = await openPage(t, server.url);
    await send("Will you be there?");
    await turn(0).getByText("This is half an").waitFor();
    await server.kill();
    await page.getByText("The connection is lost. Reconnecting…").waitFor();
    await startServerFor(t, { ...options, port: server.port });
    await waitForTurns(1);
    await turn(0).getByText("This is the whole answer.").waitFor();
    assert.equal(await page.locator(".bubble").count(), 1);
  });
});

describe("the footer of a turn", () => {
  const figures = async (page) => {
    const facts = page.locator(".turn-footer .facts");
    const titles = facts.evaluateAll((all) => all.map((it) => `${it.textContent} | ${it.title}`));
    return { footers: await titles, calls: await page.locator(".call-time").allTextContents() };
  };

  it("shows the same figures after a reload", async (t) => {
    const store = storeFile();
    t.after(() => store.remove());
    const model = await fakeVendor(t, (reply, body) => {
      if (hasResults(body)) return reply.text("Both.").end();
      reply.calls(["get_weather", { city: "London" }], ["get_city_time", { city: "Tokyo" }]);
    });
    const prices = '[[prices]]\nmodel = "openai-chat:test-model"\ninput = 1000.0\noutput = 1000.0\n';
    const settings = model.options.settings + prices;
    const server = await startServerFor(t, { ...model.options, settings, store: store.url });
    const { page, send, waitForTurns } = await openPage(t, server.url);
    for (const turn of [1, 2, 3]) {
      await send(`London and Tokyo, ${turn}`);
      await waitForTurns(turn);
    }
    const live = await figures(page);
    await page.reload();
    await waitForTurns(3);
    assert.deepEqual(live, await figures(page));
    for (const footer of live.footers)
      assert.match(footer, / · 2 steps · 2 calls · 240 tokens · \$0\.24 \| 200 tokens in \(50 from cache\), 40 out$/);
  });

  it("shows no cost if no price is known, however the turn ends", async (t) => {
    const never = gate();
    const model = await fakeVendor(t, async (reply, body) => {
      const message = body.messages.at(-1).content;
      if (message === "Answer") return reply.text("An answer.").end();
      if (message === "Fail") return reply.response.end("data: {}nonsense\n\n");
      if (!hasResults(body) && message === "Call, then stop") return reply.calls(["get_weather", { city: "London" }]);
      reply.text("I will go on for a while");
      await never.opened;
    });
    const server = await startServerFor(t, model.options);
    const { page, message, send, waitForTurns, turn } = await openPage(t, server.url);
    await send("Answer");
    await waitForTurns(1);
    await send("Stop");
    await turn(1).getByText("I will go on").waitFor();
    await message.press("Escape");
    await waitForTurns(2);
    await send("Call, then stop");
    await turn(2).getByText("I will go on").waitFor();
    await message.press("Escape");
    await waitForTurns(3);
    const live = await figures(page);
    assert.equal(live.footers.join().includes("$"), false, live.footers.join());
    await page.reload();
    await waitForTurns(3);
    assert.deepEqual(live, await figures(page));
    await send("Fail");
    await waitForTurns(4);
    assert.equal((await figures(page)).footers.join().includes("$"), false);
  });
});

describe("the scroll position in a long conversation", () => {
  const LONG = `${"A line that is long enough to be broken anew when there is less room for it. ".repeat(4)}\n\n`;

  const long = async (t) => {
    const model = await fakeVendor(t, (reply, body) => {
      const question = body.messages.findLast((it) => it.role === "user").content;
      if (!hasResults(body)) return reply.calls(["get_weather", { city: "London" }]);
      reply.text(question === "In short" ? "Cloudy." : LONG.repeat(6)).end();
    });
    const server = await startServerFor(t, model.options);
    const opened = await openPage(t, server.url);
    for (const turn of [1, 2, 3]) {
      await opened.send(`Question ${turn}`);
      await opened.waitForTurns(turn);
    }
    return opened;
  };
  /** Returns the position of an element on the screen, after two frames. */
  const top = (locator) =>
    locator.evaluate(
      (node) =>
        new Promise((resolve) => {
          const settled = () => resolve(Math.round(node.getBoundingClientRect().top));
          requestAnimationFrame(() => requestAnimationFrame(settled));
        }),
    );

  /** Asserts equal positions, up to a rounding by one pixel. */
  const near = (now, before, when) => assert.ok(Math.abs(now - before) <= 1, `${when}: ${now}, before ${before}`);

  for (const turn of [1, 2]) {
    it(`stays when details are opened and closed, in turn ${turn + 1} of 3`, async (t) => {
      const { page, turn: at, screenshot } = await long(t);
      const details = at(turn).getByRole("button", { name: "Details" });
      await details.scrollIntoViewIfNeeded();
      const before = await top(details);
      await details.click();
      const panel = page.getByRole("complementary", { name: "Details of the turn" });
      await panel.waitFor();
      near(await top(details), before, "opened");
      await screenshot(`place-${turn}`);
      await page.keyboard.press("Escape");
      await panel.waitFor({ state: "hidden" });
      near(await top(details), before, "closed");
    });
  }

  it("stays when a card at the end is opened and another turn follows", async (t) => {
    const { page, send, waitForTurns, turn } = await long(t);
    await send("In short");
    await waitForTurns(4);
    const head = turn(3).getByRole("button", { name: /Weather/ });
    const before = await top(head);
    await head.click();
    await turn(3).getByRole("heading", { name: "Arguments" }).waitFor();
    assert.equal(await top(head), before, "opened");
    const other = await openPage(t, page.url());
    await other.send("In short");
    await waitForTurns(5);
    assert.equal(await top(head), before, "another turn");
    await page.getByRole("button", { name: "To the end" }).click();
    assert.notEqual(await top(head), before, "at the end again");
  });
});
