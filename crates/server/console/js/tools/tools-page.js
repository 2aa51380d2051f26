// The tools page: a list that can be searched, and for each tool a form to call it, its schema and the lowered schemas.

import { h, button, emptyState, setChildren, uid } from "../ui/dom.js";
import { icon } from "../ui/icons.js";
import { api } from "../net/api-client.js";
import { announce } from "../ui/live-region.js";
import { inlineCode } from "../ui/inline-code.js";
import { confirm } from "../ui/dialog.js";
import { argumentsForm } from "../forms/arguments-form.js";
import { contentView, notesView } from "../ui/content-view.js";
import { duration } from "../ui/format.js";
import { jsonDetails, jsonView } from "../ui/json-view.js";
import { connectionsPanel } from "./connections-panel.js";
import { loweredSchema } from "./lowered-schema.js";
import { toolSearch } from "./tool-search.js";
import { argumentList } from "../ui/value-list.js";

const HINTS = [
  ["readOnlyHint", "read-only", ""],
  ["destructiveHint", "destructive", "danger"],
  ["idempotentHint", "idempotent", ""],
  ["openWorldHint", "reaches outside", ""],
];

/** @param {any} app */
export function toolsPage(app) {
  const list = h("ul", { class: "master-list" });
  let selected = null;
  let found = null;
  const search = toolSearch((result) => {
    found = result;
    const count = draw();
    if (!found) return;
    const matches = count === 1 ? "1 tool matches." : `${count || "No"} tools match.`;
    announce(found.error ?? matches, { urgent: Boolean(found.error) });
  });
  const warnings = h("div", { class: "error", role: "status" });
  const connections = connectionsPanel();
  const master = h("div", { class: "master" }, search, warnings, connections.node, list);
  const detail = h("section", { class: "detail", "aria-live": "off" });
  const node = h("div", { class: "split" }, master, detail);

  /** Displays the tools that were found, or all; returns their number. */
  const draw = () => {
    const tools = found ? withPartialMatches(found, app.tools ?? []) : (app.tools ?? []);
    const none = found ? "No tool matches." : "No tools are registered.";
    setChildren(
      list,
      found?.error && h("li", { class: "error" }, found.error),
      tools.length || found?.error ? tools.map(listItem) : h("li", { class: "quiet" }, none),
    );
    return tools.length;
  };
  const listItem = (tool) =>
    h(
      "li",
      {},
      h(
        "a",
        { href: `#/tools/${encodeURIComponent(tool.name)}`, "aria-current": tool.name === selected ? "page" : null },
        h("span", { class: "listed-name" }, h("strong", {}, tool.title ?? tool.name), scoreOf(tool)),
        h("code", {}, tool.name),
        h("span", { class: "quiet" }, tool.description),
      ),
    );
  /** Displays current warnings, for example that an attached server has changed a tool. */
  const loadWarnings = async () => {
    const { warnings: messages = [] } = await api.info();
    setChildren(
      warnings,
      messages.map((text) => h("p", {}, text)),
    );
  };

  return {
    node,
    async show(name) {
      selected = name ?? null;
      connections.show();
      node.dataset.detail = name ? "yes" : "no";
      if (!app.tools) setChildren(detail, h("p", { class: "quiet" }, "Loading…"));
      try {
        await app.load();
      } catch (error) {
        return void setChildren(detail, h("p", { class: "error" }, error.message));
      }
      draw();
      // If it fails, the next visit of the page tries again.
      loadWarnings().catch(() => {});
      // A search also finds a tool that was added after the page was loaded.
      const tool = [...app.tools, ...(found?.tools ?? [])].find((it) => it.name === name);
      setChildren(detail, tool ? toolView(tool, app.info) : noTool(name));
    },
  };
}

