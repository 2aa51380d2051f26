// The page for people who are not signed in: a button for each provider, and the form for a token if the server takes one.

import { h } from "../ui/dom.js";
import { SERVER_URL } from "../net/api-client.js";

/** The explanations of the kinds of a failed sign-in, which the server adds to the URL. */
const FAILURES = {
  declined: "The sign-in was declined.",
  expired: "The sign-in took too long, or was begun in another browser. Try again.",
  failed: "The provider’s answer was not accepted. Try again; if it stays so, tell the operator of this server.",
  unavailable: "The provider cannot be reached now. Try again in a while.",
  "not-allowed": "You are signed in there, but may not use this server. Ask its operator.",
};

/** Removes the kind of a failed sign-in from the URL, and returns its explanation, or null. */
export function takeSignInFailure() {
  const match = /^#sign-in=([a-z-]+)$/.exec(location.hash);
  if (!match) return null;
  history.replaceState(null, "", location.pathname + location.search);
  return FAILURES[match[1]] ?? FAILURES.failed;
}

/**
 * @param {{name: string, label: string, unavailable?: boolean}[]} providers
 * @param {string | null} failure why the last attempt failed
 * @param {Node | null} tokenForm
 */
export function signInPage(providers, failure, tokenForm) {
  if (!providers.length) return tokenForm;
  const returnTo = location.pathname + location.search + location.hash;
  const link = ({ name, label }) => {
    const url = new URL(`api/login/${encodeURIComponent(name)}`, SERVER_URL);
    url.searchParams.set("return", returnTo);
    return h("a", { class: "button primary", href: url.href }, `Sign in with ${label}`);
  };
  return h(
    "div",
    {},
    h(
      "section",
      { class: "empty-state sign-in" },
      h("h2", {}, "Sign in"),
      failure && h("p", { class: "error", role: "alert" }, failure),
      providers
        .filter(({ unavailable }) => unavailable)
        .map(({ label }) => h("p", { role: "status" }, `${label} cannot be reached now, so signing in may fail. Try again in a while.`)),
      h("div", { class: "buttons" }, providers.map(link)),
    ),
    tokenForm,
  );
}
