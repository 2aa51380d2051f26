// The timeline of a turn: bars for the steps of the model, the calls and the time until approvals.

import { h } from "../ui/dom.js";
import { modelSteps } from "../state/conversation.js";
import { valueList } from "../ui/value-list.js";
import { cost, duration, tokens } from "../ui/format.js";

/** @param {any} turn */
export function timeline(turn) {
  const now = Date.now();
  const rows = modelSteps(turn).flatMap((step, index) => [stepRow(step, index, now), ...callRows(turn, step, now)]);
  if (!rows.length) return h("p", { class: "quiet" }, "Nothing has happened in this turn yet.");
  const start = Math.min(turn.at, ...rows.map((row) => row.from));
  const end = Math.max(...rows.map((row) => row.to));
  const span = Math.max(end - start, 1);
  const axis = h("p", { class: "quiet axis" }, h("span", {}, "0"), h("span", {}, duration(span)));
  return h(
    "div",
    {},
    axis,
    h(
      "ol",
      { class: "timeline" },
      rows.map((row) => rowView(row, start, span)),
    ),
    metadataView(turn),
  );
}

/** Displays the metadata that the endpoint's interceptors have added to the turn. */
function metadataView(turn) {
  return Object.keys(turn.metadata ?? {}).length ? valueList(turn.metadata) : null;
}

function stepRow(step, index, now) {
  const facts = [step.usage && tokens(step.usage), cost(step.cost, step.usage)].filter(Boolean).join(" · ");
  return { kind: "step", name: `Step ${index + 1}: the model`, from: step.at, to: step.endedAt ?? now, facts };
}

function callRows(turn, step, now) {
  const ids = step.parts.filter((part) => part.kind === "call").map((part) => part.id);
  return ids.flatMap((id) => {
    const call = turn.calls.get(id);
    const askedAt = step.endedAt ?? call.at;
    const rows = [];
    if (call.decision || call.state === "waiting") {
      rows.push({
        kind: "wait",
        name: `${call.tool}: your decision`,
        from: askedAt,
        to: call.startedAt ?? call.endedAt ?? now,
      });
    }
    if (call.startedAt) {
      const to = call.endedAt ?? now;
      const from = call.millis === null ? call.startedAt : Math.min(call.startedAt, to - call.millis);
      rows.push({ kind: call.state === "failed" ? "failed" : "call", name: call.tool, from, to, exact: call.millis });
    }
    return rows;
  });
}

function rowView(row, start, span) {
  const bar = h("span", { class: "bar", "data-kind": row.kind });
  // The content security policy forbids style attributes, but not this.
  bar.style.setProperty("--from", `${((row.from - start) / span) * 100}%`);
  bar.style.setProperty("--length", `${((row.to - row.from) / span) * 100}%`);
  const time = duration(row.exact ?? row.to - row.from);
  const facts = [time, row.facts].filter(Boolean).join(" · ");
  return h(
    "li",
    {},
    h("span", { class: "bar-name" }, row.name),
    h("span", { class: "bar-facts quiet" }, facts),
    h("span", { class: "lane" }, bar),
  );
}
