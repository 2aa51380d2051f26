//! Calls that a call makes: recorded, limited and approved as those of the model. If a call runs again, its children's recorded
//! results are returned.

use std::pin::pin;

use futures::stream::{FuturesUnordered, StreamExt as _};
use tokio::sync::{Mutex, mpsc, oneshot};
use toolwright_core::{
    Arguments, BoxFuture, CallId, CancellationToken, ErrorKind, Invoker, Outcome, ToolCall,
    ToolName, ToolResult,
};

use super::TurnRunner;
use crate::chat::event::ChatEvent;
use crate::error::ChatError;
use crate::journal::Cause;
use crate::journal::entry::{CallMetadata, EntryBody};
use crate::journal::history::{failed_result, unknown_outcome};
use crate::turn::{ChildAction, PARENT_ENDED};

/// A call that a running tool makes.
struct ChildRequest {
    tool: ToolName,
    arguments: Arguments,
    /// True if the tool has had no effect yet.
    before_effect: bool,
    reply: oneshot::Sender<ToolResult>,
}

/// A call that runs and makes others.
struct ParentRun<'a> {
    call: &'a ToolCall,
    invoker: &'a Invoker,
    /// Cancels the children when the call ends.
    cancel: CancellationToken,
    /// Held by the one child with an effect that runs or waits for its approval.
    effects: Mutex<()>,
}

/// How a child call ends.
enum ChildOutcome {
    /// The tool that made the call has its result, or does not want it any more.
    Done,
    /// The turn waits for an approval or ends: the parent stops.
    Interrupted,
    /// The parent runs again and does not make the same calls: it fails for this reason.
    NotReplayable(String),
}

impl TurnRunner {
    /// Runs a call and the calls that it makes; returns `None` if the turn waits for an approval or ends before its result.
    pub(super) async fn invoke_with_children(
        &self,
        invoker: &Invoker,
        call: &ToolCall,
        cancel: &CancellationToken,
        is_repeated: bool,
    ) -> Result<Option<ToolResult>, ChatError> {
        let (sender, mut requests) = mpsc::unbounded_channel();
        let mut scope = self.scope_with_events().cancel_on(cancel.clone()).repeated(is_repeated);
        if self.journal.state().turn.parent(&call.id).is_some() {
            scope = scope.inside_call();
        }
        let scope = scope.child_calls(move |tool, arguments, before_effect| {
            send_request(&sender, tool, arguments, before_effect)
        });
        let cancel = cancel.child_token();
        let parent = ParentRun { call, invoker, cancel, effects: Mutex::default() };
        let mut children = FuturesUnordered::new();
        let mut count = 0;
        let mut run = pin!(invoker.invoke_in(&scope, call));
        let result = loop {
            tokio::select! {
                biased;
                Some(request) = requests.recv() => {
                    count += 1;
                    children.push(self.run_child(&parent, count, request));
                }
                result = &mut run => break Some(result),
                Some(outcome) = children.next() => match outcome? {
                    ChildOutcome::Done => {}
                    ChildOutcome::Interrupted => break None,
                    ChildOutcome::NotReplayable(reason) => {
                        let failed = ToolResult::from_outcome(Outcome::Failed, ErrorKind::Failed, reason);
                        break Some(failed.for_call(&call.id, &call.name));
                    }
                },
            }
        };
        if result.is_some() {
            parent.cancel.cancel();
        }
        // Children that run are not interrupted, so that their outcome is known; dropped in an append, the journal would be lost.
        while let Some(outcome) = children.next().await {
            outcome?;
        }
        Ok(result)
    }

    /// Returns results for the calls inside a call that ends before them.
    pub(super) fn close_children(&self, call: &CallId) -> Vec<ToolResult> {
        let state = self.journal.state();
        let started = |open: &CallMetadata| state.turn.started_calls().any(|it| it == open);
        let results = state.turn.open_children(call).map(|open| {
            let (call, tool) = (open.call.clone(), open.tool.clone());
            match started(open) {
                true => unknown_outcome(call, tool),
                false => failed_result(call, tool, Outcome::Cancelled, PARENT_ENDED),
            }
        });
        results.collect()
    }

