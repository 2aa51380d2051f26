//! Runs calls: each is recorded as started before it runs, and as finished before its result is emitted.

use std::pin::pin;
use std::sync::Arc;
use std::time::Instant;

use toolwright_core::__internal::whole_millis;
use toolwright_core::{
    CallEvent, CallId, CallScope, CancellationToken, Invoker, Outcome, ToolCall, ToolResult,
};

use super::TurnRunner;
use super::approvals::JournalApprover;
use crate::chat::event::ChatEvent;
use crate::error::ChatError;
use crate::journal::entry::{ApprovalVerdict, EntryBody};
use crate::journal::history::unknown_outcome;

impl TurnRunner {
    /// Runs calls: read-only ones at the same time, the others in order. At the time limit of the turn, those that run are
    /// cancelled and the others do not start.
    pub(super) async fn run_calls(&self, ids: &[CallId]) -> Result<(), ChatError> {
        self.finish_hosted_calls(ids).await?;
        let calls = self.calls_by_id(ids);
        let invoker = self.invoker.with_approver(JournalApprover(Arc::clone(&self.journal)));
        let cancel = &self.request.cancel.child_token();
        let run = async |call: &ToolCall| {
            let gateway = self.deferred.as_ref().and_then(|deferred| deferred.invoker_of(call));
            match self.may_run(&call.id) && !cancel.is_cancelled() {
                true => self.run_call(gateway.unwrap_or(&invoker), call, cancel).await.map(drop),
                false => Ok(()),
            }
        };
        let mut results = pin!(invoker.map_calls(&calls, run));
        let results = tokio::select! {
            biased;
            results = &mut results => results,
            _ = self.time_limit() => {
                cancel.cancel();
                results.await
            }
        };
        results.into_iter().collect()
    }

    /// Runs the calls that search for tools, also for a caller that runs the others itself; returns true if there are any.
    pub(super) async fn run_gateway_calls(&self, ids: &[CallId]) -> Result<bool, ChatError> {
        let Some(deferred) = &self.deferred else {
            return Ok(false);
        };
        let calls = self.calls_by_id(ids).into_iter();
        let calls = calls.filter(|call| deferred.invoker_of(call).is_some());
        let ids: Vec<CallId> = calls.map(|call| call.id).collect();
        if !ids.is_empty() {
            self.run_calls(&ids).await?;
        }
        Ok(!ids.is_empty())
    }

    /// Returns true if a call whose turn it is may still run: a call before it may have failed fatally, or wait for an approval.
    fn may_run(&self, call: &CallId) -> bool {
        let is_started = self.started().contains(call);
        let turn = &self.journal.state().turn;
        // One that is recorded as started, and may run again, does that after the decision.
        let must_run = is_started && turn.metadata(call).is_some_and(|known| !known.can_rerun());
        turn.may_start(call) || (must_run && turn.fatal_error().is_none())
    }

    /// Runs a call; returns `None` if the turn waits or ends before its result.
    pub(super) async fn run_call(
        &self,
        invoker: &Invoker,
        call: &ToolCall,
        cancel: &CancellationToken,
    ) -> Result<Option<ToolResult>, ChatError> {
        let verdict = self.journal.state().turn.verdict(&call.id).cloned();
        let runs =
            !matches!(verdict, Some(ApprovalVerdict::Deny { .. } | ApprovalVerdict::Answer { .. }));
        let is_new = self.started().remove(&call.id);
        // One that was started before this run of the turn, unless it has waited before it had an effect.
        let is_repeated = !is_new && self.journal.state().turn.may_have_run(&call.id);
        if runs {
            if !is_new {
                let id = call.id.clone();
                self.journal.append([EntryBody::CallStarted { call: id }]).await?;
            }
            self.events.emit(ChatEvent::Running { call: call.id.clone(), tool: call.name.clone() });
        }
        let started = Instant::now();
        let ended = self.invoke_with_children(invoker, call, cancel, is_repeated).await?;
        let Some(mut result) = ended else {
            return Ok(None);
        };
        if is_repeated && result.outcome == Outcome::UnknownTool {
            // It has run before, when its tool was there.
            result = unknown_outcome(call.id.clone(), call.name.clone());
        }
        let closed = self.close_children(&call.id);
        let finished = closed.iter().chain([&result]).cloned();
        self.journal.append(finished.map(|result| EntryBody::CallFinished { result })).await?;
        for result in closed {
            self.events.emit(ChatEvent::Result { result, millis: 0 });
        }
        let millis = whole_millis(started.elapsed());
        self.events.emit(ChatEvent::Result { result: result.clone(), millis });
        Ok(Some(result))
    }

    pub(super) fn scope_with_events(&self) -> CallScope {
        let events = self.events.clone();
        self.scope.clone().on_event(move |event| {
            if let Some(event) = to_chat_event(event) {
                events.emit(event);
            }
        })
    }

    /// Records the decisions about calls that the vendor runs as their results; returns true if there are any.
    pub(super) async fn finish_hosted_calls(&self, ids: &[CallId]) -> Result<bool, ChatError> {
        let hosted = ids.iter().filter(|id| self.is_hosted_call(id));
        let results: Vec<ToolResult> = hosted.map(|id| self.hosted_result(id)).collect();
        let any = !results.is_empty();
        if any {
            self.finish_calls(results).await?;
        }
        Ok(any)
    }

    /// Returns the result of a call that the vendor runs: approved or denied.
    fn hosted_result(&self, call: &CallId) -> ToolResult {
        let verdict = self.journal.state().turn.verdict(call).cloned();
        let denied = |reason: &str| self.rejected_result(call, Outcome::Denied, reason);
        match verdict {
            Some(ApprovalVerdict::Approve) => {
                ToolResult::success("approved").for_call(call, self.tool_name(call))
            }
            Some(ApprovalVerdict::Deny { reason }) => denied(&reason),
            Some(ApprovalVerdict::Edit { .. } | ApprovalVerdict::Answer { .. }) => {
                denied("what a vendor runs can only be approved or denied")
            }
            None => denied("it needs approval, and nobody has decided"),
        }
    }
}

fn to_chat_event(event: CallEvent) -> Option<ChatEvent> {
    match event {
        CallEvent::Progress { call_id: call, done, total, message } => {
            Some(ChatEvent::Progress { call, done, total, message })
        }
        CallEvent::Update { result, .. } => Some(ChatEvent::Update { result }),
        _ => None,
    }
}
