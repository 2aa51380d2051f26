// An OpenTelemetry collector that keeps every byte that it receives. Only a program with the feature `otlp` sends it any.

import { createServer } from "node:http";

/** True if the program sends spans. */
export const HAS_TELEMETRY = process.env.TELEMETRY === "yes";

/** Starts it for one test. */
export async function startCollector(t) {
  let received = "";
  let notify = () => {};
  const server = createServer((request, response) => {
    received += request.rawHeaders.join("\n");
    request.setEncoding("latin1");
    request.on("data", (chunk) => (received += chunk));
    request.on("end", () => {
      response.writeHead(200, { "content-type": "application/x-protobuf" }).end();
      notify();
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    /** The value of `OTEL_EXPORTER_OTLP_ENDPOINT`. */
    url: `http://127.0.0.1:${server.address().port}`,
    received: () => received,
    /** Waits until a text was received. */
    async waitFor(text) {
      if (!HAS_TELEMETRY) return console.log("skipped: telemetry needs the feature `otlp`");
      while (!received.includes(text)) await new Promise((resolve) => (notify = resolve));
    },
  };
}
