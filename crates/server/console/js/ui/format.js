// Numbers and times in a person's words.

const ONE = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
const WHOLE = new Intl.NumberFormat();
const AGO = new Intl.RelativeTimeFormat(undefined, { numeric: "auto", style: "short" });
const DAY = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const EXACT = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** How long: `3 ms`, `1.2 s`, `2 min 5 s`. */
export function duration(millis) {
  if (millis < 1) return "<1 ms";
  if (millis < 1000) return `${Math.round(millis)} ms`;
  if (millis < 60_000) return `${ONE.format(millis / 1000)} s`;
  return `${Math.floor(millis / 60_000)} min ${Math.round((millis % 60_000) / 1000)} s`;
}

/** How many tokens; a tilde where nobody counted them. */
export function tokens(usage) {
  const total = (usage.input ?? 0) + (usage.output ?? 0);
  return `${usage.estimated ? "~" : ""}${WHOLE.format(total)} tokens`;
}

/** In and out, for those who want to know. */
export function tokensInOut(usage) {
  const mark = usage.estimated ? "~" : "";
  const cached = usage.cached ? ` (${WHOLE.format(usage.cached)} from cache)` : "";
  return `${mark}${WHOLE.format(usage.input ?? 0)} tokens in${cached}, ${mark}${WHOLE.format(usage.output ?? 0)} out`;
}

/** What it cost; nothing where no price is known. */
export function cost(amount) {
  if (typeof amount !== "number") return null;
  if (amount === 0) return "$0";
  return amount < 0.01 ? `$${amount.toPrecision(2)}` : `$${amount.toFixed(2)}`;
}

/** How long ago. */
export function ago(at, now = Date.now()) {
  const minutes = Math.round((at - now) / 60_000);
  if (minutes > -1) return "now";
  if (minutes > -60) return AGO.format(minutes, "minute");
  if (minutes > -60 * 24) return AGO.format(Math.round(minutes / 60), "hour");
  if (minutes > -60 * 24 * 7) return AGO.format(Math.round(minutes / 60 / 24), "day");
  return DAY.format(at);
}

/** When exactly. */
export function exact(at) {
  return EXACT.format(at);
}

/** How much text: `1.4 kB`. */
export function size(characters) {
  return characters < 1000 ? `${characters} B` : `${ONE.format(characters / 1000)} kB`;
}

/** `demo`, `openai:gpt-5`: a model by the name that `--model` takes. */
export function modelName(model) {
  if (!model) return "";
  if (typeof model === "string") return model;
  return model.name ? `${model.vendor}:${model.name}` : model.vendor;
}

/** How many of what. */
export function count(number, word) {
  return `${WHOLE.format(number)} ${word}${number === 1 ? "" : "s"}`;
}
