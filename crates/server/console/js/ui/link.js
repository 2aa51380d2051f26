// Links to URLs from untrusted text.

import { h } from "./dom.js";
import { INVISIBLE } from "./escape.js";

const SCHEMES = new Set(["http:", "https:", "mailto:"]);

/**
 * Returns the normalized URL if it is absolute and its scheme is allowed, else null.
 * @param {string} url
 * @returns {string | null}
 */
function safeUrl(url) {
  try {
    const { protocol, href } = new URL(url.trim());
    return SCHEMES.has(protocol) ? href : null;
  } catch {
    return null;
  }
}

/**
 * Creates a link that opens in a new tab without a referrer, or plain text if the URL is not allowed.
 * @param {string} url
 * @param {(Node | string)[]} children
 * @returns {Node}
 */
export function externalLink(url, children) {
  const target = safeUrl(url);
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
