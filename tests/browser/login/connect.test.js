// *Connect*: each person logs in to an attached server with an OAuth provider of its own, on the page of the tools or
// in the middle of a conversation.

import { describe, it } from "node:test";
import assert from "node:assert/strict";
import { startShop } from "./support/shop.js";
import { SUITE_TIMEOUT, probe, probeJson, start } from "./support/people.js";

const settings = (url) => `
[mcp.servers.shop]
url = "${url}/mcp"
oauth = "personal"
trust = "calls"
`;

/** Opens the page behind the link in another tab, as a person does; it says that they are connected. */
async function logIn(page) {
  const [tab] = await Promise.all([
    page.context().waitForEvent("page"),
    page.getByRole("link", { name: "Open the login page of shop" }).click(),
  ]);
  await tab.getByText("You are connected to shop.").waitFor();
  return tab;
}

describe("a server that people connect to on their own", { timeout: SUITE_TIMEOUT }, () => {
  it("is connected on the page of the tools, and in the middle of a conversation", async (t) => {
    const shop = await startShop(t);
    const { server, signIn, store } = await start(t, { more: settings(shop.url), alsoAllowed: [shop.url] });
    const [ada, bob] = [await signIn("ada"), await signIn("bob")];

    await ada.page.getByRole("link", { name: "Tools", exact: true }).click();
    const panel = ada.page.getByRole("region", { name: "Your connections" });
    await panel.getByText("not connected").waitFor();
    await ada.assertAccessible("connections");
    await ada.screenshot("connections");
    await panel.getByRole("button", { name: "Connect" }).click();
    const tab = await logIn(ada.page);
    await tab.close();
    await panel.getByRole("button", { name: "Disconnect" }).waitFor();
    await ada.screenshot("connected");
    // The login is hers alone.
    assert.equal((await probeJson(ada.page, "GET", "/api/connections"))[0].isConnected, true);
    assert.equal((await probeJson(bob.page, "GET", "/api/connections"))[0].isConnected, false);
    await ada.page.getByRole("link", { name: "New conversation" }).click();
    await ada.send("Add 2 and 3");
    await ada.waitForTurns(1);
    await ada.turn(0).locator(".prose", { hasText: "5" }).waitFor();

    // His turn waits until he has connected, and goes on with the tools.
    await bob.send("Connect my account of shop");
    const form = bob.page.getByRole("group", { name: "Connect your account of shop?" });
    await form.getByRole("button", { name: "Connect" }).waitFor();
    await bob.assertAccessible("connect-form");
    await bob.screenshot("connect-form");
    await form.getByRole("button", { name: "Connect" }).click();
    await form.getByText("Waiting until you have logged in there.").waitFor();
    await bob.screenshot("connect-waiting");
    await (await logIn(bob.page)).close();
    await bob.waitForTurns(1);
    await bob.turn(0).locator(".prose", { hasText: "shop_add" }).waitFor();
    await bob.screenshot("connect-done");
    await bob.send("Add 2 and 3");
    await bob.waitForTurns(2);

    await ada.page.getByRole("link", { name: "Tools", exact: true }).click();
    await panel.getByRole("button", { name: "Disconnect" }).click();
    await panel.getByText("not connected").waitFor();
    assert.equal((await probeJson(bob.page, "GET", "/api/connections"))[0].isConnected, true);

    assert.ok(shop.secrets.size >= 6, "two logins, each with a code and two tokens");
    const exported = await probe(ada.page, "GET", "/metrics");
    const written = [...store.contents(), server.output(), exported.text].join("\n");
    assert.ok(written.includes("corp:ada"));
    for (const secret of shop.secrets) assert.equal(written.includes(secret), false, secret);
  });
});
