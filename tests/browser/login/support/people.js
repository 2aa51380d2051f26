// A server that people sign in to with the provider, their browsers, and requests with their cookies.

import assert from "node:assert/strict";
import { openPage } from "../../support/page.js";
import { startServerFor, storeFile } from "../../support/server.js";
import { CLIENT_ID, CLIENT_SECRET, startProvider } from "./provider.js";

/** How long the tests of a file may take, in milliseconds: more than a machine with much other work needs. */
export const SUITE_TIMEOUT = 900_000;

const settings = (issuer) => `
[login.corp]
issuer = "${issuer}"
client_id = "${CLIENT_ID}"
client_secret = "${CLIENT_SECRET}"
label = "Example Corp."
scopes = ["profile", "groups", "offline_access"]

[login.corp.roles]
it-operations = "admin"
leads = "manager"

[login.corp.grants]
staff = "all"

[scopes.all]
all = true
`;

/**
 * Starts a provider and a server that people sign in to with it.
 * @param {any} t
 * @param {{more?: string, alsoAllowed?: string[], tokenSeconds?: number, env?: Record<string, string>}} [options]
 *   more: further settings; alsoAllowed: other origins that pages may be sent to; tokenSeconds: see the provider
 */
export async function start(t, { more = "", alsoAllowed = [], tokenSeconds, env } = {}) {
  const provider = await startProvider(t, { tokenSeconds });
  const store = storeFile();
  t.after(() => store.remove());
  const options = { settings: settings(provider.issuer) + more, store: store.url, args: ["--log", "debug"], env };
  const started = await startServerFor(t, options);
  // Another site than the provider's, by its name: cookies are sent to all ports of a host.
  const server = { ...started, url: started.url.replace("127.0.0.1", "localhost") };
  provider.serve(server.url);
  /** Opens a browser of its own, at the page of the sign-in. */
  const open = () => openPage(t, server.url, { alsoAllowed: [provider.issuer, ...alsoAllowed] });
  /** Opens a browser of its own, and signs a person in. */
  const signIn = async (name) => {
    const opened = await open();
    await signInWith(opened.page, name);
    return opened;
  };
  /** Kills the server, and starts it again at the same address. */
  const restart = async () => {
    await started.kill();
    return startServerFor(t, { ...options, port: started.port });
  };
  return { provider, store, server, open, signIn, restart };
}

/** Signs in from the page of the console, over the pages of the provider. */
export async function signInWith(page, name) {
  await page.getByRole("link", { name: "Sign in with Example Corp." }).click();
  await page.locator("input[name=login]").fill(name);
  await page.locator("input[name=password]").fill("any");
  await page.getByRole("button", { name: "Sign-in" }).click();
  await page.getByRole("button", { name: "Continue" }).click();
  await page.getByRole("heading", { name: "What can I do for you?" }).waitFor();
}

/** Sends a request with the cookies of a page; returns everything by which two responses can differ. */
export function probe(page, method, path, body) {
  const send = async ([method, path, body]) => {
    // Event streams do not end: their first event is enough.
    const firstEvent = async ({ body }) => {
      const reader = body.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      for (;;) {
        const { done, value = "" } = await reader.read();
        text += value;
        const event = /^data: .*$/m.exec(text);
        if (!done && !event) continue;
        await reader.cancel();
        return `a stream, ${event?.[0] ?? text}`;
      }
    };
    const headers = { "content-type": "application/json" };
    const response = await fetch(path, { method, headers, body: body && JSON.stringify(body) });
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
    const text = isStream ? await firstEvent(response) : await response.text();
    const names = [...response.headers.keys()].filter((name) => !["date", "set-cookie"].includes(name));
    return { status: response.status, text, names };
  };
  return page.evaluate(send, [method, path, body]);
}

/** As `probe`, for a response that is JSON. */
export async function probeJson(page, method, path, body) {
  const { status, text } = await probe(page, method, path, body);
  assert.ok(status < 300, `${method} ${path}: ${status} ${text}`);
  return text ? JSON.parse(text) : null;
}

/** The id of the conversation that a page shows. */
export const conversationId = (page) => decodeURIComponent(/#\/c\/(.+)$/.exec(page.url())[1]);

/** The button that opens the account. */
export const account = (page, name) => page.getByRole("button", { name });

/** Asks a question whose answer is known; returns the id of the conversation. */
export async function beginConversation({ page, send, waitForTurns }, text = "What time is it in Tokyo?") {
  await send(text);
  await waitForTurns(1);
  return conversationId(page);
}

/** Creates a link in the dialog of the owner; returns its address. */
export async function createLink(page, title, access) {
  const dialog = await openShareDialog(page, title);
  await dialog.getByLabel("What others may do").selectOption(access);
  await dialog.getByRole("button", { name: "Create a link" }).click();
  const link = await dialog.getByLabel("The link, which is shown only now").inputValue();
  await dialog.getByRole("button", { name: "Close" }).click();
  return link;
}

/** Ends the only link of a conversation. */
export async function endLink(page, title) {
  const dialog = await openShareDialog(page, title);
  await dialog.getByRole("button", { name: "End", exact: true }).click();
  await dialog.getByRole("button", { name: "End", exact: true }).waitFor({ state: "detached" });
  await dialog.getByRole("button", { name: "Close" }).click();
}

/** Opens the dialog in which an owner shares a conversation. */
export async function openShareDialog(page, title) {
  // The buttons of a row appear when the pointer is over it.
  await page.getByRole("navigation", { name: "Conversations" }).getByRole("link", { name: title }).hover();
  await page.getByRole("button", { name: `Share ${title}` }).click();
  const dialog = page.getByRole("dialog", { name: "Share this conversation" });
  await dialog.waitFor();
  return dialog;
}

/** Opens a link that was received, and accepts it. */
export async function acceptLink(page, link) {
  await page.goto(link);
  await page.getByRole("button", { name: "Open it" }).click();
}
