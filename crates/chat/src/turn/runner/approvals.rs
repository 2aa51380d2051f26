//! Approvals: what an approver is shown of a call, and the decisions that the journal records.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use tokio::time::sleep;
use toolwright_core::{
    ApprovalDecision, ApprovalRequest, Approver, BoxFuture, CallId, PendingCall, ToolCall,
};

use super::TurnRunner;
use crate::chat::event::{ChatEvent, PendingApproval};
use crate::error::ChatError;
use crate::journal::Journal;
use crate::journal::entry::{ApprovalVerdict, EntryBody};
use crate::model::item::ItemKind;

impl TurnRunner {
    /// Returns the approval that a call of the newest step, or a call inside one, needs, if any.
    pub(super) fn find_pending_call(&self, call: &CallId) -> Option<PendingCall> {
        let step = self.last_step()?;
        let items = step.items.iter();
        let mut pending = items.filter_map(|item| self.pending_call_of_item(&item.kind));
        let pending = pending.find(|pending| pending.call.id == *call);
        let scope = self.scope.clone().inside_call();
        pending.or_else(|| self.invoker.pending_call(&scope, &self.child_call(call)?))
    }

    /// Returns the approval that an item needs, if it is a call that needs one.
    pub(super) fn pending_call_of_item(&self, item: &ItemKind) -> Option<PendingCall> {
        match item {
            ItemKind::Call { call } => self.invoker_of(call).pending_call(&self.scope, call),
            ItemKind::HostedApproval { server, tool, arguments, .. } => {
                let (id, name) = item.call_id_and_name()?;
                let call = ToolCall::new(name, arguments.as_str()).with_id(id);
                let description = format!("`{tool}` of the server `{server}`, run by the vendor.");
                Some(self.invoker.pending_hosted_call(&self.scope, call, &description))
            }
            _ => None,
        }
    }

    /// Returns the approvals that the turn waits for; denies calls whose tool has changed, and then returns none.
    pub(super) async fn collect_approvals(
        &self,
        calls: &[CallId],
    ) -> Result<Vec<PendingApproval>, ChatError> {
        let approvals = self.pending_approvals(calls);
        let shown = |call: &&CallId| approvals.iter().any(|shown| shown.call.id == **call);
        let abandoned = calls.iter().filter(|call| !shown(call));
        let denials: Vec<EntryBody> = abandoned
            .map(|call| EntryBody::ApprovalDecided {
                call: call.clone(),
                verdict: tool_changed(),
                mac: None,
            })
            .collect();
        if denials.is_empty() {
            return Ok(approvals);
        }
        self.journal.append(denials).await?;
        Ok(Vec::new())
    }

    /// Lets the approver decide about each call while the turn waits.
    pub(super) async fn ask_approver(
        &self,
        approver: &dyn Approver,
        calls: &[CallId],
    ) -> Result<(), ChatError> {
        for call in calls {
            let Some(verdict) = self.approver_verdict(approver, call).await else {
                return Ok(());
            };
            self.record_verdict(call, verdict).await?;
        }
        Ok(())
    }

    /// Returns the decision of the approver about a call; `None` if the turn is cancelled before it.
    pub(super) async fn approver_verdict(
        &self,
        approver: &dyn Approver,
        call: &CallId,
    ) -> Option<ApprovalVerdict> {
        let Some(pending) = self.find_pending_call(call) else {
            return Some(tool_changed());
        };
        let decision = async { approver.decide(pending.request()).await };
        let decision = AssertUnwindSafe(decision).catch_unwind();
        let token = self.journal.approval_request(call).map(|(_, token)| token);
        let remaining = token.map_or(0, |token| token.expires().saturating_sub(self.journal.now()));
        tokio::select! {
            // A cancellation decides nothing: the turn ends before the call could run.
            () = self.request.cancel.cancelled() => None,
            () = sleep(Duration::from_millis(remaining)) => Some(ApprovalVerdict::Deny {
                reason: "nobody decided in time".to_owned(),
            }),
            decision = decision => Some(match decision {
                Ok(decision) => verdict_from_decision(decision),
                Err(_) => ApprovalVerdict::Deny {
                    reason: "the one who was asked could not decide".to_owned(),
                },
            }),
        }
    }

    pub(super) async fn record_verdict(
        &self,
        call: &CallId,
        verdict: ApprovalVerdict,
    ) -> Result<(), ChatError> {
        let decided =
            EntryBody::ApprovalDecided { call: call.clone(), verdict: verdict.clone(), mac: None };
        self.journal.append([decided]).await?;
        let call = call.clone();
        self.events.emit(ChatEvent::ApprovalDecided { call, verdict });
        Ok(())
    }
}

/// The verdict about a call whose tool has changed since its approval was requested.
fn tool_changed() -> ApprovalVerdict {
    ApprovalVerdict::Deny { reason: "the tool has changed since".to_owned() }
}

fn verdict_from_decision(decision: ApprovalDecision) -> ApprovalVerdict {
    match decision {
        ApprovalDecision::Approve(_) => ApprovalVerdict::Approve,
        ApprovalDecision::Edit { arguments, .. } => ApprovalVerdict::Edit { arguments },
        ApprovalDecision::Deny { reason } => ApprovalVerdict::Deny { reason },
        ApprovalDecision::Answer(result) => ApprovalVerdict::Answer { content: result.content },
        // An unknown kind of decision approves nothing.
        _ => ApprovalVerdict::Deny { reason: "the decision was not understood".to_owned() },
    }
}

/// The approver of calls that run: repeats the decisions that the journal records.
pub(super) struct JournalApprover(pub(super) Arc<Journal>);

impl Approver for JournalApprover {
    fn decide<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, ApprovalDecision> {
        let verdict = self.0.state().turn.verdict(&request.call.id).cloned();
        // The token does not match if the tool, the arguments or the caller have changed since the approval was requested.
        let requested = self.0.approval_request(&request.call.id);
        let matching =
            requested.map_or(Err("nobody was asked"), |(_, token)| request.verify_token(&token));
        Box::pin(async move {
            match (verdict, matching) {
                (Some(ApprovalVerdict::Deny { reason }), _) => request.deny(reason),
                (Some(ApprovalVerdict::Answer { content }), _) => request.answer(content),
                (Some(ApprovalVerdict::Approve), Ok(())) => request.approve(),
                (Some(ApprovalVerdict::Edit { arguments }), Ok(())) => request.edit(arguments),
                (Some(_), Err(reason)) => request.deny(reason),
                (None, _) => request.deny("it needs approval, and nobody has decided"),
            }
        })
    }
}
