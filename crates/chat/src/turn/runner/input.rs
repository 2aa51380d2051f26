//! How a prompt opens: what is said, or what a waiting turn was waiting for.

use toolwright_core::{CallId, Invoker, Outcome, ToolResult};

use super::TurnRunner;
use crate::chat::event::{ApprovalResponse, ChatEvent};
use crate::chat::turn_request::{TurnInput, TurnRequest};
use crate::error::ChatError;
use crate::journal::entry::{EntryBody, TurnEnd};
use crate::journal::store::owner::PrincipalRecord;

impl TurnRunner {
    pub(super) async fn apply_inputs(&self, openings: Vec<TurnInput>) -> Result<(), ChatError> {
        let mut said = Vec::new();
        for opening in openings {
            let opening = match opening {
                TurnInput::Prompt { name, arguments } => {
                    self.render_prompt(name, &arguments).await?
                }
                other => other,
            };
            match opening {
                TurnInput::User(content) => said.push(EntryBody::User { content }),
                TurnInput::Assistant(content) => said.push(EntryBody::Assistant { content }),
                TurnInput::Results(results) => self.accept_results(results).await?,
                TurnInput::Approvals(decided) => self.accept_approvals(decided).await?,
                TurnInput::Prompt { .. } => {}
            }
        }
        if !said.is_empty() {
            self.cancel_open_turn().await?;
            let principal = self.request.principal.as_ref();
            self.journal.append_as(principal, said).await?;
        }
        match self.journal.state().entries.is_empty() {
            true => Err(ChatError::NoInput),
            false => Ok(()),
        }
    }

    async fn render_prompt(
        &self,
        name: String,
        arguments: &serde_json::Value,
    ) -> Result<TurnInput, ChatError> {
        let render = |invoker: Invoker| {
            let name = name.as_str();
            async move { invoker.render_prompt_in(&self.scope, name, arguments).await }
        };
        let mut rendered = render(self.invoker.clone()).await;
        // Which tools a prompt comes with says nothing about the prompts of the registry.
        if matches!(&rendered, Err(failure) if failure.outcome == Outcome::UnknownTool) {
            rendered = render(self.request.chat.0.invoker.clone()).await;
        }
        match rendered {
            Ok(rendered) => Ok(TurnRequest::message_in_role(rendered.role, rendered.text)),
            Err(failure) => {
                let message = failure.text().into_owned();
                Err(ChatError::Prompt { name, message })
            }
        }
    }

    /// Ends a turn that was left open, because something new is said.
    async fn cancel_open_turn(&self) -> Result<(), ChatError> {
        let asked = |call: &CallId| self.journal.state().turn.is_awaiting_approval(call);
        if self.journal.state().turn.is_over() {
            return Ok(());
        }
        let results = self.results_of_open_calls(|call| match asked(call) {
            true => (
                Outcome::Denied,
                "the call did not run: the conversation went on without a decision about it",
            ),
            // It may have been somebody else's to run.
            false => (
                Outcome::Cancelled,
                "there is no result of the call: the conversation went on without it",
            ),
        });
        let finished = results
            .into_iter()
            .map(|result| EntryBody::CallFinished { result });
        let end = EntryBody::TurnEnded {
            end: TurnEnd::Cancelled,
        };
        self.journal.append(finished.chain([end])).await?;
        Ok(())
    }

    /// Takes the results of calls that the caller ran; what has none was not run.
    async fn accept_results(&self, mut results: Vec<ToolResult>) -> Result<(), ChatError> {
        let open: Vec<CallId> = {
            let told = self.journal.state();
            told.turn
                .open_calls()
                .map(|facts| facts.call.clone())
                .collect()
        };
        let brought: Vec<CallId> = results
            .iter()
            .map(|result| result.call_id.clone())
            .collect();
        for (at, call) in brought.iter().enumerate() {
            if !open.contains(call) {
                return Err(rejected(call, "it does not wait for a result"));
            }
            if brought.iter().take(at).any(|before| before == call) {
                return Err(rejected(call, "there are two results of it"));
            }
        }
        for result in &mut results {
            if result.tool.as_str().is_empty() {
                result.tool = self.tool_name(&result.call_id);
            }
        }
        for call in &open {
            if !results.iter().any(|result| result.call_id == *call) {
                results.push(self.rejected_result(call, Outcome::Denied, "the call was not run"));
            }
        }
        self.finish_calls(results).await
    }

    /// Takes decisions, all of them or none.
    async fn accept_approvals(&self, decided: Vec<ApprovalResponse>) -> Result<(), ChatError> {
        for (at, decision) in decided.iter().enumerate() {
            let mut before = decided.iter().take(at);
            if before.any(|before| before.call == decision.call) {
                return Err(rejected(&decision.call, "there are two decisions about it"));
            }
            if !self.may_approve(&decision.call) {
                let call = decision.call.clone();
                return Err(ChatError::NotAllowed { call });
            }
            if let Some(reason) = self.rejection_reason(decision) {
                return Err(rejected(&decision.call, reason));
            }
        }
        let told = decided.iter().map(|decision| EntryBody::ApprovalDecided {
            call: decision.call.clone(),
            verdict: decision.verdict.clone(),
        });
        let principal = self.request.principal.as_ref();
        self.journal.append_as(principal, told).await?;
        for ApprovalResponse { call, verdict, .. } in decided {
            self.events
                .emit(ChatEvent::ApprovalDecided { call, verdict });
        }
        Ok(())
    }

    /// Returns true if this prompt's principal is the one whose message began the turn, or nothing waits for a decision.
    fn may_approve(&self, call: &CallId) -> bool {
        let told = self.journal.state();
        let began = PrincipalRecord::of_last_turn(&told.entries);
        let decides = self.request.principal.as_ref();
        let subject = |principal: &'_ PrincipalRecord| principal.subject.clone();
        !told.turn.is_awaiting_approval(call) || began.map(subject) == decides.map(subject)
    }

    /// Why a decision does not count.
    fn rejection_reason(&self, decision: &ApprovalResponse) -> Option<&'static str> {
        let asked = self.journal.approval_request(&decision.call);
        let now = self.journal.now();
        let turn = &self.journal.state().turn;
        if turn.verdict(&decision.call).is_some() {
            return Some("it is decided already");
        }
        if !turn.is_awaiting_approval(&decision.call) {
            return Some("it does not wait for a decision");
        }
        match asked {
            Some((_, token)) if token == decision.token => {
                (token.expires() <= now).then_some("the approval has expired")
            }
            _ => Some("the token is not the one that was asked with"),
        }
    }
}

fn rejected(call: &CallId, reason: &str) -> ChatError {
    ChatError::Rejected {
        call: call.clone(),
        reason: reason.to_owned(),
    }
}
