//! Calls that may run in, their results out: each told as started before it runs, as finished before it is shown.

use std::sync::Arc;
use std::time::Instant;

use toolwright_core::{CallEvent, CallId, Invoker, Outcome, Scope, ToolCall, ToolResult};

use super::Performance;
use super::decide::Recorded;
use crate::entry::{Verdict, What};
use crate::error::ChatError;
use crate::event::ChatEvent;

impl Performance {
    /// Runs calls: those that only read at the same time, the others in order.
    pub(super) async fn run(&self, ids: &[CallId]) -> Result<(), ChatError> {
        let elsewhere = ids.iter().filter(|id| self.is_elsewhere(id));
        let decided: Vec<ToolResult> = elsewhere.filter_map(|id| self.passed_on(id)).collect();
        self.finished(decided).await?;
        let calls = self.calls(ids);
        let invoker = self
            .invoker
            .with_approver(Recorded(Arc::clone(&self.journal)));
        let ran = invoker
            .each(&calls, |call| self.run_one(&invoker, call))
            .await;
        ran.into_iter().collect()
    }

    async fn run_one(&self, invoker: &Invoker, call: &ToolCall) -> Result<(), ChatError> {
        let verdict = self.journal.told().turn.verdict(&call.id).cloned();
        let runs = !matches!(verdict, Some(Verdict::Deny { .. } | Verdict::Answer { .. }));
        if runs {
            let id = call.id.clone();
            self.journal.tell([What::Started { call: id }]).await?;
            self.listener.tell(ChatEvent::Running {
                call: call.id.clone(),
                tool: call.name.clone(),
            });
        }
        let began = Instant::now();
        let scope = self.scope_of(call, verdict.as_ref());
        let result = invoker.invoke_in(&scope, call).await;
        let finished = result.clone();
        self.journal
            .tell([What::Finished { result: finished }])
            .await?;
        let millis = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.listener.tell(ChatEvent::Result { result, millis });
        Ok(())
    }

    fn scope_of(&self, call: &ToolCall, verdict: Option<&Verdict>) -> Scope {
        let listener = self.listener.clone();
        let scope = self.scope.clone().on_event(move |event| {
            if let Some(event) = shown(event) {
                listener.tell(event);
            }
        });
        let told = self.journal.told();
        let token = told
            .entries
            .iter()
            .rev()
            .find_map(|entry| match &entry.what {
                What::Asked {
                    call: id, token, ..
                } if *id == call.id => Some(token.clone()),
                _ => None,
            });
        match (verdict, token) {
            (Some(Verdict::Approve), Some(token)) => scope.grant(token),
            _ => scope,
        }
    }

    /// The result of a call that the vendor runs: only whether it may.
    fn passed_on(&self, call: &CallId) -> Option<ToolResult> {
        let verdict = self.journal.told().turn.verdict(call).cloned()?;
        Some(match verdict {
            Verdict::Approve => {
                let mut result = ToolResult::success("approved");
                (result.call, result.tool) = (call.clone(), self.tool_of(call));
                result
            }
            Verdict::Deny { reason } => self.refused(call, Outcome::Denied, &reason),
            Verdict::Edit { .. } | Verdict::Answer { .. } => {
                let reason = "what a vendor runs can only be approved or denied";
                self.refused(call, Outcome::Denied, reason)
            }
        })
    }
}

fn shown(event: CallEvent) -> Option<ChatEvent> {
    match event {
        CallEvent::Progress {
            call,
            done,
            total,
            message,
        } => Some(ChatEvent::Progress {
            call,
            done,
            total,
            message,
        }),
        CallEvent::Update { result, .. } => Some(ChatEvent::Update { result }),
        _ => None,
    }
}
