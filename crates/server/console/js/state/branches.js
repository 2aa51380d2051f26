// The branches of a conversation: the versions of a message, and where each of them leads.
//
// Pure: no DOM, no requests.

/** @typedef {{first: string, after: string, last: string}} Branch a run of entries, by their ids, as the server lists them */

/**
 * Returns the branches that begin at the place of a turn, in the order in which they began, and the index of its own.
 * @param {Branch[]} branches
 * @param {{first?: string, after?: string}} turn
 */
export function versionsOf(branches, { first, after }) {
  const versions = branches.filter((branch) => branch.after === after);
  const index = versions.findIndex((branch) => branch.first === first);
  return { versions: index < 0 ? [] : versions, index };
}

/**
 * Returns the id of the entry with which a branch ends, or the newest of those that continue it.
 * @param {Branch[]} branches
 * @param {Branch} branch
 * @returns {string}
 */
export function endOf(branches, branch) {
  const next = branches.findLast(({ after }) => after === branch.last);
  return next ? endOf(branches, next) : branch.last;
}
