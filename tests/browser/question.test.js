// Questions of an attached MCP server: the person of the turn answers them.

import { describe, it } from "node:test";
import assert from "node:assert/strict";
import { openPage } from "./support/page.js";
import { startServerFor } from "./support/server.js";
import { fakeVendor, hasResults } from "./support/fake-vendor.js";

/** An MCP server over standard input and output with a tool that asks for a name. */
const SHOP = `
import json, sys

def send(**message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

call = None
for line in sys.stdin:
    message = json.loads(line)
    method, number = message.get("method"), message.get("id")
    if method == "initialize":
        send(id=number, result={"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                                "serverInfo": {"name": "shop", "version": "1"}})
    elif method == "tools/list":
        send(id=number, result={"tools": [{"name": "greet", "description": "Greets.", "inputSchema": {"type": "object"}}]})
    elif method == "tools/call":
        call = number
        form = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
        send(id="ask", method="elicitation/create", params={"message": "Who are you?", "requestedSchema": form})
    elif number == "ask":
        send(id=call, result={"content": [{"type": "text", "text": "Answer: " + json.dumps(message["result"])}]})
    elif method and number is not None:
        send(id=number, error={"code": -32601, "message": "no method"})
`;

const SETTINGS = `[mcp.servers.shop]\ncommand = "python3"\nargs = ["shop.py"]\ntrust = "calls"\n`;

describe("a question of an attached server", () => {
  const ask = async (t) => {
    const model = await fakeVendor(t, (reply, body) => {
      if (hasResults(body)) reply.text("It is done.").end();
      else reply.calls(["shop_greet", {}]);
    });
    const { settings, ...options } = model.options;
    const server = await startServerFor(t, { ...options, settings: settings + SETTINGS, files: { "shop.py": SHOP } });
    const opened = await openPage(t, server.url);
    await opened.send("Greet me");
    const question = opened.page.getByRole("group", { name: "shop asks" });
    await question.getByText("Who are you?").waitFor();
    return { ...opened, question, model };
  };
  const answerOf = (model) => model.requests.at(-1).body.messages.at(-1).content;

  it("is answered in a form", async (t) => {
    const { question, turn, screenshot, model } = await ask(t);
    await screenshot("question");
    await question.getByRole("textbox", { name: /name/ }).fill("Ada");
    await question.getByRole("button", { name: "Answer" }).click();
    await turn(0).getByText("It is done.").waitFor();
    assert.match(answerOf(model), /"action": "accept", "content": \{"name": "Ada"\}/);
  });

  it("is declined", async (t) => {
    const { question, turn, model } = await ask(t);
    await question.getByRole("button", { name: "Decline" }).click();
    await turn(0).getByText("It is done.").waitFor();
    assert.match(answerOf(model), /"action": "decline"/);
  });
});
