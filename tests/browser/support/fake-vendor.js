// A vendor on this machine that speaks Chat Completions and says what a test wants, when it wants.

import { createServer } from "node:http";

/**
 * Opens for one test.
 * @param {any} t
 * @param {(reply: Reply, body: any) => Promise<void> | void} answer told of each request
 */
export async function vendor(t, answer) {
  const asked = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const piece of request) text += piece;
    const body = JSON.parse(text);
    asked.push({ body, headers: request.headers });
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
    asked,
    /** How the program finds it. */
    settings: `[models.openai-chat]\nbase_url = "${base}"\nkey = "${KEY}"\n`,
  };
}

/** What must never be seen on a page. */
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

  /** Says a piece of text. */
  text(piece) {
    this.chunk({ content: piece });
    return this;
  }

  /** Ends the answer. */
  end(reason = "stop") {
    this.chunk({}, reason);
    this.response.end("data: [DONE]\n\n");
  }

  /** Calls tools, and ends the answer. */
  calls(...wanted) {
    wanted.forEach(([name, args], index) => {
      const call = { name, arguments: JSON.stringify(args) };
      this.chunk({ tool_calls: [{ index, id: `call_${index}`, type: "function", function: call }] });
    });
    this.end("tool_calls");
  }
}

/** Something that a test opens when it wants things to go on. */
export function gate() {
  let open;
  const opened = new Promise((resolve) => (open = resolve));
  return { open, opened };
}

/** Whether tools have answered since the person last said something. */
export function hasResults(body) {
  return body.messages.at(-1).role === "tool";
}
