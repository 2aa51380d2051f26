// A turn as bars over time: steps of the model, calls, and how long somebody was waited for.

import { h } from "../ui/dom.js";
import { taken } from "../state/conversation.js";
import { values } from "../ui/value-list.js";
import { cost, duration, tokens } from "../ui/format.js";

/** @param {any} turn @param {number} now */
export function timeline(turn, now = Date.now()) {
  const rows = taken(turn).flatMap((step, index) => [stepRow(step, index, now), ...callRows(turn, step, now)]);
  if (!rows.length) return h("p", { class: "quiet" }, "Nothing has happened in this turn yet.");
  const start = Math.min(turn.at, ...rows.map((row) => row.from));
  const end = Math.max(...rows.map((row) => row.to));
  const span = Math.max(end - start, 1);
  const head = h("p", { class: "quiet axis" }, h("span", {}, "0"), h("span", {}, duration(span)));
  return h(
    "div",
    {},
    head,
    h(
      "ol",
      { class: "timeline" },
      rows.map((row) => draw(row, start, span)),
    ),
    metadata(turn),
  );
}

/** What the endpoint's interceptors said about the turn. */
function metadata(turn) {
  return Object.keys(turn.metadata ?? {}).length ? values(turn.metadata) : null;
}

function stepRow(step, index, now) {
  const facts = [step.usage && tokens(step.usage), cost(step.cost)].filter(Boolean).join(" · ");
  return { kind: "step", name: `Step ${index + 1}: the model`, from: step.at, to: step.endedAt ?? now, facts };
}

function callRows(turn, step, now) {
  const ids = step.parts.filter((part) => part.kind === "call").map((part) => part.id);
  return ids.flatMap((id) => {
    const call = turn.calls.get(id);
    const asked = step.endedAt ?? call.at;
    const rows = [];
    if (call.verdict || call.state === "waiting") {
      rows.push({
        kind: "wait",
        name: `${call.tool}: your decision`,
        from: asked,
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

function draw(row, start, span) {
  const bar = h("span", { class: "bar", "data-kind": row.kind });
  // By the object model, not by an attribute: the page allows no inline style.
  bar.style.setProperty("--from", `${((row.from - start) / span) * 100}%`);
  bar.style.setProperty("--long", `${((row.to - row.from) / span) * 100}%`);
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
