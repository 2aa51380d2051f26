// Messages that the start screen suggests: descriptions of tools, filled in with the examples of their parameters.

import { escapeText } from "../ui/escape.js";

const MAX_SUGGESTIONS = 4;
const MAX_LENGTH = 100;

/**
 * Suggests messages for tools that change nothing or need approval, and have an example for each required parameter.
 * @param {any[]} tools
 * @returns {string[]}
 */
export function suggestedMessages(tools) {
  const safe = tools.filter((tool) => tool.annotations?.readOnlyHint || tool.approval);
  const examples = Object.assign({}, ...safe.map(examplesOf));
  const messages = safe.map((tool) => messageFor(tool, { ...examples, ...examplesOf(tool) }));
  return messages.filter(Boolean).slice(0, MAX_SUGGESTIONS);
}

/** Returns the examples of a tool's parameters by their names. */
function examplesOf({ inputSchema: { properties = {} } }) {
  const exampleOf = ({ examples, enum: options, description = "" }) => {
    // Values stand in backticks, as names of parameters do.
    const quoted = [...description.matchAll(/`([^`]+)`/g)].map(([, text]) => text);
    return examples?.[0] ?? options?.[0] ?? quoted.find((text) => !Object.hasOwn(properties, text));
  };
  const found = Object.entries(properties).map(([name, schema]) => [name, exampleOf(schema)]);
  return Object.fromEntries(found.filter(([, example]) => ["string", "number"].includes(typeof example)));
}

/** "Returns the weather in a city." becomes "Tell me the weather in Paris"; null if an example is missing. */
function messageFor({ description = "", inputSchema }, examples) {
  let message = imperative(description.split(/[.!?](?:\s|$)|\n/, 1)[0]);
  const rest = [];
  for (const parameter of inputSchema.required ?? []) {
    if (!Object.hasOwn(examples, parameter)) return null;
    const [name, example] = [parameter.replaceAll("_", " "), String(examples[parameter])];
    const named = /\d/.test(example) ? `${name} ${example}` : example;
    const noun = new RegExp(`\\b(?:an?|the) ${name.replaceAll(/\W/g, "\\W")}\\b`, "i");
    if (noun.test(message)) message = message.replace(noun, () => named);
    else rest.push(named);
  }
  if (rest.length) message += `: ${rest.join(", ")}`;
  return message.length <= MAX_LENGTH && escapeText(message) === message ? message : null;
}

/** Changes the verb that a description begins with: "Searches" to "Search". */
function imperative(sentence) {
  if (sentence.startsWith("Returns ")) return sentence.replace("Returns", "Tell me");
  return sentence.replace(/^(\w+?)(?:(i)es|(ch|sh|ss|x)es|([^\Ws])s)\b/, (word, stem, y, hissing, last) =>
    word === "This" ? word : stem + (y ? "y" : (hissing ?? last)),
  );
}
