// The search box of the tools page: while a person types, the server ranks the tools by the question.

import { h } from "../ui/dom.js";
import { icon } from "../ui/icons.js";
import { api } from "../net/api-client.js";

/** How long a person pauses before the server is asked, in milliseconds. */
const PAUSE = 150;

/** The maximum length of a question; the server accepts 2000 bytes. */
const MAX_LENGTH = 500;

/**
 * @typedef {{question: string, tools: any[], error: string | null}} SearchResult `tools` are ranked, each with its `score`
 * @param {(result: SearchResult | null) => void} onResult called with null if the box is empty
 */
export function toolSearch(onResult) {
  let timer = 0;
  let request = null;

  const search = async (question) => {
    const { signal } = (request = new AbortController());
    try {
      const tools = await api.searchTools(question, signal);
      if (!signal.aborted) onResult({ question, tools, error: null });
    } catch (error) {
      // A request that the next keystroke aborted is no error.
      if (!signal.aborted) onResult({ question, tools: [], error: error.message });
    }
  };
  const onInput = () => {
    clearTimeout(timer);
    request?.abort();
    const question = input.value.trim();
    if (question) timer = setTimeout(search, PAUSE, question);
    else onResult(null);
  };
  const input = h("input", {
    type: "search",
    "aria-label": "Find a tool",
    placeholder: "What should the tool do?",
    autocomplete: "off",
    maxlength: MAX_LENGTH,
    on: { input: onInput },
  });
  return h("div", { class: "search" }, icon("search"), input);
}
