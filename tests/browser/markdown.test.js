// The Markdown renderer, with valid, unclosed and deeply nested input.

import { describe, it } from "node:test";
import assert from "node:assert/strict";
import { openPage } from "./support/page.js";
import { startServerFor } from "./support/server.js";

describe("Markdown", () => {
  it("with deep nesting or unclosed delimiters is rendered, with limited depth", async (t) => {
    const server = await startServerFor(t);
    const { page } = await openPage(t, server.url);
    await page.getByRole("heading", { name: "What can I do for you?" }).waitFor();
    const texts = [
      "[",
      "[a](",
      "*a _b ",
      "**a ",
      "`",
      "``` \n",
      "> ",
      "- ",
      "![",
      "<",
      "|-",
      "https://a.b/(",
      "\\",
      "~~",
      "a**b__",
      "1. ",
      "#",
      " \n",
      "_*",
    ];
    const depths = await page.evaluate(async (texts) => {
      const { markdown } = await import("/js/markdown/markdown.js");
      const parent = document.createElement("div");
      const rendered = texts.map((text) => {
        const whole = text.repeat(5000);
        parent.replaceChildren();
        markdown(parent, whole);
        const closed = `${whole}\n\n${"*".repeat(5000)}a${"*".repeat(5000)} ${"[".repeat(5000)}x${"](https://a.example)".repeat(5000)}`;
        markdown(parent, closed);
        let depth = 0;
        const walk = (node, at) => {
          depth = Math.max(depth, at);
          for (const child of node.children) walk(child, at + 1);
        };
        walk(parent, 0);
        return depth;
      });
      return rendered;
    }, texts);
    assert.ok(Math.max(...depths) < 64, depths.join());
  });

  it("is rendered, and nothing else is", async (t) => {
    const server = await startServerFor(t);
    const { page } = await openPage(t, server.url);
    await page.getByRole("heading", { name: "What can I do for you?" }).waitFor();
    const html = (source) =>
      page.evaluate(async (source) => {
        const { markdown } = await import("/js/markdown/markdown.js");
        const parent = document.createElement("div");
        markdown(parent, source);
        for (const node of parent.querySelectorAll("[dir]")) node.removeAttribute("dir");
        for (const node of parent.querySelectorAll("a"))
          for (const name of ["rel", "target", "title"]) node.removeAttribute(name);
        return parent.innerHTML;
      }, source);
    const cases = [
      [
        "a *b* **c** ***d*** ~~e~~ `f`",
        "<p>a <em>b</em> <strong>c</strong> <em><strong>d</strong></em> <del>e</del> <code>f</code></p>",
      ],
      ["snake_case_name and 2 * 3 * 4", "<p>snake_case_name and 2 * 3 * 4</p>"],
      ["# One\n## Two #\ntext", "<h3>One</h3><h4>Two</h4><p>text</p>"],
      [
        "- a\n- b\n  - c\n\n1) x\n2) y",
        "<ul><li>a</li><li>b<ul><li>c</li></ul></li></ul><ol><li>x</li><li>y</li></ol>",
      ],
      ["3. a\n4. b", '<ol start="3"><li>a</li><li>b</li></ol>'],
      ["> a\n> > b", "<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote>"],
      ["a\\\nb  \nc\nd", "<p>a<br>b  <br>c\nd</p>"],
      [
        "see https://a.example/x_(y)_z. Or <https://b.example>",
        '<p>see <a href="https://a.example/x_(y)_z">https://a.example/x_(y)_z</a>. Or <a href="https://b.example/">https://b.example</a></p>',
      ],
      ["[a *b*](https://c.example 'title') \\[no](x)", '<p><a href="https://c.example/">a <em>b</em></a> [no](x)</p>'],
      ["[a [b](https://c.example)", '<p>[a <a href="https://c.example/">b</a></p>'],
      ["***", "<hr>"],
      ["a &amp; <b>", "<p>a &amp;amp; &lt;b&gt;</p>"],
    ];
    for (const [source, expected] of cases) assert.equal(await html(source), expected, source);
  });
});
