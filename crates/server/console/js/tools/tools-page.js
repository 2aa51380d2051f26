// The tools: a list, and for each a form to try it, its schema, and what each provider makes of that.

import { h, button, fill, uid } from "../ui/dom.js";
import { icon } from "../ui/icons.js";
import { api } from "../api/client.js";
import { announce } from "../ui/live-region.js";
import { coded } from "../ui/inline-code.js";
import { confirm } from "../ui/dialog.js";
import { argumentsForm } from "../forms/arguments-form.js";
import { content } from "../ui/content-view.js";
import { duration } from "../ui/format.js";
import { json } from "../ui/json-view.js";
import { lowering } from "./lowered-schema.js";
import { argumentValues } from "../ui/value-list.js";

const HINTS = [
  ["readOnlyHint", "read-only", ""],
  ["destructiveHint", "destructive", "danger"],
  ["idempotentHint", "idempotent", ""],
  ["openWorldHint", "reaches outside", ""],
];

/** @param {any} app */
export function toolsPage(app) {
  const list = h("ul", { class: "master-list" });
  const search = h("input", {
    type: "search",
    "aria-label": "Find a tool",
    placeholder: "Find a tool…",
    autocomplete: "off",
  });
  const warnings = h("div", { class: "fault", role: "status" });
  const master = h("div", { class: "master" }, h("div", { class: "search" }, icon("search"), search), warnings, list);
  const detail = h("section", { class: "detail", "aria-live": "off" });
  const node = h("div", { class: "split" }, master, detail);
  let chosen = null;

  const draw = () => {
    const wanted = search.value.trim().toLowerCase();
    const matches = (tool) => `${tool.name} ${tool.title} ${tool.description}`.toLowerCase().includes(wanted);
    const found = app.tools.filter(matches);
    fill(list, found.map(line));
    if (!found.length)
      fill(list, h("li", { class: "quiet" }, app.tools.length ? "No tool matches." : "No tools are registered."));
  };
  const line = (tool) =>
    h(
      "li",
      {},
      h(
        "a",
        { href: `#/tools/${encodeURIComponent(tool.name)}`, "aria-current": tool.name === chosen ? "page" : null },
        h("strong", {}, tool.title ?? tool.name),
        h("code", {}, tool.name),
        h("span", { class: "quiet" }, tool.description),
      ),
    );
  /** Shows what is wrong with the tools just now, such as one that an attached server has changed. */
  const warn = async () => {
    const { warnings: told = [] } = await api.info();
    fill(
      warnings,
      told.map((text) => h("p", {}, text)),
    );
  };
  search.addEventListener("input", draw);

  return {
    node,
    async show(name) {
      chosen = name ?? null;
      node.dataset.detail = name ? "yes" : "no";
      if (!app.tools) fill(detail, h("p", { class: "quiet" }, "Loading…"));
      try {
        await app.load();
      } catch (error) {
        return void fill(detail, h("p", { class: "fault" }, error.message));
      }
      draw();
      // What cannot be asked for now is asked for with the next look.
      warn().catch(() => {});
      const tool = app.tools.find((it) => it.name === name);
      if (tool) fill(detail, toolView(tool, app.info));
      else
        fill(
          detail,
          h(
            "div",
            { class: "nothing" },
            h("h2", {}, name ? `There is no tool ${name}` : "Choose a tool"),
            h("p", { class: "quiet" }, "Try it with a form, read its schema, and see what each provider makes of it."),
          ),
        );
    },
  };
}

function toolView(tool, info) {
  const tags = HINTS.filter(([key]) => tool.annotations?.[key]).map(([, word, kind]) =>
    h("span", { class: `tag ${kind}` }, word),
  );
  if (tool.approval) tags.push(h("span", { class: "tag wider" }, "asks first"));
  const schema = h(
    "details",
    { class: "fold" },
    h("summary", {}, "Schema"),
    json(tool.inputSchema, { label: "Schema" }),
  );
  const output = tool.outputSchema
    ? h(
        "details",
        { class: "fold" },
        h("summary", {}, "Schema of the result"),
        json(tool.outputSchema, { label: "Schema of the result" }),
      )
    : null;
  return h(
    "div",
    { class: "tool" },
    h("a", { class: "back", href: "#/tools" }, "All tools"),
    h("h2", {}, tool.title ?? tool.name),
    h("p", { class: "tool-names" }, h("code", {}, tool.name), h("span", { class: "quiet" }, tool.bundle), tags),
    h("p", {}, coded(tool.description)),
    h("h3", {}, "Try it"),
    trial(tool),
    h("h3", {}, "For providers"),
    lowering(tool, info?.dialects ?? []),
    schema,
    output,
  );
}

function trial(tool) {
  const form = argumentsForm(tool.inputSchema);
  const result = h("div", { class: "trial-result", role: "status", id: uid("result") });
  const call = button("Call", { icon: icon("send"), kind: "primary", type: "submit" });

  const run = async (event) => {
    event.preventDefault();
    const { value, fault } = form.read();
    if (fault) return;
    call.disabled = true;
    fill(result, h("p", { class: "quiet" }, h("span", { class: "pulse" }), "Running…"));
    const began = performance.now();
    try {
      const told = await attempt(tool, value);
      const took = performance.now() - began;
      fill(result, told ? outcome(told, took) : h("p", { class: "quiet" }, "Not called."));
    } catch (error) {
      fill(result, h("p", { class: "fault" }, error.message));
      announce(error.message, { urgent: true });
    } finally {
      call.disabled = false;
    }
  };
  return h(
    "form",
    { class: "trial", novalidate: true, on: { submit: run } },
    form.node,
    h("div", { class: "buttons" }, call),
    result,
  );
}

/** Calls it; asks first where the tool wants that. */
async function attempt(tool, value) {
  try {
    return await api.call(tool.name, { arguments: value });
  } catch (error) {
    if (error.kind !== "approval") throw error;
  }
  const about = [h("p", {}, h("code", {}, tool.name)), h("p", {}, coded(tool.description)), argumentValues(value)];
  const sure = await confirm(`Call ${tool.title ?? tool.name}?`, about, "Call it");
  return sure ? api.call(tool.name, { arguments: value, confirmed: true }) : null;
}

function outcome(told, took) {
  const good = told.outcome === "ok";
  const head = h(
    "p",
    { class: "outcome", "data-good": good ? "yes" : "no" },
    icon(good ? "check" : "cross"),
    good ? "Done" : told.outcome.replaceAll("_", " "),
    h("span", { class: "quiet" }, duration(took)),
  );
  const notes = told.notes?.length
    ? h(
        "ul",
        { class: "notes" },
        told.notes.map((note) => h("li", {}, note)),
      )
    : null;
  const data = told.structuredContent ? json(told.structuredContent, { label: "Structured result" }) : null;
  return [head, content(told.content), data, notes];
}
