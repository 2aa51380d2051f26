// What a provider is told of a tool, and what is lost on the way.

import { h, fill, uid } from "../ui/dom.js";
import { api } from "../api/client.js";
import { json } from "../ui/json-view.js";

const MEANING = {
  note: "Only told elsewhere: the same arguments are possible.",
  wider: "The model may send more than is valid; such a call is refused.",
  narrower: "The model cannot send everything that is valid.",
};

/** @param {any} tool @param {string[]} dialects */
export function lowering(tool, dialects) {
  if (!dialects.length) return h("p", { class: "quiet" }, "No providers are known.");
  const id = uid("dialect");
  const select = h(
    "select",
    { id },
    dialects.map((dialect) => h("option", { value: dialect }, dialect)),
  );
  const body = h("div", { class: "lowered", role: "status" });
  const show = async () => {
    const dialect = select.value;
    try {
      const lowered = await api.lowered(tool.name, dialect);
      if (select.value === dialect) fill(body, view(lowered));
    } catch (error) {
      fill(body, h("p", { class: "fault" }, error.message));
    }
  };
  select.addEventListener("change", show);
  show();
  return h("div", {}, h("div", { class: "field inline" }, h("label", { for: id }, "Lowered for"), select), body);
}

function view({ schema, losses }) {
  const fold = h(
    "details",
    { class: "fold" },
    h("summary", {}, "What it is told"),
    json(schema, { label: "Lowered schema" }),
  );
  if (!losses?.length) return [h("p", { class: "good" }, "Nothing is lost."), fold];
  const row = (loss) =>
    h(
      "tr",
      {},
      h("td", {}, h("span", { class: `tag ${loss.severity}`, title: MEANING[loss.severity] }, loss.severity)),
      h("td", {}, h("code", {}, loss.path || "/")),
      h("td", {}, h("code", {}, loss.keyword)),
      h("td", {}, loss.spilled ?? ""),
    );
  const names = ["Severity", "Where", "Keyword", "Described instead as"];
  const head = h(
    "tr",
    {},
    names.map((name) => h("th", { scope: "col" }, name)),
  );
  const meant = [...new Set(losses.map((loss) => loss.severity))].map((severity) =>
    h("li", {}, h("strong", {}, severity), ` ${MEANING[severity] ?? ""}`),
  );
  return [
    h(
      "div",
      { class: "table", tabindex: 0, role: "group", "aria-label": "Losses" },
      h("table", {}, h("thead", {}, head), h("tbody", {}, losses.map(row))),
    ),
    h("ul", { class: "meanings quiet" }, meant),
    fold,
  ];
}
