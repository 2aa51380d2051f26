//! What the turn decides in, what happens out: the model is asked, calls run, people decide, the journal is told.
//!
//! Nothing is decided here. Each stage is a file; this one is the loop around [`Turn::next`](crate::Turn::next).

use std::sync::Arc;

use toolwright_core::{
    CallId, Entry as ToolEntry, ErrorKind, Invoker, Outcome, Scope, ToolCall, ToolName, ToolResult,
};

use crate::ask::Ask;
use crate::entry::{End, What};
use crate::error::ChatError;
use crate::event::{Asked, ChatEvent};
use crate::history::unknown;
use crate::item::{ItemKind, Step};
use crate::journal::{Journal, now};
use crate::model::ToolChoice;
use crate::response::{Response, State};
use crate::select::select;
use crate::store::{MemoryStore, Store, random};
use crate::stream::Listener;
use crate::turn::Next;

mod decide;
mod model;
mod open;
mod run;

/// Takes a prompt as far as it goes.
pub(crate) async fn perform(mut ask: Ask, listener: Listener) -> Result<Response, ChatError> {
    let invoker = select(&ask).await?;
    let conversation = match (&ask.journal, &ask.conversation) {
        (Some(journal), _) => journal.conversation.clone(),
        (None, Some(conversation)) => conversation.clone(),
        (None, None) => random(8)?,
    };
    let _alone = ask.chat.alone(&conversation).await;
    let limits = ask.terms.limits.clone();
    let journal = match (ask.journal.take(), &ask.conversation) {
        (Some(journal), _) => journal,
        (None, kept) => {
            let store: Arc<dyn Store> = match kept {
                Some(_) => Arc::clone(&ask.chat.0.store),
                // Nobody can come back to it: it is kept as long as the response.
                None => Arc::new(MemoryStore::new()),
            };
            Arc::new(Journal::open(store, conversation, limits).await?)
        }
    };
    let scope = ask.scope.clone().session(&*journal.conversation);
    let scope = scope.cancel_on(ask.cancel.clone());
    let tools = ask.chat.list(&invoker, &scope)?;
    if let ToolChoice::Named(name) = &ask.terms.choice
        && !tools.iter().any(|tool| tool.spec().name == name.as_str())
    {
        return Err(ChatError::UnknownTool {
            names: vec![name.clone()],
            nearest: Vec::new(),
        });
    }
    let openings = std::mem::take(&mut ask.openings);
    let performance = Performance {
        tools,
        ask,
        invoker,
        scope,
        journal,
        listener,
    };
    performance.open(openings).await?;
    performance.go_on().await
}

/// One turn, or a piece of one, under way.
struct Performance {
    ask: Ask,
    invoker: Invoker,
    /// What the model is shown of them.
    tools: Arc<[ToolEntry]>,
    scope: Scope,
    journal: Arc<Journal>,
    listener: Listener,
}

impl Performance {
    async fn go_on(self) -> Result<Response, ChatError> {
        self.listener.tell(ChatEvent::Began {
            conversation: self.journal.conversation.clone(),
            model: self.ask.terms.model.id().clone(),
        });
        loop {
            if self.ask.cancel.is_cancelled() {
                return self.end(End::Cancelled).await;
            }
            let next = self.journal.told().turn.next(now());
            match next {
                Next::Ask => match self.ask_model().await {
                    Ok(()) => {}
                    Err(ChatError::Model(error)) => {
                        let reason = error.to_string();
                        self.close(&End::Failed { reason }).await?;
                        return Err(error.into());
                    }
                    Err(error) => return Err(error),
                },
                Next::Refuse(refused) => {
                    let refused = refused
                        .into_iter()
                        .map(|(call, reason)| self.refused(&call, Outcome::Denied, &reason));
                    self.finished(refused.collect()).await?;
                }
                Next::GiveUp(calls) => {
                    let lost = calls.into_iter().map(|call| {
                        let tool = self.tool_of(&call);
                        unknown(call, tool)
                    });
                    self.finished(lost.collect()).await?;
                }
                Next::Run(calls) if self.ask.terms.manual => {
                    let calls = self.calls(&calls);
                    return Ok(self.paused(State::Calls(calls)));
                }
                Next::Run(calls) => self.run(&calls).await?,
                Next::Wait(calls) => match &self.ask.chat.0.approver {
                    Some(approver) => self.decide_now(approver.as_ref(), &calls).await?,
                    None => {
                        let asked = self.ask_around(&calls).await?;
                        if !asked.is_empty() {
                            return Ok(self.paused(State::Asked(asked)));
                        }
                    }
                },
                Next::End(end) => return self.end(end).await,
            }
        }
    }

    /// Tells results of calls that did not run, to the journal and then to whoever listens.
    async fn finished(&self, results: Vec<ToolResult>) -> Result<(), ChatError> {
        let told = results.iter().cloned();
        self.journal
            .tell(told.map(|result| What::Finished { result }))
            .await?;
        for result in results {
            self.listener.tell(ChatEvent::Result { result, millis: 0 });
        }
        Ok(())
    }