    /// Runs a child call, and sends its result to the tool that made it.
    // Boxed because it runs calls, which run their children.
    fn run_child<'a>(
        &'a self,
        parent: &'a ParentRun<'_>,
        number: usize,
        request: ChildRequest,
    ) -> BoxFuture<'a, Result<ChildOutcome, ChatError>> {
        Box::pin(async move {
            let ChildRequest { tool, arguments, before_effect, mut reply } = request;
            let id = format!("{}.{number}", parent.call.id);
            let call = ToolCall::new(tool, arguments).with_id(id);
            let mut metadata = self.call_metadata(&call);
            metadata.before_effect = before_effect;
            let _permit = match metadata.read_only {
                true => None,
                false => Some(parent.effects.lock().await),
            };
            if reply.is_closed() || parent.cancel.is_cancelled() {
                return Ok(ChildOutcome::Done);
            }
            let known = {
                let turn = &self.journal.state().turn;
                turn.metadata(&call.id).map(|known| (known.clone(), turn.parent(&call.id).cloned()))
            };
            match known {
                None => self.record_child(parent, &call, metadata).await?,
                Some((known, made_by)) => {
                    if let Some(reason) = replay_error(number, &known, &metadata) {
                        return Ok(ChildOutcome::NotReplayable(reason));
                    }
                    if made_by.as_ref() != Some(&parent.call.id) {
                        let reason = format!("the model has used the call id `{}`", call.id);
                        return Ok(ChildOutcome::NotReplayable(reason));
                    }
                }
            }
            let cancel = parent.cancel.child_token();
            let result = {
                let mut work = pin!(self.finish_child(parent, &call, &cancel));
                tokio::select! {
                    result = &mut work => result,
                    () = reply.closed() => {
                        cancel.cancel();
                        work.await
                    }
                }
            };
            let Some(mut result) = result? else {
                return Ok(ChildOutcome::Interrupted);
            };
            // The journal does not have it: a replay could not return it.
            result.untruncated = None;
            // A tool that dropped the future of the call does not want the result.
            let _ = reply.send(result);
            Ok(ChildOutcome::Done)
        })
    }

    /// Appends a new child call, with the request for its approval or its start.
    async fn record_child(
        &self,
        parent: &ParentRun<'_>,
        call: &ToolCall,
        metadata: CallMetadata,
    ) -> Result<(), ChatError> {
        let parent_id = &parent.call.id;
        let mut entries = vec![EntryBody::ChildCall { call: call.clone(), metadata }];
        let turn = self.journal.turn_after(Some(parent_id), &entries);
        let runs = turn.child_action(&call.id, self.journal.now()) == ChildAction::Run;
        let scope = self.scope.clone().inside_call();
        let pending = self.invoker.pending_call(&scope, call).filter(|_| runs);
        let can_ask = self.request.chat.0.approver.is_some() || turn.can_pause_in(parent_id);
        match &pending {
            Some(pending) if can_ask => entries.push(EntryBody::ApprovalRequested {
                call: call.id.clone(),
                token: pending.request().issue_token(),
                arguments: pending.arguments.clone(),
            }),
            None if runs => {
                self.started().insert(call.id.clone());
                entries.push(EntryBody::CallStarted { call: call.id.clone() });
            }
            _ => {}
        }
        let cause = Cause { parent: Some(parent_id), ..Cause::default() };
        self.journal.append_caused(&cause, entries).await?;
        let (parent_id, child) = (parent_id.clone(), call.clone());
        self.events.emit(ChatEvent::ChildCall { parent: parent_id, call: child });
        for approval in self.pending_approvals(std::slice::from_ref(&call.id)) {
            self.events.emit(ChatEvent::ApprovalRequested(Box::new(approval)));
        }
        if pending.is_some() && !can_ask {
            let reason = format!(
                "it needs approval, and `{}`, which calls it, cannot wait for one: it is not replayable",
                parent.call.name
            );
            let denied = self.rejected_result(&call.id, Outcome::Denied, &reason);
            self.finish_calls(vec![denied]).await?;
        }
        Ok(())
    }

    /// Performs the actions of a recorded child call until it has its result; returns `None` if its parent is interrupted.
    async fn finish_child(
        &self,
        parent: &ParentRun<'_>,
        call: &ToolCall,
        cancel: &CancellationToken,
    ) -> Result<Option<ToolResult>, ChatError> {
        loop {
            let now = self.journal.now();
            let action = self.journal.state().turn.child_action(&call.id, now);
            let rejected = match action {
                ChildAction::Run => return self.run_call(parent.invoker, call, cancel).await,
                ChildAction::ReturnResult => return Ok(self.recorded_result(&call.id)),
                ChildAction::Interrupt => return Ok(None),
                ChildAction::Reject(reason) => (Outcome::Denied, reason),
                ChildAction::AwaitApproval => {
                    let Some(approver) = &self.request.chat.0.approver else {
                        return Ok(None);
                    };
                    let _asking = self.asking.read().await;
                    let verdict = tokio::select! {
                        () = cancel.cancelled() => None,
                        verdict = self.approver_verdict(approver.as_ref(), &call.id) => verdict,
                    };
                    if let Some(verdict) = verdict {
                        self.record_verdict(&call.id, verdict).await?;
                        continue;
                    }
                    (Outcome::Cancelled, "the call was cancelled before it was decided".to_owned())
                }
            };
            let (outcome, reason) = rejected;
            let result = self.rejected_result(&call.id, outcome, &reason);
            self.finish_calls(vec![result]).await?;
        }
    }

    /// Returns a call that another call made, as it was recorded.
    pub(super) fn child_call(&self, id: &CallId) -> Option<ToolCall> {
        let state = self.journal.state();
        state.entries.iter().rev().find_map(|entry| match &entry.body {
            EntryBody::ChildCall { call, .. } if call.id == *id => Some(call.clone()),
            _ => None,
        })
    }

    fn recorded_result(&self, call: &CallId) -> Option<ToolResult> {
        let state = self.journal.state();
        state.entries.iter().rev().find_map(|entry| match &entry.body {
            EntryBody::CallFinished { result } if result.call_id == *call => Some(result.clone()),
            _ => None,
        })
    }
}

