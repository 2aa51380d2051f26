// A tool's schema as lowered for the dialect of a provider, with the losses.

import { h, setChildren, uid } from "../ui/dom.js";
import { api } from "../net/api-client.js";
import { jsonDetails } from "../ui/json-view.js";

const SEVERITY_TEXTS = {
  note: "Only told elsewhere: the same arguments are possible.",
  wider: "The model may send more than is valid; such a call is refused.",
  narrower: "The model cannot send everything that is valid.",
};

/** @param {any} tool @param {string[]} dialects */
export function loweredSchema(tool, dialects) {
  if (!dialects.length) return h("p", { class: "quiet" }, "No providers are known.");
  const id = uid("dialect");
  const select = h(
    "select",
    { id },
    dialects.map((dialect) => h("option", { value: dialect }, dialect)),
  );
  const body = h("div", { class: "lowered", role: "status" });
  const load = async () => {
    const dialect = select.value;
    try {
      const lowered = await api.lowered(tool.name, dialect);
      if (select.value === dialect) setChildren(body, loweredView(lowered));
    } catch (error) {
      setChildren(body, h("p", { class: "error" }, error.message));
    }
  };
  select.addEventListener("change", load);
  load();
  return h("div", {}, h("div", { class: "field inline" }, h("label", { for: id }, "As sent to"), select), body);
}

function loweredView({ schema, losses }) {
  const schemaDetails = jsonDetails("The schema that it receives", schema, "The schema that it receives");
  if (!losses?.length) return [h("p", { class: "good" }, "Nothing is lost."), schemaDetails];
  const row = (loss) =>
    h(
      "tr",
      {},
      h("td", {}, h("span", { class: `tag ${loss.severity}`, title: SEVERITY_TEXTS[loss.severity] }, loss.severity)),
      h("td", {}, h("code", {}, loss.path || "/")),
      h("td", {}, h("code", {}, loss.keyword)),
      h("td", {}, loss.spilled ?? ""),
    );
  const columns = ["Severity", "Where", "Keyword", "Described instead as"];
  const header = h(
    "tr",
    {},
    columns.map((name) => h("th", { scope: "col" }, name)),
  );
  const legend = [...new Set(losses.map((loss) => loss.severity))].map((severity) =>
    h("li", {}, h("strong", {}, severity), ` ${SEVERITY_TEXTS[severity] ?? ""}`),
  );
  return [
    h(
      "div",
      { class: "table", tabindex: 0, role: "group", "aria-label": "Losses" },
      h("table", {}, h("thead", {}, header), h("tbody", {}, losses.map(row))),
    ),
    h("ul", { class: "loss-legend quiet" }, legend),
    schemaDetails,
  ];
}
