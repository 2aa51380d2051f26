// A server's URL and its command in, `all well` out: the clients of the TypeScript SDK list and call tools over both.
//
// CommonJS, since only `require` looks into NODE_PATH.

const assert = require("node:assert/strict");

const { Client, StreamableHTTPClientTransport } = require("@modelcontextprotocol/client");
const { StdioClientTransport } = require("@modelcontextprotocol/client/stdio");
const first = {
  ...require("@modelcontextprotocol/sdk/client/index.js"),
  ...require("@modelcontextprotocol/sdk/client/streamableHttp.js"),
  ...require("@modelcontextprotocol/sdk/client/stdio.js"),
  ...require("@modelcontextprotocol/sdk/types.js"),
};

const INFO = { name: "npm", version: "1.0.0" };
const CAPABILITIES = { elicitation: {} };
const answer = () => ({ action: "accept", content: { name: "Ada" } });

function current(mode) {
  const client = new Client(INFO, { capabilities: CAPABILITIES, versionNegotiation: { mode } });
  client.setRequestHandler("elicitation/create", answer);
  return client;
}

function previous() {
  const client = new first.Client(INFO, { capabilities: CAPABILITIES });
  client.setRequestHandler(first.ElicitRequestSchema, answer);
  return client;
}

async function meet(client, transport) {
  await client.connect(transport);
  const names = (await client.listTools()).tools.map((tool) => tool.name);
  assert(names.includes("test_simple_text"), names.join());
  const text = await client.callTool({ name: "test_simple_text", arguments: {} });
  assert.equal(text.content[0].text, "This is a simple text response for testing.");
  const failed = await client.callTool({ name: "test_error_handling", arguments: {} });
  assert(failed.isError, JSON.stringify(failed));
  const asked = await client.callTool({ name: "test_input_required_result_elicitation", arguments: {} });
  assert.equal(asked.content[0].text, "Hello, Ada!");
  const prompt = await client.getPrompt({ name: "test_prompt_with_arguments", arguments: { arg1: "x", arg2: "y" } });
  assert(prompt.messages[0].content.text.includes("arg1='x'"), JSON.stringify(prompt));
  const resource = await client.readResource({ uri: "test://template/7/data" });
  assert(resource.contents[0].text.includes('"id":"7"'), JSON.stringify(resource));
  await client.close();
}

async function main() {
  const [url, command] = process.argv.slice(2);
  const stdio = { command, args: ["--stdio"] };
  for (const mode of ["legacy", "auto", { pin: "2026-07-28" }]) {
    await meet(current(mode), new StreamableHTTPClientTransport(new URL(url)));
    await meet(current(mode), new StdioClientTransport(stdio));
  }
  await meet(previous(), new first.StreamableHTTPClientTransport(new URL(url)));
  await meet(previous(), new first.StdioClientTransport(stdio));
  console.log("all well");
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
