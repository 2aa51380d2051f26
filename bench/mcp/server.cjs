// The tools of the benchmark, served by the official TypeScript SDK: `node server.cjs http|stdio REVISION TOOLS`.
//
// Sessions have a server each; without them there is one per request, as `createMcpHandler` has it. CommonJS, since
// only `require` looks into NODE_PATH.

const { randomUUID } = require("node:crypto");
const { createServer } = require("node:http");

const { NodeStreamableHTTPServerTransport, toNodeHandler } = require("@modelcontextprotocol/node");
const { McpServer, createMcpHandler, fromJsonSchema } = require("@modelcontextprotocol/server");
const { serveStdio } = require("@modelcontextprotocol/server/stdio");

const [way, revision, tools] = process.argv.slice(2);
const integer = { type: "integer" };
const numbers = fromJsonSchema({ type: "object", properties: { a: integer, b: integer }, required: ["a", "b"] });
const nothing = fromJsonSchema({ type: "object", properties: {} });
const text = (text) => ({ content: [{ type: "text", text }] });
const add = ({ a, b }) => text(`${a + b}`);
const page = "x".repeat(10_000);

function make() {
  const server = new McpServer({ name: "npm", version: "1.0.0" });
  server.registerTool("add", { description: "Adds two numbers.", inputSchema: numbers }, add);
  server.registerTool("page", { description: "Reads a page.", inputSchema: nothing }, () => text(page));
  for (let number = 2; number < Number(tools); number += 1) {
    const name = `tool_${number}`;
    server.registerTool(name, { description: "Adds two numbers.", inputSchema: numbers }, add);
  }
  return server;
}

const sessions = new Map();

async function inSession(request, response) {
  let transport = sessions.get(request.headers["mcp-session-id"]);
  if (!transport) {
    transport = new NodeStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => sessions.set(id, transport),
    });
    await make().connect(transport);
  }
  await transport.handleRequest(request, response);
}

if (way === "stdio") {
  serveStdio(make);
} else {
  const handler = revision === "2026-07-28" ? toNodeHandler(createMcpHandler(make)) : inSession;
  const site = createServer(handler);
  site.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${site.address().port}/mcp`));
}
