// A server's URL in, `all well` out: the clients of the TypeScript SDK, whose requests go to another node each time.
//
// CommonJS, since only `require` looks into NODE_PATH.

const assert = require("node:assert/strict");
const { randomUUID } = require("node:crypto");

const { Client, StreamableHTTPClientTransport } = require("@modelcontextprotocol/client");
const first = {
  ...require("@modelcontextprotocol/sdk/client/index.js"),
  ...require("@modelcontextprotocol/sdk/client/streamableHttp.js"),
  ...require("@modelcontextprotocol/sdk/types.js"),
};

const INFO = { name: "npm", version: "1.0.0" };
const CAPABILITIES = { elicitation: {} };
const accept = () => ({ action: "accept", content: {} });
// More than there are nodes.
const ROUNDS = 7;

function current(mode) {
  const client = new Client(INFO, { capabilities: CAPABILITIES, versionNegotiation: { mode } });
  client.setRequestHandler("elicitation/create", accept);
  return client;
}

function previous() {
  const client = new first.Client(INFO, { capabilities: CAPABILITIES });
  client.setRequestHandler(first.ElicitRequestSchema, accept);
  return client;
}

async function meet(client, transport) {
  await client.connect(transport);
  for (let round = 0; round < ROUNDS; round += 1) {
    const names = (await client.listTools()).tools.map((tool) => tool.name);
    assert(names.includes("get_city_time"), names.join());
    const time = await client.callTool({ name: "get_city_time", arguments: { city: "Tokyo" } });
    assert(time.content[0].text.includes("Tokyo"), JSON.stringify(time));
    const call = { name: "issue_refund", arguments: { order: randomUUID(), amount: 5 } };
    const refunded = await client.callTool(call);
    assert(!refunded.isError, JSON.stringify(refunded));
  }
  await client.close();
}

async function main() {
  const url = new URL(`${process.argv[2]}/mcp`);
  for (const mode of ["legacy", "auto", { pin: "2026-07-28" }])
    await meet(current(mode), new StreamableHTTPClientTransport(url));
  await meet(previous(), new first.StreamableHTTPClientTransport(url));
  console.log("all well");
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
