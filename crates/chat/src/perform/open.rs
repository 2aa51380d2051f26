//! How a prompt opens: what is said, or what a waiting turn was waiting for.

use toolwright_core::{CallId, Outcome, ToolResult};

use super::Performance;
use crate::ask::{Ask, Opening};
use crate::entry::{End, What};
use crate::error::ChatError;
use crate::event::{ChatEvent, Decided};
use crate::history::unknown;
use crate::journal::now;

impl Performance {
    pub(super) async fn open(&self, openings: Vec<Opening>) -> Result<(), ChatError> {
        if openings.is_empty() {
            return match self.journal.told().entries.is_empty() {
                true => Err(ChatError::Silent),
                false => Ok(()),
            };
        }
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
            self.journal.tell(said).await?;
        }
        Ok(())
    }

    async fn render(
        &self,
        name: String,
        arguments: &serde_json::Value,
    ) -> Result<Opening, ChatError> {
        let rendered = self
            .invoker
            .render_in(&self.scope, name.as_str(), arguments)
            .await;
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
        let (open, started): (Vec<CallId>, Vec<CallId>) = {
            let turn = &self.journal.told().turn;
            if turn.is_over() {
                return Ok(());
            }
            let open = turn.open().map(|facts| facts.call.clone());
            let started = turn.started().map(|facts| facts.call.clone());
            (open.collect(), started.collect())
        };
        let results = open.into_iter().map(|call| match started.contains(&call) {
            true => unknown(call.clone(), self.tool_of(&call)),
            false => self.refused(
                &call,
                Outcome::Denied,
                "the call did not run: the conversation went on without a decision about it",
            ),
        });
        let results: Vec<ToolResult> = results.collect();
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
        if let Some(stray) = results.iter().find(|result| !open.contains(&result.call)) {
            let reason = "it does not wait for a result".to_owned();
            let call = stray.call.clone();
            return Err(ChatError::Refused { call, reason });
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
        for decision in &decided {
            if let Some(reason) = self.objection(decision) {
                return Err(ChatError::Refused {
                    call: decision.call.clone(),
                    reason: reason.to_owned(),
                });
            }
        }
        let told = decided.iter().map(|decision| What::Decided {
            call: decision.call.clone(),
            verdict: decision.verdict.clone(),
        });
        self.journal.tell(told).await?;
        for Decided { call, verdict, .. } in decided {
            self.listener.tell(ChatEvent::Decided { call, verdict });
        }
        Ok(())
    }

    /// Why a decision does not count.
    fn objection(&self, decision: &Decided) -> Option<&'static str> {
        let told = self.journal.told();
        if told.turn.verdict(&decision.call).is_some() {
            return Some("it is decided already");
        }
        if !told.turn.is_asked(&decision.call) {
            return Some("it does not wait for a decision");
        }
        let token = told
            .entries
            .iter()
            .rev()
            .find_map(|entry| match &entry.what {
                What::Asked { call, token, .. } if *call == decision.call => Some(token),
                _ => None,
            });
        match token {
            Some(token) if *token == decision.token => {
                (token.expires() <= now()).then_some("the approval has expired")
            }
            _ => Some("the token is not the one that was asked with"),
        }
    }
}
