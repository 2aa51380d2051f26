// HTML and script injection by text of the model, of tools and of the user.

import { describe, it } from "node:test";
import assert from "node:assert/strict";
import { openPage } from "./support/page.js";
import { startServerFor } from "./support/server.js";
import { fakeVendor, hasResults } from "./support/fake-vendor.js";

const TAGS = `<script>globalThis.owned = 1</script><img src="x" onerror="globalThis.owned = 1"><svg onload="globalThis.owned = 1"></svg>
<iframe srcdoc="<script>parent.owned = 1</script>"></iframe><style>* { display: none }</style><base href="https://evil.example/">`;

const MARKDOWN = `# Hi <img src=x onerror="globalThis.owned = 1">

${TAGS}

[one](javascript:globalThis.owned=1) [two](  JaVaScRiPt:globalThis.owned=1) [three](java&#115;cript:alert(1)) [four](data:text/html,<script>alert(1)</script>)
[five](vbscript:x) [six](file:///etc/passwd) [seven](//evil.example/a) [eight](/api/info) [nine](blob:http://x/y) [ten](<javascript:alert(1)>)
[eleven](java\tscript:alert(1)) <javascript:alert(1)> [bank.example](https://evil.example/login) [good](https://good.example/page)

![spy](https://evil.example/spy.png) ![spy](javascript:alert(1)) ![x](data:image/svg+xml,<svg onload=alert(1)>)

\`<b>code</b>\` **bold <i>tag</i>** | a | <u>b</u> |

| <b>h</b> | [x](javascript:alert(1)) |
|---|---|
| <script>globalThis.owned = 1</script> | ok |

\`\`\`html"><script>globalThis.owned = 1</script>
<script>globalThis.owned = 1</script>
\`\`\`
`;

