// The scripted answer, streamed by the AI SDK: `node server.cjs PIECES`, a JSON array of texts.
//
// CommonJS, since only `require` looks into NODE_PATH.

const { createServer } = require("node:http");

const { createUIMessageStream, pipeUIMessageStreamToResponse } = require("ai");

const pieces = JSON.parse(process.argv[2]);

async function execute({ writer }) {
  writer.write({ type: "start" });
  writer.write({ type: "start-step" });
  writer.write({ type: "text-start", id: "1" });
  for (const delta of pieces) {
    writer.write({ type: "text-delta", id: "1", delta });
  }
  writer.write({ type: "text-end", id: "1" });
  writer.write({ type: "finish-step" });
  writer.write({ type: "finish" });
}

const site = createServer(async (request, response) => {
  let body = "";
  for await (const chunk of request) {
    body += chunk;
  }
  JSON.parse(body);
  await pipeUIMessageStreamToResponse({ response, stream: createUIMessageStream({ execute }) });
});
site.listen(0, "127.0.0.1", () => console.log(`127.0.0.1:${site.address().port}`));
