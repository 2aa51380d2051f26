// Formats numbers, times, token counts and costs for display.

const ONE_DIGIT = new Intl.NumberFormat(undefined, { maximumFractionDigits: 1 });
const WHOLE = new Intl.NumberFormat();
const RELATIVE = new Intl.RelativeTimeFormat(undefined, { numeric: "auto", style: "short" });
const DAY = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });
const DATE_TIME = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** Formats a duration: `3 ms`, `1.2 s`, `2 min 5 s`. */
export function duration(millis) {
  if (millis < 1) return "<1 ms";
  if (millis < 1000) return `${Math.round(millis)} ms`;
  if (millis < 60_000) return `${ONE_DIGIT.format(millis / 1000)} s`;
  return `${Math.floor(millis / 60_000)} min ${Math.round((millis % 60_000) / 1000)} s`;
}

/** Formats the total of tokens; a tilde marks an estimate. */
export function tokens(usage) {
  const total = (usage.input ?? 0) + (usage.output ?? 0);
  return `${usage.estimated ? "~" : ""}${WHOLE.format(total)} tokens`;
}

/** Formats input, cached and output tokens. */
export function tokenDetails(usage) {
  const tilde = usage.estimated ? "~" : "";
  const cached = usage.cached ? ` (${WHOLE.format(usage.cached)} from cache)` : "";
  return `${tilde}${WHOLE.format(usage.input ?? 0)} tokens in${cached}, ${tilde}${WHOLE.format(usage.output ?? 0)} out`;
}

/** Formats a cost in dollars; a tilde marks that of estimated tokens. Returns null if no price is known. */
export function cost(amount, usage) {
  if (typeof amount !== "number") return null;
  if (amount === 0) return "$0";
  const tilde = usage?.estimated ? "~" : "";
  return amount < 0.01 ? `${tilde}$${amount.toPrecision(2)}` : `${tilde}$${amount.toFixed(2)}`;
}

/** Formats a time relative to now: `now`, `5 min. ago`, `3 Mar`. */
export function relativeTime(at, now = Date.now()) {
  const minutes = Math.round((at - now) / 60_000);
  if (minutes > -1) return "now";
  if (minutes > -60) return RELATIVE.format(minutes, "minute");
  if (minutes > -60 * 24) return RELATIVE.format(Math.round(minutes / 60), "hour");
  if (minutes > -60 * 24 * 7) return RELATIVE.format(Math.round(minutes / 60 / 24), "day");
  return DAY.format(at);
}

/** Formats a date and time. */
export function dateTime(at) {
  return DATE_TIME.format(at);
}

/** Formats the length of a text: `1.4 kB`. */
export function textSize(characters) {
  return characters < 1000 ? `${characters} B` : `${ONE_DIGIT.format(characters / 1000)} kB`;
}

/** Returns the name that `--model` takes: `demo`, `openai:gpt-5`. */
export function modelName(model) {
  if (!model) return "";
  if (typeof model === "string") return model;
  return model.name ? `${model.vendor}:${model.name}` : model.vendor;
}

/** Formats a number with its noun: `1 step`, `2 steps`. */
export function count(number, word) {
  return `${WHOLE.format(number)} ${word}${number === 1 ? "" : "s"}`;
}

/** Formats a JSON value: strings without quotes, everything else as JSON. */
export function valueText(value) {
  return typeof value === "string" ? value : JSON.stringify(value);
}
