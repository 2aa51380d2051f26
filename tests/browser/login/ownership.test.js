// Every route of the server, tried by one person for the conversation of another: each response is that of an id which
// does not exist.

import { describe, it } from "node:test";
import assert from "node:assert/strict";
import { SUITE_TIMEOUT, beginConversation, probe, probeJson, start } from "./support/people.js";

const DECISION = { call: "c", token: "t", verdict: "approve" };
const MESSAGES = [{ id: "m", role: "user", parts: [{ type: "text", text: "Hello" }] }];
const run = (id) => ({ threadId: id, runId: "r", messages: [], tools: [], context: [] });

/** The body of each operation that names a conversation, a link or an approval. */
const BODIES = {
  "get /api/conversations/{id}": null,
  "get /api/conversations/{id}/events": null,
  "get /api/conversations/{id}/export": null,
  "get /api/conversations/{id}/shares": null,
  "delete /api/conversations/{id}/queue/{position}": null,
  "delete /api/conversations/{id}/shares/{share}": null,
  "post /api/conversations/{id}/decide": () => DECISION,
  "post /api/conversations/{id}/stop": () => ({}),
  "post /api/conversations/{id}/shares": () => ({ access: "read" }),
  "patch /api/conversations/{id}": () => ({ title: "Mine" }),
  "delete /api/conversations/{id}": null,
  "get /api/chat/{id}/stream": null,
  "post /api/chat/{id}/stop": () => ({}),
  "get /api/conversations/{id}/stream": null,
  "post /agui": run,
  "delete /api/shares/{share}": null,
  "post /api/approvals/{approval}": () => DECISION,
  // These begin a conversation under an id of one's own, so they are the last.
  "post /api/conversations/{id}/prompt": () => ({ text: "Hello" }),
  "post /api/chat": (id) => ({ id, messages: MESSAGES }),
  "post /api/conversations/{id}/chat": (id) => ({ id, messages: MESSAGES }),
};

/** Operations that the OpenAPI document leaves out: the same handlers at another path. */
const UNDOCUMENTED = [
  "post /api/chat/{id}/stop",
  "get /api/conversations/{id}/stream",
  "post /api/conversations/{id}/chat",
];

/** Returns true if an operation of the OpenAPI document names something that belongs to a person. */
function isOwned(path) {
  return /\{(id|share|approval)\}/.test(path) && !path.startsWith("/api/sessions");
}

describe("a conversation of another person", { timeout: SUITE_TIMEOUT }, () => {
  it("is refused on every route like one that does not exist", async (t) => {
    const { signIn } = await start(t, { more: '[tools.issue_refund]\napprovers = "role:manager"\n' });
    const ada = await signIn("ada");
    const id = await beginConversation(ada);
    const share = await probeJson(ada.page, "POST", `/api/conversations/${id}/shares`, { access: "participate" });
    await ada.send("Refund order A-1042, 20 euros");
    await ada.page.getByRole("group", { name: "This call waits for others" }).waitFor();
    const before = await probe(ada.page, "GET", `/api/conversations/${id}/export`);

    const bob = await signIn("bob");
    const mia = await signIn("mia");
    const [approval] = await probeJson(mia.page, "GET", "/api/approvals");
    const { paths } = await probeJson(bob.page, "GET", "/api/openapi.json");
    const documented = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods)
        .filter((method) => method !== "parameters")
        .map((method) => `${method} ${path}`),
    );
    const owned = documented.filter((operation) => isOwned(operation.split(" ")[1]));
    const tried = Object.keys(BODIES).filter((it) => !UNDOCUMENTED.includes(it));
    assert.deepEqual([...owned, "post /api/chat", "post /agui"].sort(), tried.sort(), "every route is tried");

    // What exists beside what does not, in every form of an id.
    const pairs = [
      [id, "never-begun-by-anybody"],
      [`@corp%3Aada/${id}`, "@corp%3Aada/never-begun"],
      [`@corp:ada/${id}`, "@corp:nobody/never-begun"],
      [`@~${share.id}`, "@~never-created"],
    ];
    const rows = [];
    for (const [operation, body] of Object.entries(BODIES)) {
      const [method, template] = operation.split(" ");
      for (const [existing, unknown] of pairs) {
        const of = async (name, shareId, approvalId) => {
          const path = template
            .replace("{id}", encodeURIComponent(name))
            .replace("{position}", "1")
            .replace("{share}", shareId)
            .replace("{approval}", approvalId);
          const { text, ...rest } = await probe(bob.page, method.toUpperCase(), path, body?.(name));
          return { ...rest, text: normalised(text, name) };
        };
        const [found, missing] = [await of(existing, share.id, approval.id), await of(unknown, "never", "never")];
        assert.deepEqual(found, missing, `${operation} of ${existing}`);
        assert.doesNotMatch(found.text, /Tokyo|refund/i, operation);
        if (existing.startsWith("@")) assert.ok(found.status >= 400, `${operation} of ${existing}: ${found.status}`);
        rows.push(`${operation} ${existing.replace(/^@~.*/, "@~SHARE").replace(id, "ID")} → ${found.status}`);
      }
    }
    for (const [existing, unknown] of pairs) {
      const found = await probeSocket(bob.page, existing);
      assert.deepEqual(found, await probeSocket(bob.page, unknown), `WebSocket of ${existing}`);
    }
    console.log(`${rows.length} pairs of requests were answered alike:\n${rows.join("\n")}`);

    // Nothing of it had an effect.
    assert.deepEqual(await probe(ada.page, "GET", `/api/conversations/${id}/export`), before);
    assert.equal((await probeJson(ada.page, "GET", `/api/conversations/${id}/shares`)).length, 1);
    assert.equal((await probeJson(mia.page, "GET", "/api/approvals")).length, 1);
  });
});

/** Replaces what is different in every response: the id, ids drawn at random, times and sequence numbers. */
function normalised(text, id) {
  // The id of an entry may begin with letters only.
  const drawn = /\b[0-9a-f]{16}\b|[A-Za-z0-9_-]*\d[A-Za-z0-9_-]{9,}/g;
  return text.replaceAll(JSON.stringify(id).slice(1, -1), "ID").replaceAll(drawn, "DRAWN").replaceAll(/\d{10,}/g, "NUMBER");
}

/** Opens a WebSocket of a conversation with the cookies of a page; returns its first two messages, or that it closed. */
function probeSocket(page, id) {
  const connect = (path) =>
    new Promise((resolve) => {
      const socket = new WebSocket(new URL(path, location.href));
      const messages = [];
      const finish = (outcome) => {
        socket.close();
        resolve(outcome);
      };
      socket.onclose = () => finish(["closed", ...messages]);
      socket.onmessage = ({ data }) => {
        messages.push(JSON.parse(data));
        if (messages.length === 2) finish(messages);
      };
    });
  const path = `/api/conversations/${encodeURIComponent(id)}`;
  return page.evaluate(connect, path).then((messages) => normalised(JSON.stringify(messages), id));
}
