//! The end of a run: finished, paused or failed.

use serde_json::{Map, Value, json};
use toolwright_chat::{PendingApproval, TurnEnd, Usage};
use toolwright_core::CallId;

use super::AgUiEncoder;
use crate::auth::request_context::is_client_tool_call;
use crate::protocols::Messages;
use crate::protocols::ag_ui::thread::interrupt_json;

impl AgUiEncoder {
    /// Ends a run with its pending decisions, or with the calls that the client has to run.
    pub(super) fn finish_paused_run(&mut self, out: &mut Messages) {
        self.end_step(out);
        let (client_calls, approvals): (Vec<&PendingApproval>, Vec<&PendingApproval>) =
            self.pending_approvals.0.iter().partition(|approval| is_client_tool_call(approval));
        let outcome = match (approvals.is_empty(), client_calls.is_empty()) {
            (true, true) => json!({ "type": "success" }),
            (true, false) => {
                let calls: Vec<&CallId> =
                    client_calls.iter().map(|approval| &approval.call.id).collect();
                json!({ "type": "success", "pendingToolCallIds": calls })
            }
            (false, _) => {
                let interrupts: Vec<Value> = approvals.into_iter().map(interrupt_json).collect();
                json!({ "type": "interrupt", "interrupts": interrupts })
            }
        };
        let event = self.run_finished_event(outcome, None);
        out.push(event);
    }

    pub(super) fn finish_ended_run(
        &mut self,
        end: &TurnEnd,
        usage: Usage,
        cost: Option<f64>,
        out: &mut Messages,
    ) {
        let outcome = match end {
            TurnEnd::Cancelled => json!({ "type": "cancelled" }),
            TurnEnd::Limit { reason } => return self.fail_run("limit", reason, Some(usage), out),
            TurnEnd::Failed { reason } => return self.fail_run("failed", reason, Some(usage), out),
            _ => json!({ "type": "success" }),
        };
        self.end_step(out);
        let mut event = self.run_finished_event(outcome, Some(usage));
        let mut metadata = json!(end);
        if let Some(metadata) = metadata.as_object_mut() {
            if let Some(cost) = cost {
                metadata.insert("cost".to_owned(), json!(cost));
            }
            if usage.estimated {
                // The entries of `usage` have no place for it.
                metadata.insert("estimated".to_owned(), true.into());
            }
        }
        if let Some(event) = event.as_object_mut() {
            event.insert("metadata".to_owned(), json!({ "toolwright": metadata }));
        }
        out.push(event);
    }

    fn run_finished_event(&self, outcome: Value, usage: Option<Usage>) -> Value {
        let mut event = json!({
            "type": "RUN_FINISHED", "threadId": self.thread_id, "runId": self.run_id, "outcome": outcome,
        });
        if let (Some(event), Some(usage)) = (event.as_object_mut(), usage) {
            event.insert("usage".to_owned(), self.usage_json(usage));
        }
        event
    }

    pub(super) fn fail_run(
        &mut self,
        code: &str,
        message: &str,
        usage: Option<Usage>,
        out: &mut Messages,
    ) {
        self.end_step(out);
        let mut event = run_error_event(code, message);
        if let (Some(event), Some(usage)) = (event.as_object_mut(), usage) {
            event.insert("usage".to_owned(), self.usage_json(usage));
        }
        out.push(event);
    }

    fn usage_json(&self, usage: Usage) -> Value {
        let mut entry = Map::new();
        if let Some(model) = &self.model {
            entry.insert("provider".to_owned(), model.vendor.as_str().into());
            entry.insert("model".to_owned(), model.name.as_str().into());
        }
        for (name, count) in [
            ("inputTokens", usage.input),
            ("outputTokens", usage.output),
            ("totalTokens", usage.total()),
            ("reasoningTokens", usage.reasoning),
            ("cachedInputTokens", usage.cached),
            ("cacheWriteInputTokens", usage.cache_written),
        ] {
            entry.insert(name.to_owned(), count.into());
        }
        json!([entry])
    }
}

/// The event of a failed run.
pub(crate) fn run_error_event(code: &str, message: &str) -> Value {
    json!({ "type": "RUN_ERROR", "code": code, "message": message })
}
