// The approvals page: calls of others that wait for a decision of this person, without their conversations.

import { h, emptyState, proseNodes, setChildren } from "../ui/dom.js";
import { api } from "../net/api-client.js";
import { announce } from "../ui/live-region.js";
import { approvalForm } from "../chat/approval-form.js";
import { relativeTime } from "../ui/format.js";

/** @param {any} app its `setApprovals` shows the number in the sidebar */
export function approvalsPage(app) {
  const list = h("div", { class: "prompts" });
  const node = h("div", { class: "page" }, list);
  /** The approvals that were decided here: the server accepts a decision before it takes effect. */
  const decided = new Set();

  const view = (approval) => {
    const { id, call, tool, token } = approval;
    const decide = async (decision) => {
      await api.decideApproval(id, { call, token, ...decision });
      decided.add(id);
      announce("Decided", { show: true });
      await refresh();
    };
    const by = approval.requested_by ?? "The operator";
    return h(
      "section",
      { class: "prompt", "aria-label": tool.title ?? tool.name },
      h("h2", {}, tool.title ?? tool.name),
      h("p", { class: "quiet" }, proseNodes(`For ${by}, ${relativeTime(approval.at)}`)),
      approvalForm({ approval: { arguments: approval.arguments, token } }, tool, decide),
    );
  };
  const refresh = async () => {
    try {
      const approvals = (await api.approvals()).filter(({ id }) => !decided.has(id));
      app.setApprovals(approvals.length);
      const nothing = emptyState("Nothing waits for you", h("p", { class: "quiet" }, "Calls that others ask for are decided here."));
      setChildren(list, approvals.length ? approvals.map(view) : nothing);
    } catch (error) {
      setChildren(list, h("p", { class: "error" }, error.message));
    }
  };
  return {
    node,
    show() {
      setChildren(list, h("p", { class: "quiet" }, "Loading…"));
      return refresh();
    },
  };
}
