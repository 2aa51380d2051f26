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
        self.pass_on(ids).await?;
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
        let (verdict, over) = {
            let turn = &self.journal.told().turn;
            (turn.verdict(&call.id).cloned(), turn.fatal().is_some())
        };
        if over {
            return Ok(());
        }
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
        let scope = self.scope_of();
        let result = invoker.invoke_in(&scope, call).await;
        let finished = result.clone();
        self.journal
            .tell([What::Finished { result: finished }])
            .await?;
        let millis = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.listener.tell(ChatEvent::Result { result, millis });
        Ok(())
    }

    fn scope_of(&self) -> Scope {
        let listener = self.listener.clone();
        self.scope.clone().on_event(move |event| {
            if let Some(event) = shown(event) {
                listener.tell(event);
            }
        })
    }

    /// Passes on what was decided about calls that the vendor runs; tells whether there are any.
    pub(super) async fn pass_on(&self, ids: &[CallId]) -> Result<bool, ChatError> {
        let elsewhere = ids.iter().filter(|id| self.is_elsewhere(id));
        let decided: Vec<ToolResult> = elsewhere.map(|id| self.passed_on(id)).collect();
        let any = !decided.is_empty();
        if any {
            self.finished(decided).await?;
        }
        Ok(any)
    }

    /// The result of a call that the vendor runs: only whether it may.
    fn passed_on(&self, call: &CallId) -> ToolResult {
        let verdict = self.journal.told().turn.verdict(call).cloned();
        let denied = |reason: &str| self.refused(call, Outcome::Denied, reason);
        match verdict {
            Some(Verdict::Approve) => {
                let mut result = ToolResult::success("approved");
                (result.call, result.tool) = (call.clone(), self.tool_of(call));
                result
            }
            Some(Verdict::Deny { reason }) => denied(&reason),
            Some(Verdict::Edit { .. } | Verdict::Answer { .. }) => {
                denied("what a vendor runs can only be approved or denied")
            }
            None => denied("it needs approval, and nobody has decided"),
        }
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