    fn refused(&self, call: &CallId, outcome: Outcome, reason: &str) -> ToolResult {
        let mut result = ToolResult::refused(outcome, ErrorKind::Failed, reason);
        (result.call, result.tool) = (call.clone(), self.tool_of(call));
        result
    }

    /// The newest step of the model.
    fn step(&self) -> Option<Arc<Step>> {
        let told = self.journal.told();
        told.entries
            .iter()
            .rev()
            .find_map(|entry| match &entry.what {
                What::Step { step, .. } => Some(Arc::clone(step)),
                _ => None,
            })
    }

    /// The calls of these ids, in the order of the step.
    fn calls(&self, ids: &[CallId]) -> Vec<ToolCall> {
        let Some(step) = self.step() else {
            return Vec::new();
        };
        let wanted = step.calls().filter(|call| ids.contains(&call.id));
        wanted.cloned().collect()
    }

    fn tool_of(&self, call: &CallId) -> ToolName {
        let told = self.journal.told();
        let facts = told.turn.open().find(|facts| facts.call == *call);
        facts.map_or_else(|| "".into(), |facts| facts.tool.clone())
    }

    fn paused(self, state: State) -> Response {
        let calls = match &state {
            State::Asked(asked) => asked.iter().map(|asked| asked.call.id.clone()).collect(),
            State::Calls(calls) => calls.iter().map(|call| call.id.clone()).collect(),
            State::Ended(_) => Vec::new(),
        };
        self.listener.tell(ChatEvent::Paused { calls });
        self.response(state)
    }

    /// Ends the turn: no call stays without a result.
    async fn close(&self, end: &End) -> Result<(), ChatError> {
        let (open, over): (Vec<CallId>, bool) = {
            let turn = &self.journal.told().turn;
            let open = turn.open().map(|facts| facts.call.clone());
            (open.collect(), turn.is_over())
        };
        if over {
            return Ok(());
        }
        let (outcome, reason) = match end {
            End::Cancelled => (Outcome::Cancelled, "the turn was cancelled".to_owned()),
            End::Limit { reason } => (Outcome::Denied, format!("the turn was ended: {reason}")),
            _ => (Outcome::Cancelled, "the turn was ended".to_owned()),
        };
        let results: Vec<ToolResult> = open
            .iter()
            .map(|call| self.refused(call, outcome, &reason))
            .collect();
        let finished = results.iter().cloned();
        let finished = finished.map(|result| What::Finished { result });
        let end = What::Ended { end: end.clone() };
        self.journal.tell(finished.chain([end])).await?;
        for result in results {
            self.listener.tell(ChatEvent::Result { result, millis: 0 });
        }
        Ok(())
    }

    async fn end(self, end: End) -> Result<Response, ChatError> {
        self.close(&end).await?;
        let listener = self.listener.clone();
        let response = self.response(State::Ended(end.clone()));
        listener.tell(ChatEvent::Ended {
            end: end.clone(),
            content: response.content(),
            usage: response.usage,
            cost: response.cost,
        });
        match end {
            End::Limit { reason } | End::Failed { reason } => Err(ChatError::Ended {
                reason,
                response: Box::new(response),
            }),
            _ => Ok(response),
        }
    }

    fn response(self, state: State) -> Response {
        let told = self.journal.told();
        let begun = |what: &What| matches!(what, What::User { .. });
        let from = told.entries.iter().rposition(|entry| begun(&entry.what));
        let entries = told.entries.iter().skip(from.unwrap_or_default());
        let entries = entries.cloned().collect();
        let (usage, cost) = (told.turn.usage(), told.turn.cost());
        drop(told);
        Response {
            ask: self.ask,
            journal: self.journal,
            entries,
            state,
            usage,
            cost,
        }
    }

    /// What people are shown of calls that wait for a decision.
    fn asked(&self, calls: &[CallId]) -> Vec<Asked> {
        let told = self.journal.told().entries.clone();
        let asked = told.into_iter().rev().filter_map(|entry| match entry.what {
            What::Asked {
                call,
                arguments,
                token,
            } if calls.contains(&call) => {
                let pending = self.pending(&call)?;
                Some(Asked {
                    call: pending.call.clone(),
                    tool: Arc::clone(&pending.tool),
                    arguments,
                    token,
                })
            }
            _ => None,
        });
        let mut asked: Vec<Asked> = asked.take(calls.len()).collect();
        asked.reverse();
        asked
    }

    /// Whether a call is one that the vendor runs and waits with.
    fn is_elsewhere(&self, call: &CallId) -> bool {
        let step = self.step();
        let items = step.iter().flat_map(|step| &step.items);
        let mut items = items.map(|item| &item.kind);
        items
            .any(|kind| matches!(kind, ItemKind::HostedApproval { id, .. } if *call == id.as_str()))
    }
}
