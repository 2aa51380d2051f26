// Forms for schemas that the sample tools do not have, created in the real page.

import { after, before, describe, it } from "node:test";
import assert from "node:assert/strict";
import { openPage } from "./support/page.js";
import { startServer } from "./support/server.js";

const SCHEMA = {
  type: "object",
  required: ["name", "size", "sure", "place", "tags"],
  properties: {
    name: { type: "string", description: "What it is called.", maxLength: 10 },
    count: { type: "integer", minimum: 1, maximum: 9, default: 3 },
    ratio: { type: ["number", "null"] },
    loud: { type: "boolean", default: false },
    sure: { type: "boolean" },
    size: { oneOf: [{ const: "s", description: "fits a pocket" }, { const: "l" }] },
    tags: { type: "array", items: { type: "string" } },
    place: {
      oneOf: [
        { title: "City", type: "object", required: ["city"], properties: { city: { type: "string" } } },
        {
          title: "Point",
          type: "object",
          required: ["lat", "lon"],
          properties: { lat: { type: "number" }, lon: { type: "number" } },
        },
      ],
    },
    labels: { type: "object", additionalProperties: { type: "integer" } },
    tree: { $ref: "#/$defs/Tree" },
    any: {},
    kind: { const: "thing" },
  },
  $defs: {
    Tree: {
      type: "object",
      required: ["leaf"],
      properties: { leaf: { type: "string" }, below: { type: "array", items: { $ref: "#/$defs/Tree" } } },
    },
  },
};

describe("a form", () => {
  let server;
  before(async () => (server = await startServer()));
  after(() => server.kill());

  /** Displays a form on the page. */
  const build = async (t, schema, value) => {
    const opened = await openPage(t, server.url);
    const { page } = opened;
    await page.getByRole("heading", { name: "What can I do for you?" }).waitFor();
    await page.evaluate(
      async ([schema, value]) => {
        const { argumentsForm } = await import("/js/forms/arguments-form.js");
        const form = argumentsForm(schema, value ?? undefined);
        document.getElementById("main").replaceChildren(form.node);
        globalThis.read = form.read;
      },
      [schema, value],
    );
    return { ...opened, read: () => page.evaluate(() => globalThis.read()) };
  };

  it("has a field for every kind of schema", async (t) => {
    const { page, read, screenshot, assertAccessible } = await build(t, SCHEMA);
    const field = (name) => page.getByRole("textbox", { name });
    assert.equal((await read()).error, "A value is needed.");
    await field(/^name/).fill("much too long");
    assert.equal((await read()).error, "At most 10 characters.");
    await field(/^name/).fill("box");
    await page.getByRole("combobox", { name: /^size/ }).selectOption({ label: "s – fits a pocket" });
    await page.getByRole("checkbox", { name: "sure" }).check();
    await page.getByRole("button", { name: "Add to tags" }).click();
    await field("Item").fill("red");
    await page.getByRole("button", { name: "Add to tags" }).click();
    await field("Item").nth(1).fill("green");
    await page.getByRole("button", { name: "Remove item 1" }).click();
    await page.getByRole("combobox", { name: "Form of place" }).selectOption("Point");
    await field(/^lat/).fill("52.5");
    await field(/^lon/).fill("13.4");
    const least = {
      name: "box",
      sure: true,
      size: "s",
      tags: ["green"],
      place: { lat: 52.5, lon: 13.4 },
      kind: "thing",
    };
    assert.deepEqual((await read()).value, least);

    await field(/^count/).fill("12");
    assert.equal((await read()).error, "At most 9.");
    await field(/^count/).fill("2.5");
    assert.equal((await read()).error, "A whole number is needed.");
    await field(/^count/).fill("2");
    await page.getByRole("combobox", { name: /^loud/ }).selectOption("yes");
    await page.getByRole("checkbox", { name: /^labels/ }).check();
    await page.getByRole("button", { name: "Add to labels" }).click();
    await field("Key").fill("weight");
    await field("Value").fill("7");
    await page.getByRole("checkbox", { name: /^tree/ }).check();
    await field("leaf").fill("oak");
    await field(/^any/).fill("[1,");
    assert.match((await read()).error, /^This is not JSON/);
    await field(/^any/).fill("[1, null]");
    const all = { ...least, count: 2, loud: true, labels: { weight: 7 }, tree: { leaf: "oak" }, any: [1, null] };
    assert.deepEqual((await read()).value, all);
    await assertAccessible("a form");
    await screenshot("form");
  });

  it("starts with existing arguments, and returns them unchanged", async (t) => {
    const value = {
      name: "a\rbox",
      size: "l",
      sure: false,
      place: { lat: 1, lon: 2 },
      tags: ["a\r\nb", "\u202eb"],
      labels: { x: 1 },
      tree: { leaf: "oak", below: [{ leaf: "twig" }] },
      kind: "thing",
    };
    const { read } = await build(t, SCHEMA, value);
    assert.deepEqual((await read()).value, value);
  });

  it("switches from form to JSON and back without losing anything", async (t) => {
    const { page, read } = await build(
      t,
      { type: "object", properties: { a: { type: "integer" } } },
      { a: 1, other: [true] },
    );
    await page.getByText("JSON", { exact: true }).click();
    await page.getByRole("textbox", { name: /Arguments/ }).fill('{"a": 2, "other": [true]}');
    await page.getByText("Form", { exact: true }).click();
    await page.getByRole("textbox", { name: /^a / }).fill("3");
    assert.deepEqual((await read()).value, { a: 3, other: [true] });
  });
});
