// A local server for the Chat Completions protocol, with responses that the test scripts.

import { createServer } from "node:http";

/**
 * Starts it for one test.
 * @param {any} t
 * @param {(reply: Reply, body: any) => Promise<void> | void} answer responds to a request
 */
export async function fakeVendor(t, answer) {
  const requests = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    const body = JSON.parse(text);
    requests.push({ body, headers: request.headers });
    response.writeHead(200, { "content-type": "text/event-stream" });
    await answer(new Reply(response), body);
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const base = `http://127.0.0.1:${server.address().port}/v1`;
  return {
    requests,
    /** The options of `startServer` to use it as the model. */
    options: {
      model: "openai-chat:test-model",
      settings: `[models.openai-chat]\nbase_url = "${base}"\nkey = "${KEY}"\n`,
    },
  };
}

/** The API key, which no page may contain. */
export const KEY = "sk-made-up-0123456789abcdefghij";

class Reply {
  constructor(response) {
    this.response = response;
  }

  chunk(delta, reason = null) {
    const cached = { prompt_tokens_details: { cached_tokens: 25 } };
    const usage = reason ? { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120, ...cached } : null;
    const chunk = { id: "1", choices: [{ index: 0, delta, finish_reason: reason }], usage };
    this.response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  }

  /** Streams a piece of text. */
  text(content) {
    this.chunk({ content });
    return this;
  }

  /** Ends the response. */
  end(reason = "stop") {
    this.chunk({}, reason);
    this.response.end("data: [DONE]\n\n");
  }

  /** Calls tools and ends the response. */
  calls(...tools) {
    tools.forEach(([name, args], index) => {
      const call = { name, arguments: JSON.stringify(args) };
      this.chunk({ tool_calls: [{ index, id: `call_${index}`, type: "function", function: call }] });
    });
    this.end("tool_calls");
  }
}

/** Returns a promise and the function that resolves it: the test decides when to continue. */
export function gate() {
  let open;
  const opened = new Promise((resolve) => (open = resolve));
  return { open, opened };
}

/** Returns true if the request ends with tool results. */
export function hasResults(body) {
  return body.messages.at(-1).role === "tool";
}
