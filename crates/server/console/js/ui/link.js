// Which addresses a page may offer, whoever wrote them.

import { h } from "./dom.js";
import { HIDDEN } from "./escape.js";

const SCHEMES = new Set(["http:", "https:", "mailto:"]);

/**
 * The address if a person may be sent there, else nothing: only whole addresses of three schemes.
 * @param {string} address
 * @returns {string | null}
 */
function safeAddress(address) {
  try {
    const url = new URL(address.trim());
    return SCHEMES.has(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

/**
 * A link that opens elsewhere and tells nobody where from; plain text where the address is none to follow.
 * @param {string} address
 * @param {(Node | string)[]} children
 * @returns {Node}
 */
export function link(address, children) {
  const safe = safeAddress(address);
  if (!safe) return h("span", { class: "no-link", title: "This address is not opened from here" }, children);
  const node = h("a", { href: safe, target: "_blank", rel: "noopener noreferrer nofollow", title: safe }, children);
  // A text that looks like one address and leads to another says where it leads.
  const words = node.textContent.replaceAll(HIDDEN, "").trim();
  const shown = safeAddress(words) ?? safeAddress(`https://${words}`);
  const looksLike = /^[\w-]+(\.[\w-]+)+(\/|$)|:\/\//.test(words);
  if (looksLike && shown && new URL(shown).host !== new URL(safe).host) {
    node.append(h("span", { class: "leads-to" }, ` (${new URL(safe).host})`));
  }
  return node;
}
