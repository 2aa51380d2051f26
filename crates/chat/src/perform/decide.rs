//! Calls that wait for a decision in, the decision that was made out.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use tokio::time::sleep;
use toolwright_core::{
    ApprovalRequest, Approve, BoxFuture, CallId, Decision, Pending, ToolCall, ToolName,
};

use super::Performance;
use crate::entry::{Verdict, What};
use crate::error::ChatError;
use crate::event::{Asked, ChatEvent};
use crate::item::ItemKind;
use crate::journal::Journal;

impl Performance {
    /// What has to be decided about a call of the newest step, if anything has.
    pub(super) fn pending(&self, call: &CallId) -> Option<Pending> {
        let step = self.step()?;
        let items = step.items.iter();
        let mut pending = items.filter_map(|item| self.pending_of(&item.kind));
        pending.find(|pending| pending.call.id == *call)
    }

    /// What has to be decided about an item that is a call, if anything has.
    pub(super) fn pending_of(&self, item: &ItemKind) -> Option<Pending> {
        match item {
            ItemKind::Call { call } => self.invoker.pending(&self.scope, call),
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
                        .pending_elsewhere(&self.scope, made, &description),
                )
            }
            _ => None,
        }
    }

    /// What people are shown of calls that wait; those about which nothing can be decided any more are denied.
    pub(super) async fn ask_around(&self, calls: &[CallId]) -> Result<Vec<Asked>, ChatError> {
        let asked = self.asked(calls);
        let shown = |call: &&CallId| asked.iter().any(|asked| asked.call.id == **call);
        let gone = calls.iter().filter(|call| !shown(call));
        let gone: Vec<What> = gone
            .map(|call| What::Decided {
                call: call.clone(),
                verdict: changed(),
            })
            .collect();
        if gone.is_empty() {
            return Ok(asked);
        }
        self.journal.tell(gone).await?;
        Ok(Vec::new())
    }

    /// Asks somebody who answers while the turn waits.
    pub(super) async fn decide_now(
        &self,
        approver: &dyn Approve,
        calls: &[CallId],
    ) -> Result<(), ChatError> {
        for call in calls {
            let verdict = match self.pending(call) {
                None => changed(),
                Some(pending) => {
                    let asked = async { approver.approve(pending.request()).await };
                    let asked = AssertUnwindSafe(asked).catch_unwind();
                    let token = self.journal.asked(call).map(|(_, token)| token);
                    let left = token.map_or(0, |token| {
                        token.expires().saturating_sub(self.journal.now())
                    });
                    tokio::select! {
                        // Whoever cancels has decided nothing: the turn ends before the call could run.
                        () = self.ask.cancel.cancelled() => return Ok(()),
                        () = sleep(Duration::from_millis(left)) => Verdict::Deny {
                            reason: "nobody decided in time".to_owned(),
                        },
                        decision = asked => match decision {
                            Ok(decision) => verdict(decision),
                            Err(_) => Verdict::Deny {
                                reason: "the one who was asked could not decide".to_owned(),
                            },
                        },
                    }
                }
            };
            let told = What::Decided {
                call: call.clone(),
                verdict: verdict.clone(),
            };
            self.journal.tell([told]).await?;
            let call = call.clone();
            self.listener.tell(ChatEvent::Decided { call, verdict });
        }
        Ok(())
    }
}

/// What was to be decided about cannot run any more.
fn changed() -> Verdict {
    Verdict::Deny {
        reason: "the tool has changed since".to_owned(),
    }
}

fn verdict(decision: Decision) -> Verdict {
    match decision {
        Decision::Approve(_) => Verdict::Approve,
        Decision::Edit { arguments, .. } => Verdict::Edit { arguments },
        Decision::Deny { reason } => Verdict::Deny { reason },
        Decision::Answer(result) => Verdict::Answer {
            content: result.content,
        },
        // A kind of decision that this version does not know has not allowed anything.
        _ => Verdict::Deny {
            reason: "the decision was not understood".to_owned(),
        },
    }
}

/// Answers for the journal, when a call runs about which it says how it was decided.
pub(super) struct Recorded(pub(super) Arc<Journal>);

impl Approve for Recorded {
    fn approve<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, Decision> {
        let verdict = self.0.told().turn.verdict(&request.call.id).cloned();
        // What was decided about is perhaps not what would run: then it is another tool, or for somebody else.
        let asked = self.0.asked(&request.call.id);
        let same = asked.map_or(Err("nobody was asked"), |(_, token)| request.check(&token));
        Box::pin(async move {
            match (verdict, same) {
                (Some(Verdict::Deny { reason }), _) => request.deny(reason),
                (Some(Verdict::Answer { content }), _) => request.answer(content),
                (Some(Verdict::Approve), Ok(())) => request.approve(),
                (Some(Verdict::Edit { arguments }), Ok(())) => request.edit(arguments),
                (Some(_), Err(why)) => request.deny(why),
                (None, _) => request.deny("it needs approval, and nobody has decided"),
            }
        })
    }
}
