// A server that wants a token.

import { describe, it } from "node:test";
import assert from "node:assert/strict";
import { open } from "./support/page.js";
import { started } from "./support/server.js";

describe("a server with a token", () => {
  it("lets in who brings it in the address, which forgets it at once", async (t) => {
    const server = await started(t, { args: ["--token", "a-token-of-the-test-0123456789"] });
    const { page, ask, answers, turn } = await open(t, `${server.url}/#token=a-token-of-the-test-0123456789`);
    await page.getByRole("heading", { name: "What can I do for you?" }).waitFor();
    assert.equal(page.url().includes("a-token"), false);
    await ask("What time is it in Tokyo?");
    await answers(1);
    await page.reload();
    await turn(0).locator(".prose", { hasText: "JST" }).waitFor();
  });

  it("asks everybody else for it", async (t) => {
    const server = await started(t, { args: ["--token", "a-token-of-the-test-0123456789"] });
    const { page, shot, accessible } = await open(t, server.url);
    await page.getByRole("heading", { name: "This server wants a token" }).waitFor();
    await accessible("token");
    await shot("token");
    await page.getByLabel("Token").fill("wrong");
    await page.getByRole("button", { name: "Go on" }).click();
    await page.getByText("The server refuses this token.").waitFor();
    await page.getByLabel("Token").fill("a-token-of-the-test-0123456789");
    await page.getByRole("button", { name: "Go on" }).click();
    await page.getByRole("heading", { name: "What can I do for you?" }).waitFor();
  });
});
