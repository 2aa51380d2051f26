// Two people and an admin sign in with a real provider: what is whose, sessions, sign-out, and what is written.

import { describe, it } from "node:test";
import assert from "node:assert/strict";
import { HAS_TELEMETRY, startCollector } from "./support/collector.js";
import { SUITE_TIMEOUT, account, beginConversation, conversationId, probe, signInWith, start } from "./support/people.js";

describe("sign-in with a provider", { timeout: SUITE_TIMEOUT }, () => {
  it("makes conversations those of the person who began them", async (t) => {
    const { open, signIn } = await start(t);
    const first = await open();
    await first.page.getByRole("heading", { name: "Sign in" }).waitFor();
    assert.equal(await first.page.getByLabel("Token").count(), 0, "the server takes no token");
    await first.assertAccessible("sign-in");
    await first.screenshot("sign-in");
    await signInWith(first.page, "ada");
    const ada = first;
    await account(ada.page, "Ada Lovelace").waitFor();
    await ada.send("What time is it in Tokyo?");
    await ada.waitForTurns(1);
    assert.equal((await probe(ada.page, "GET", "/api/me")).text.includes('"corp:ada"'), true);

    const bob = await signIn("bob");
    await account(bob.page, "Bob Builder").waitFor();
    assert.equal((await probe(bob.page, "GET", "/api/conversations")).text, "[]");
    await ada.page.reload();
    await ada.turn(0).locator(".prose", { hasText: "JST" }).waitFor();
  });

  it("shows the account, and ends sessions", async (t) => {
    const { signIn } = await start(t);
    const [laptop, phone] = [await signIn("root"), await signIn("root")];
    await beginConversation(phone);
    await account(laptop.page, "Grace Hopper").click();
    const dialog = laptop.page.getByRole("dialog", { name: "Grace Hopper" });
    await dialog.getByText("admin", { exact: true }).waitFor();
    await dialog.getByText("This browser").waitFor();
    await laptop.assertAccessible("account");
    await laptop.screenshot("account");
    assert.equal(await dialog.getByRole("listitem").count(), 2);
    await dialog.getByRole("button", { name: "End", exact: true }).click();
    await dialog.getByRole("button", { name: "End", exact: true }).waitFor({ state: "detached" });
    assert.equal(await dialog.getByRole("listitem").count(), 1);
    // The page that is open notices it by itself.
    await phone.page.getByRole("link", { name: "Sign in with Example Corp." }).waitFor();
    assert.equal(await phone.page.locator(".turn").count(), 0);
    assert.equal((await probe(phone.page, "GET", "/api/me")).status, 401);
    assert.equal((await probe(laptop.page, "GET", "/api/me")).status, 200);
  });

  it("signs out here and at the provider", async (t) => {
    const { signIn, server } = await start(t);
    const { page } = await signIn("ada");
    await account(page, "Ada Lovelace").click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("button", { name: /Yes, sign me out/ }).click();
    await page.getByRole("link", { name: "Sign in with Example Corp." }).waitFor();
    assert.equal(new URL(page.url()).origin, server.url);
    assert.equal((await probe(page, "GET", "/api/me")).status, 401);
    // The provider asks for the password again.
    await page.getByRole("link", { name: "Sign in with Example Corp." }).click();
    await page.locator("input[name=login]").waitFor();
  });

  it("says that the provider cannot be reached before anybody tries", async (t) => {
    const { provider, open, restart } = await start(t);
    provider.stop();
    await restart();
    const { page, assertAccessible, screenshot } = await open();
    const note = page.getByText("Example Corp. cannot be reached now");
    // The page may have been read before the server has noticed.
    while (!(await note.count())) {
      await page.reload();
      await page.getByRole("link", { name: "Sign in with Example Corp." }).waitFor();
    }
    await assertAccessible("sign-in-unavailable");
    await screenshot("sign-in-unavailable");
    await page.getByRole("link", { name: "Sign in with Example Corp." }).click();
    await page.getByText("The provider cannot be reached now. Try again in a while.").waitFor();
  });

  it("explains a sign-in that was declined, and one that was begun elsewhere", async (t) => {
    const { server, open } = await start(t);
    const { page } = await open();
    await page.getByRole("link", { name: "Sign in with Example Corp." }).click();
    await page.getByRole("link", { name: /Cancel/ }).click();
    await page.getByText("The sign-in was declined.").waitFor();
    assert.equal(page.url().includes("#"), false);
    await page.goto(`${server.url}/api/login/corp/callback?state=guessed&code=guessed`);
    await page.getByText("The sign-in took too long").waitFor();
  });

  it("writes no token and no secret, through refresh, kill -9 and the end of the session", async (t) => {
    const collector = await startCollector(t);
    const env = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: "1", RUST_BACKTRACE: "full" };
    const { signIn, server, provider, store, restart } = await start(t, { env, tokenSeconds: 6 });
    const ada = await signIn("ada");
    const { page } = ada;
    await beginConversation(ada);
    const [cookie] = (await page.context().cookies()).filter(({ name }) => name === "toolwright_pass");
    assert.equal(cookie.httpOnly && cookie.sameSite, "Strict");
    const exported = await probe(page, "GET", `/api/conversations/${conversationId(page)}/export`);
    const metrics = await probe(page, "GET", "/metrics");
    assert.match(metrics.text, /toolwright_/);
    await collector.waitFor("get_city_time");
    // Tokens are so short-lived that soon a request needs another. A kill in the middle of that would end the session.
    const before = provider.refreshes();
    while (provider.refreshes() === before) await probe(page, "GET", "/api/me");
    assert.equal((await probe(page, "GET", "/api/me")).status, 200);
    const restarted = await restart();
    await page.reload();
    await ada.turn(0).locator(".prose", { hasText: "JST" }).waitFor();
    provider.remove("ada");
    while ((await probe(page, "GET", "/api/me")).status !== 401);
    await page.reload();
    await page.getByRole("link", { name: "Sign in with Example Corp." }).waitFor();

    const logs = [server.output(), restarted.output()];
    for (const log of logs) assert.match(log, /debug: /);
    const places = { store: store.contents().join(), logs: logs.join(), telemetry: collector.received() };
    const written = { ...places, exported: exported.text, metrics: metrics.text };
    const find = (secrets) =>
      Object.keys(written).filter((place) => secrets.some((secret) => written[place].includes(secret)));
    const found = HAS_TELEMETRY ? ["store", "telemetry", "exported"] : ["store", "exported"];
    assert.deepEqual(find(["get_city_time"]), found, "the search can find");
    const secrets = [...provider.secrets, cookie.value.split(".").at(-1)];
    assert.ok(secrets.length >= 9, "code, verifier, six tokens, the client's secret and the cookie's");
    assert.deepEqual(find(secrets), []);
  });
});
