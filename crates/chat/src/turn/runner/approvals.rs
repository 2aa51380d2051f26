//! Calls that wait for a decision in, the decision that was made out.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use tokio::time::sleep;
use toolwright_core::{
    ApprovalDecision, ApprovalRequest, Approver, BoxFuture, CallId, PendingCall, ToolCall, ToolName,
};

use super::TurnRunner;
use crate::chat::event::{ChatEvent, PendingApproval};
use crate::error::ChatError;
use crate::journal::Journal;
use crate::journal::entry::{ApprovalVerdict, EntryBody};
use crate::model::item::ItemKind;

impl TurnRunner {
    /// What has to be decided about a call of the newest step, if anything has.
    pub(super) fn find_pending_call(&self, call: &CallId) -> Option<PendingCall> {
        let step = self.last_step()?;
        let items = step.items.iter();
        let mut pending = items.filter_map(|item| self.pending_call_of_item(&item.kind));
        pending.find(|pending| pending.call.id == *call)
    }

    /// What has to be decided about an item that is a call, if anything has.
    pub(super) fn pending_call_of_item(&self, item: &ItemKind) -> Option<PendingCall> {
        match item {
            ItemKind::Call { call } => self.invoker.pending_call(&self.scope, call),
            ItemKind::HostedApproval {
                id,
                server,
                tool,
                arguments,
            } => {
                let name = ToolName::from(format!("{server}.{tool}"));
                let made = ToolCall::new(name, arguments.as_str()).with_id(id.as_str());
                let description = format!("`{tool}` of the server `{server}`, run by the vendor.");
                Some(
                    self.invoker
                        .pending_hosted_call(&self.scope, made, &description),
                )
            }
            _ => None,
        }
    }

    /// What people are shown of calls that wait; those about which nothing can be decided any more are denied.
    pub(super) async fn collect_approvals(
        &self,
        calls: &[CallId],
    ) -> Result<Vec<PendingApproval>, ChatError> {
        let asked = self.pending_approvals(calls);
        let shown = |call: &&CallId| asked.iter().any(|asked| asked.call.id == **call);
        let gone = calls.iter().filter(|call| !shown(call));
        let gone: Vec<EntryBody> = gone
            .map(|call| EntryBody::ApprovalDecided {
                call: call.clone(),
                verdict: tool_changed(),
            })
            .collect();
        if gone.is_empty() {
            return Ok(asked);
        }
        self.journal.append(gone).await?;
        Ok(Vec::new())
    }

    /// Asks somebody who answers while the turn waits.
    pub(super) async fn ask_approver(
        &self,
        approver: &dyn Approver,
        calls: &[CallId],
    ) -> Result<(), ChatError> {
        for call in calls {
            let verdict = match self.find_pending_call(call) {
                None => tool_changed(),
                Some(pending) => {
                    let asked = async { approver.decide(pending.request()).await };
                    let asked = AssertUnwindSafe(asked).catch_unwind();
                    let token = self.journal.approval_request(call).map(|(_, token)| token);
                    let left = token.map_or(0, |token| {
                        token.expires().saturating_sub(self.journal.now())
                    });
                    tokio::select! {
                        // Whoever cancels has decided nothing: the turn ends before the call could run.
                        () = self.request.cancel.cancelled() => return Ok(()),
                        () = sleep(Duration::from_millis(left)) => ApprovalVerdict::Deny {
                            reason: "nobody decided in time".to_owned(),
                        },
                        decision = asked => match decision {
                            Ok(decision) => verdict_from_decision(decision),
                            Err(_) => ApprovalVerdict::Deny {
                                reason: "the one who was asked could not decide".to_owned(),
                            },
                        },
                    }
                }
            };
            let told = EntryBody::ApprovalDecided {
                call: call.clone(),
                verdict: verdict.clone(),
            };
            self.journal.append([told]).await?;
            let call = call.clone();
            self.events
                .emit(ChatEvent::ApprovalDecided { call, verdict });
        }
        Ok(())
    }
}

/// What was to be decided about cannot run any more.
fn tool_changed() -> ApprovalVerdict {
    ApprovalVerdict::Deny {
        reason: "the tool has changed since".to_owned(),
    }
}

fn verdict_from_decision(decision: ApprovalDecision) -> ApprovalVerdict {
    match decision {
        ApprovalDecision::Approve(_) => ApprovalVerdict::Approve,
        ApprovalDecision::Edit { arguments, .. } => ApprovalVerdict::Edit { arguments },
        ApprovalDecision::Deny { reason } => ApprovalVerdict::Deny { reason },
        ApprovalDecision::Answer(result) => ApprovalVerdict::Answer {
            content: result.content,
        },
        // A kind of decision that this version does not know has not allowed anything.
        _ => ApprovalVerdict::Deny {
            reason: "the decision was not understood".to_owned(),
        },
    }
}

/// Answers for the journal, when a call runs about which it says how it was decided.
pub(super) struct JournalApprover(pub(super) Arc<Journal>);

impl Approver for JournalApprover {
    fn decide<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, ApprovalDecision> {
        let verdict = self.0.state().turn.verdict(&request.call.id).cloned();
        // What was decided about is perhaps not what would run: then it is another tool, or for somebody else.
        let asked = self.0.approval_request(&request.call.id);
        let same = asked.map_or(Err("nobody was asked"), |(_, token)| {
            request.verify_token(&token)
        });
        Box::pin(async move {
            match (verdict, same) {
                (Some(ApprovalVerdict::Deny { reason }), _) => request.deny(reason),
                (Some(ApprovalVerdict::Answer { content }), _) => request.answer(content),
                (Some(ApprovalVerdict::Approve), Ok(())) => request.approve(),
                (Some(ApprovalVerdict::Edit { arguments }), Ok(())) => request.edit(arguments),
                (Some(_), Err(why)) => request.deny(why),
                (None, _) => request.deny("it needs approval, and nobody has decided"),
            }
        })
    }
}