/// Sends a call to the runner at once, so that calls are numbered in the order in which they are made; returns its result.
fn send_request(
    sender: &mpsc::UnboundedSender<ChildRequest>,
    tool: ToolName,
    arguments: Arguments,
    before_effect: bool,
) -> BoxFuture<'static, ToolResult> {
    let (reply, result) = oneshot::channel();
    let name = tool.clone();
    let sent = sender.send(ChildRequest { tool, arguments, before_effect, reply });
    Box::pin(async move {
        let result = match sent {
            Ok(()) => result.await.ok(),
            Err(_) => None,
        };
        // Only a tool on a thread of its own reads this: the future of another one is dropped.
        result.unwrap_or_else(|| failed_result("".into(), name, Outcome::Cancelled, PARENT_ENDED))
    })
}

/// Returns why a call that runs again cannot get the result of a recorded child call: it makes another one.
fn replay_error(number: usize, known: &CallMetadata, now: &CallMetadata) -> Option<String> {
    let change = if known.tool != now.tool {
        format!("was of `{}`, and is of `{}` now", known.tool, now.tool)
    } else if known.digest != now.digest {
        format!("of `{}` has other arguments now", now.tool)
    } else {
        return None;
    };
    Some(format!(
        "the call was interrupted and cannot be replayed, because it is not deterministic: its child call {number} {change}"
    ))
}
