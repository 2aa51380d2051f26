// The files of the console: what is in them, and what they come with.

import { describe, it } from "node:test";
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { started } from "./support/server.js";

describe("the console's own files", () => {
  const folder = new URL("../../crates/server/console/", import.meta.url);
  const read = (name) => readFileSync(new URL(name, folder), "utf8");

  it("never parse text as HTML or run it", () => {
    const ways =
      /innerHTML|outerHTML|insertAdjacentHTML|document\.write|DOMParser|ContextualFragment|\beval\(|new Function/;
    const scripts = readdirSync(new URL("js/", folder), { recursive: true }).filter((name) => name.endsWith(".js"));
    assert.notEqual(scripts.length, 0);
    for (const name of scripts) assert.doesNotMatch(read(`js/${name}`), ways, name);
  });

  it("need nothing from elsewhere, and nothing inline", () => {
    const page = read("index.html");
    assert.doesNotMatch(page, /https?:|<style|style=|<script(?![^>]* src=)|\son\w+=/);
    for (const name of readdirSync(new URL("css/", folder)))
      assert.doesNotMatch(read(`css/${name}`), /url\(|@import/, name);
  });

  it("come with a policy that allows no more", async (t) => {
    const server = await started(t);
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
