// The footer of the sidebar that shows what is left of the person's quota; hidden if nothing is limited.

import { h, setAttribute, setChildren } from "../ui/dom.js";
import { api } from "../net/api-client.js";
import { cost, duration } from "../ui/format.js";

const WHOLE = new Intl.NumberFormat();

/** The limits in the order in which they are shown, and how each is named. */
const LIMITS = [
  ["messages_per_minute", "messages this minute"],
  ["tokens_per_day", "tokens today"],
  ["cost_per_day", "today"],
];

const amount = (limit, value) => (limit === "cost_per_day" ? cost(value) : WHOLE.format(value));

/** Returns the text of a limit: `12 of 20 messages this minute left`; a tilde marks what is partly estimated. */
function limitText({ limit, left, max, estimated }, noun) {
  return `${estimated ? "~" : ""}${amount(limit, left)} of ${amount(limit, max)} ${noun} left`;
}

export function quotaStatus() {
  const node = h("div", { id: "quota", class: "quiet", hidden: true });
  let timer = 0;
  let requests = 0;

  const draw = (limits) => {
    const shown = LIMITS.flatMap(([name, noun]) => {
      const found = limits.find(({ limit }) => limit === name);
      return found ? [{ ...found, noun }] : [];
    });
    setChildren(
      node,
      shown.map((it) => {
        const line = h("p", { class: it.left <= 0 ? "used-up" : "" }, limitText(it, it.noun));
        if (it.resets_in) setAttribute(line, "title", `Resets in ${duration(it.resets_in * 1000)}`);
        return line;
      }),
    );
    node.hidden = !shown.length;
    // What counts for a minute is shown again when it does not count any more.
    clearTimeout(timer);
    const soonest = Math.min(...shown.map(({ resets_in }) => resets_in ?? Infinity));
    if (soonest <= 60) timer = setTimeout(refresh, soonest * 1000);
  };

  /** Reads the quota again; if that fails, the last one stays. */
  async function refresh() {
    const request = ++requests;
    try {
      const { limits } = await api.quota();
      // Responses may arrive in another order.
      if (request === requests) draw(limits);
    } catch {
      // It is read again after the next turn.
    }
  }

  return { node, refresh };
}
