// Links to URLs from untrusted text.

import { h } from "./dom.js";
import { INVISIBLE } from "./escape.js";

const SCHEMES = new Set(["http:", "https:", "mailto:"]);

/**
 * Returns the normalized URL if it is absolute, or relative to a base, and its scheme is allowed, else null.
 * @param {string} url
 * @param {URL} [base]
 * @returns {string | null}
 */
function safeUrl(url, base) {
  try {
    const { protocol, href } = new URL(url.trim(), base);
    return SCHEMES.has(protocol) ? href : null;
  } catch {
    return null;
  }
}

/**
 * Creates a link that opens in a new tab without a referrer, or plain text if the URL is not allowed.
 * @param {string} url
 * @param {(Node | string)[]} children
 * @param {URL} [base] the base of relative URLs, which are not allowed otherwise
 * @returns {Node}
 */
export function externalLink(url, children, base) {
  const target = safeUrl(url, base);
  if (!target) return h("span", { class: "blocked-link", title: "This address is not opened from here" }, children);
  const node = h("a", { href: target, target: "_blank", rel: "noopener noreferrer nofollow", title: target }, children);
  // A label that looks like a URL of another host is followed by the actual host.
  const label = node.textContent.replaceAll(INVISIBLE, "").trim();
  const shownUrl = safeUrl(label) ?? safeUrl(`https://${label}`);
  const looksLikeUrl = /^[\w-]+(\.[\w-]+)+(\/|$)|:\/\//.test(label);
  if (looksLikeUrl && shownUrl && new URL(shownUrl).host !== new URL(target).host) {
    node.append(h("span", { class: "link-host" }, ` (${new URL(target).host})`));
  }
  return node;
}