/** Finds active content inside untrusted text. */
const activeContent = (page) =>
  page.evaluate(() => {
    const found = [];
    for (const node of document.querySelectorAll(".turn *, .conversations *, #heading *, dialog *, .try-result *")) {
      if (/^(script|iframe|object|embed|base|style|link|meta|form)$/i.test(node.tagName) && !node.closest(".approval"))
        found.push(node.tagName);
      if (node.tagName === "IMG" && !/^data:image\/(png|jpeg|gif|webp);/.test(node.src)) found.push(node.outerHTML);
      for (const { name, value } of node.attributes) {
        if (/^on|^style$|^srcdoc$/.test(name)) found.push(`${name} on ${node.tagName}`);
        if (
          /^(href|src|action|xlink:href|formaction)$/.test(name) &&
          !/^(https?:|mailto:|#\/|data:image\/(png|jpeg|gif|webp);)/.test(value)
        )
          found.push(`${name}=${value}`);
      }
    }
    return { found, owned: globalThis.owned ?? null, base: document.baseURI };
  });

const assertInert = async (page) =>
  assert.deepEqual(await activeContent(page), { found: [], owned: null, base: new URL(await page.url()).href });

describe("untrusted text", () => {
  it("from the model stays text, and its links lead only to the web", async (t) => {
    const model = await fakeVendor(t, (reply) => {
      for (let at = 0; at < MARKDOWN.length; at += 7) reply.text(MARKDOWN.slice(at, at + 7));
      reply.end();
    });
    const server = await startServerFor(t, model.options);
    const { page, send, waitForTurns, turn, screenshot } = await openPage(t, server.url);
    await send(TAGS);
    await waitForTurns(1);
    await turn(0).getByText("<script>globalThis.owned = 1</script>").first().waitFor();
    const links = await turn(0)
      .locator(".prose a")
      .evaluateAll((all) => all.map((link) => [link.textContent, link.href, link.rel, link.target]));
    const attributes = ["noopener noreferrer nofollow", "_blank"];
    assert.deepEqual(links, [
      ["https://evil.example/", "https://evil.example/", ...attributes],
      ["bank.example (evil.example)", "https://evil.example/login", ...attributes],
      ["good", "https://good.example/page", ...attributes],
      ["Image: spy", "https://evil.example/spy.png", ...attributes],
    ]);
    await assertInert(page);
    assert.equal(await page.locator(".turn img").count(), 0);
    await screenshot("hostile");
    // The same from the journal.
    await page.reload();
    await waitForTurns(1);
    await assertInert(page);
  });

  it("from a tool stays text, in results, errors and arguments", async (t) => {
    const model = await fakeVendor(t, (reply, body) => {
      if (hasResults(body)) reply.text("Done.").end();
      else
        reply.calls(
          ["get_weather", { city: `${TAGS}[x](javascript:alert(1))` }],
          ["get_city_time", { city: TAGS }],
          [TAGS.replaceAll(/[^a-z]/gi, ""), {}],
        );
    });
    const server = await startServerFor(t, model.options);
    const { page, send, waitForTurns, turn, screenshot } = await openPage(t, server.url);
    await send("Do it");
    await waitForTurns(1);
    for (const head of await turn(0).locator(".call-head[aria-expanded=false]").all()) await head.click();
    const shown = await turn(0).locator(".call-part pre").allTextContents();
    assert.ok(
      shown.some((text) => text.startsWith(TAGS.slice(0, 60)) && text.includes("Clear, 22C")),
      shown.join("\n"),
    );
    assert.ok(
      shown.some((text) => text.includes("unknown city `<script>")),
      shown.join("\n"),
    );
    assert.equal(await turn(0).locator(".call a").count(), 0);
    await assertInert(page);
    await screenshot("hostile-tool");
  });

  it("in an approval stays text, to the last character", async (t) => {
    const order = `A-1${TAGS}`;
    const model = await fakeVendor(t, (reply, body) => {
      if (hasResults(body)) reply.text("Done.").end();
      else reply.calls(["issue_refund", { order, amount: 1 }]);
    });
    const server = await startServerFor(t, model.options);
    const { page, send, waitForTurns } = await openPage(t, server.url);
    await send("Refund it");
    const approval = page.getByRole("group", { name: "Allow this call?" });
    assert.equal(await approval.locator("dd").first().textContent(), order);
    await assertInert(page);
    await approval.getByRole("button", { name: "Edit…" }).click();
    await assertInert(page);
    await approval.getByRole("button", { name: "Approve with changes" }).click();
    await waitForTurns(1);
    await assertInert(page);
  });

  it("in content items becomes no active image or link", async (t) => {
    const server = await startServerFor(t);
    const { page } = await openPage(t, server.url);
    await page.getByRole("heading", { name: "What can I do for you?" }).waitFor();
    const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    const items = [
      { type: "image", mimeType: "image/png", data: pixel },
      { type: "image", mimeType: "image/svg+xml", data: "PHN2ZyBvbmxvYWQ9ImFsZXJ0KDEpIi8+" },
      { type: "image", mimeType: 'image/png" onerror="alert(1)', data: "AAAA" },
      { type: "image", mimeType: "image/png", data: 'AAAA" onerror="alert(1)' },
      { type: "audio", mimeType: "audio/wav", data: "AAAA" },
      { type: "resource_link", uri: "javascript:alert(1)", name: "click me" },
      { type: "resource_link", uri: "https://good.example/file", name: "a file" },
      { type: "resource", resource: { uri: "file:///etc/passwd", text: TAGS } },
      { type: "resource", resource: { uri: "data:text/html,<script>alert(1)</script>", blob: "AAAA" } },
      { type: "unknown", html: TAGS },
      { type: "text", text: `{"json": ${JSON.stringify(TAGS)}}` },
    ];
    await page.evaluate(async (items) => {
      const { contentView } = await import("/js/ui/content-view.js");
      const parent = document.createElement("div");
      parent.className = "turn";
      parent.append(...contentView(items));
      document.getElementById("main").append(parent);
    }, items);
    await assertInert(page);
    const seen = await page
      .locator(".turn")
      .evaluate((node) => [...node.querySelectorAll("a, img")].map((it) => it.href ?? it.src));
    assert.deepEqual(seen, [`data:image/png;base64,${pixel}`, "https://good.example/file"]);
  });
});
