// A small server of the TypeScript SDK: a sum with a structured result, some progress, a failure and a prompt.
//
// `stdio` serves over the standard streams; `http` prints its address. CommonJS, since only `require` looks into NODE_PATH.

const { createServer } = require("node:http");

const { toNodeHandler } = require("@modelcontextprotocol/node");
const { McpServer, createMcpHandler, fromJsonSchema } = require("@modelcontextprotocol/server");
const { serveStdio } = require("@modelcontextprotocol/server/stdio");

const object = (properties) =>
  fromJsonSchema({ type: "object", properties, required: Object.keys(properties), additionalProperties: false });
const number = { type: "integer" };
const said = (text) => ({ content: [{ type: "text", text }] });

function shop() {
  const server = new McpServer({ name: "shop", version: "1.0.0" });
  const add = {
    description: "Adds two numbers.",
    inputSchema: object({ a: number, b: number }),
    outputSchema: object({ result: number }),
  };
  server.registerTool("add", add, ({ a, b }) => ({ ...said(`${a + b}`), structuredContent: { result: a + b } }));
  const pack = { description: "Packs items, one after the other.", inputSchema: object({ items: number }) };
  server.registerTool("pack", pack, async ({ items }, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (let item = 1; item <= items && progressToken !== undefined; item += 1) {
      await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress: item, total: items } });
    }
    return said(`packed ${items}`);
  });
  server.registerTool("break_down", { description: "Fails." }, () => {
    throw new Error("the shop is closed");
  });
  const greet = { description: "Greets somebody.", argsSchema: object({ name: { type: "string" } }) };
  server.registerPrompt("greet", greet, ({ name }) => ({
    messages: [{ role: "user", content: { type: "text", text: `Say hello to ${name}.` } }],
  }));
  return server;
}

if (process.argv[2] === "stdio") {
  serveStdio(shop);
} else {
  const site = createServer(toNodeHandler(createMcpHandler(shop)));
  site.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${site.address().port}/mcp`));
}