/** Returns the ranked tools, then those that contain the text as it is: the last word may be half typed. */
function withPartialMatches({ question, tools }, all) {
  const ranked = new Set(tools.map((tool) => tool.name));
  const contains = (tool) =>
    `${tool.name} ${tool.title} ${tool.description}`.toLowerCase().includes(question.toLowerCase());
  return [...tools, ...all.filter((tool) => !ranked.has(tool.name) && contains(tool))];
}

function scoreOf({ score }) {
  if (score === undefined) return null;
  const title = "How well it matches, compared with the others of this search";
  return h("span", { class: "score", title }, `score ${score.toFixed(2)}`);
}

function noTool(name) {
  const text = "Try it with a form, read its schema, and see what each provider makes of it.";
  return emptyState(name ? `There is no tool ${name}` : "Choose a tool", h("p", { class: "quiet" }, text));
}

function toolView(tool, info) {
  const tags = HINTS.filter(([key]) => tool.annotations?.[key]).map(([, label, kind]) =>
    h("span", { class: `tag ${kind}` }, label),
  );
  if (tool.approval) tags.push(h("span", { class: "tag wider" }, "asks first"));
  return h(
    "div",
    { class: "tool" },
    h("a", { class: "back", href: "#/tools" }, "All tools"),
    h("h2", {}, tool.title ?? tool.name),
    h("p", { class: "tool-names" }, h("code", {}, tool.name), h("span", { class: "quiet" }, tool.bundle), tags),
    h("p", {}, inlineCode(tool.description)),
    h("h3", {}, "Try it"),
    tryForm(tool),
    h("h3", {}, "For providers"),
    loweredSchema(tool, info?.dialects ?? []),
    jsonDetails("Schema", tool.inputSchema),
    tool.outputSchema && jsonDetails("Schema of the result", tool.outputSchema),
  );
}

function tryForm(tool) {
  const form = argumentsForm(tool.inputSchema);
  const output = h("div", { class: "try-result", role: "status", id: uid("result") });
  const callButton = button("Call", { icon: icon("send"), kind: "primary", type: "submit" });

  const run = async (event) => {
    event.preventDefault();
    const { value, error: invalid } = form.read();
    if (invalid) return;
    callButton.disabled = true;
    setChildren(output, h("p", { class: "quiet" }, h("span", { class: "pulse" }), "Running…"));
    const startedAt = performance.now();
    try {
      const result = await callWithApproval(tool, value);
      const millis = performance.now() - startedAt;
      setChildren(output, result ? resultView(result, millis) : h("p", { class: "quiet" }, "Not called."));
    } catch (error) {
      setChildren(output, h("p", { class: "error" }, error.message));
      announce(error.message, { urgent: true });
    } finally {
      callButton.disabled = false;
    }
  };
  return h(
    "form",
    { class: "try-form", novalidate: true, on: { submit: run } },
    form.node,
    h("div", { class: "buttons" }, callButton),
    output,
  );
}

/** Calls a tool, after a confirmation if it needs approval; returns null if that was not given. */
async function callWithApproval(tool, value) {
  try {
    return await api.call(tool.name, { arguments: value });
  } catch (error) {
    if (error.kind !== "approval") throw error;
  }
  const body = [h("p", {}, h("code", {}, tool.name)), h("p", {}, inlineCode(tool.description)), argumentList(value)];
  const isConfirmed = await confirm(`Call ${tool.title ?? tool.name}?`, body, "Call it");
  return isConfirmed ? api.call(tool.name, { arguments: value, confirmed: true }) : null;
}

function resultView(result, millis) {
  const isOk = result.outcome === "ok";
  const heading = h(
    "p",
    { class: "outcome", "data-good": isOk ? "yes" : "no" },
    icon(isOk ? "check" : "cross"),
    isOk ? "Done" : result.outcome.replaceAll("_", " "),
    h("span", { class: "quiet" }, duration(millis)),
  );
  const data = result.structuredContent ? jsonView(result.structuredContent, { label: "Structured result" }) : null;
  return [heading, contentView(result.content), data, notesView(result.notes)];
}
