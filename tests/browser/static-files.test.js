// The served files of the console: forbidden constructs, and the content security policy.

import { describe, it } from "node:test";
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { startServerFor } from "./support/server.js";

describe("the console's own files", () => {
  const folder = new URL("../../crates/server/console/", import.meta.url);
  const read = (name) => readFileSync(new URL(name, folder), "utf8");
  const scripts = readdirSync(new URL("js/", folder), { recursive: true }).filter((name) => name.endsWith(".js"));

  it("never parse text as HTML or run it", () => {
    const forbidden =
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|ContextualFragment|\beval\(|new Function/;
    for (const name of scripts) assert.doesNotMatch(read(`js/${name}`), forbidden, name);
  });

  it("load nothing from other hosts, and contain no inline code", () => {
    const page = read("index.html");
    assert.doesNotMatch(page, /https?:|<style|style=|<script(?![^>]* src=)|\son\w+=/);
    for (const name of readdirSync(new URL("css/", folder)))
      assert.doesNotMatch(read(`css/${name}`), /url\(|@import/, name);
  });

  it("are all served, in any folder", async (t) => {
    const server = await startServerFor(t);
    assert.ok(scripts.includes("ui/dom.js"), scripts.join());
    for (const name of scripts) {
      const response = await fetch(`${server.url}/js/${name}`);
      assert.equal(response.headers.get("content-type"), "text/javascript; charset=utf-8", name);
      assert.equal(await response.text(), read(`js/${name}`), name);
    }
  });

  it("are served with a policy that allows no more", async (t) => {
    const server = await startServerFor(t);
    const policy = (await fetch(server.url)).headers.get("content-security-policy");
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ]) {
      assert.ok(policy.split("; ").includes(rule), `${rule}: ${policy}`);
    }
    assert.doesNotMatch(policy, /unsafe|\*|https?:/);
  });
});
