//! How a prompt opens: what is said, or what a waiting turn was waiting for.

use toolwright_core::{CallId, Invoker, Outcome, ToolResult};

use super::Performance;
use crate::ask::{Ask, Opening};
use crate::entry::{End, What};
use crate::error::ChatError;
use crate::event::{ChatEvent, Decided};
use crate::owner::PrincipalRecord;

impl Performance {
    pub(super) async fn open(&self, openings: Vec<Opening>) -> Result<(), ChatError> {
        let mut said = Vec::new();
        for opening in openings {
            let opening = match opening {
                Opening::Named { name, arguments } => self.render(name, &arguments).await?,
                other => other,
            };
            match opening {
                Opening::User(content) => said.push(What::User { content }),
                Opening::Assistant(content) => said.push(What::Assistant { content }),
                Opening::Results(results) => self.take_results(results).await?,
                Opening::Decided(decided) => self.take_decisions(decided).await?,
                Opening::Named { .. } => {}
            }
        }
        if !said.is_empty() {
            self.abandon().await?;
            let principal = self.ask.principal.as_ref();
            self.journal.tell_by(principal, said).await?;
        }
        match self.journal.told().entries.is_empty() {
            true => Err(ChatError::Silent),
            false => Ok(()),
        }
    }

    async fn render(
        &self,
        name: String,
        arguments: &serde_json::Value,
    ) -> Result<Opening, ChatError> {
        let render = |invoker: Invoker| {
            let name = name.as_str();
            async move { invoker.render_in(&self.scope, name, arguments).await }
        };
        let mut rendered = render(self.invoker.clone()).await;
        // Which tools a prompt comes with says nothing about the prompts of the registry.
        if matches!(&rendered, Err(failure) if failure.outcome == Outcome::UnknownTool) {
            rendered = render(self.ask.chat.0.invoker.clone()).await;
        }
        match rendered {
            Ok(rendered) => Ok(Ask::in_role(rendered.role, rendered.text)),
            Err(failure) => {
                let message = failure.text().into_owned();
                Err(ChatError::Prompt { name, message })
            }
        }
    }

    /// Ends a turn that was left open, because something new is said.
    async fn abandon(&self) -> Result<(), ChatError> {
        let asked = |call: &CallId| self.journal.told().turn.is_asked(call);
        if self.journal.told().turn.is_over() {
            return Ok(());
        }
        let results = self.left_open(|call| match asked(call) {
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
        let finished = results.into_iter().map(|result| What::Finished { result });
        let end = What::Ended {
            end: End::Cancelled,
        };
        self.journal.tell(finished.chain([end])).await?;
        Ok(())
    }

    /// Takes the results of calls that the caller ran; what has none was not run.
    async fn take_results(&self, mut results: Vec<ToolResult>) -> Result<(), ChatError> {
        let open: Vec<CallId> = {
            let told = self.journal.told();
            told.turn.open().map(|facts| facts.call.clone()).collect()
        };
        let brought: Vec<CallId> = results.iter().map(|result| result.call.clone()).collect();
        for (at, call) in brought.iter().enumerate() {
            if !open.contains(call) {
                return Err(refused(call, "it does not wait for a result"));
            }
            if brought.iter().take(at).any(|before| before == call) {
                return Err(refused(call, "there are two results of it"));
            }
        }
        for result in &mut results {
            if result.tool.as_str().is_empty() {
                result.tool = self.tool_of(&result.call);
            }
        }
        for call in &open {
            if !results.iter().any(|result| result.call == *call) {
                results.push(self.refused(call, Outcome::Denied, "the call was not run"));
            }
        }
        self.finished(results).await
    }

    /// Takes decisions, all of them or none.
    async fn take_decisions(&self, decided: Vec<Decided>) -> Result<(), ChatError> {
        for (at, decision) in decided.iter().enumerate() {
            let mut before = decided.iter().take(at);
            if before.any(|before| before.call == decision.call) {
                return Err(refused(&decision.call, "there are two decisions about it"));
            }
            if !self.may_decide(&decision.call) {
                let call = decision.call.clone();
                return Err(ChatError::NotAllowed { call });
            }
            if let Some(reason) = self.objection(decision) {
                return Err(refused(&decision.call, reason));
            }
        }
        let told = decided.iter().map(|decision| What::Decided {
            call: decision.call.clone(),
            verdict: decision.verdict.clone(),
        });
        let principal = self.ask.principal.as_ref();
        self.journal.tell_by(principal, told).await?;
        for Decided { call, verdict, .. } in decided {
            self.listener.tell(ChatEvent::Decided { call, verdict });
        }
        Ok(())
    }

    /// Returns true if this prompt's principal is the one whose message began the turn, or nothing waits for a decision.
    fn may_decide(&self, call: &CallId) -> bool {
        let told = self.journal.told();
        let began = PrincipalRecord::of_last_turn(&told.entries);
        let decides = self.ask.principal.as_ref();
        let subject = |principal: &'_ PrincipalRecord| principal.subject.clone();
        !told.turn.is_asked(call) || began.map(subject) == decides.map(subject)
    }

    /// Why a decision does not count.
    fn objection(&self, decision: &Decided) -> Option<&'static str> {
        let asked = self.journal.asked(&decision.call);
        let now = self.journal.now();
        let turn = &self.journal.told().turn;
        if turn.verdict(&decision.call).is_some() {
            return Some("it is decided already");
        }
        if !turn.is_asked(&decision.call) {
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

fn refused(call: &CallId, reason: &str) -> ChatError {
    ChatError::Refused {
        call: call.clone(),
        reason: reason.to_owned(),
    }
}
