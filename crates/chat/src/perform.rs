//! What the turn decides in, what happens out: the model is asked, calls run, people decide, the journal is told.
//!
//! Nothing is decided here. Each stage is a file; this one is the loop around [`Turn::next`](crate::Turn::next).

use std::collections::HashSet;
use std::sync::Arc;

use toolwright_core::schema::nearest;
use toolwright_core::{
    CallId, Entry as ToolEntry, ErrorKind, Invoker, Outcome, Scope, ToolCall, ToolName, ToolResult,
};

use crate::ask::{Ask, Opening};
use crate::entry::{CallFacts, End, What};
use crate::error::ChatError;
use crate::event::{Asked, ChatEvent};
use crate::history::unknown;
use crate::item::{ItemKind, Step};
use crate::journal::Journal;
use crate::lease::Held;
use crate::model::ToolChoice;
use crate::response::{Response, State};
use crate::select::select;
use crate::store::{Lease, MemoryStore, Store, random};
use crate::stream::Listener;
use crate::turn::Next;

mod decide;
mod model;
mod open;
mod run;

/// Takes a prompt as far as it goes.
pub(crate) async fn perform(mut ask: Ask, listener: Listener) -> Result<Response, ChatError> {
    let conversation = match (&ask.conversation, &ask.journal) {
        (Some(conversation), _) => conversation.clone(),
        (None, Some(journal)) => journal.conversation.clone(),
        (None, None) => random(8)?,
    };
    let place = ask.chat.0.queues.wait(&conversation).await?;
    let kept = ask.journal.take().filter(|_| ask.conversation.is_none());
    let store: Arc<dyn Store> = match (&ask.conversation, &kept) {
        // Somebody else may have gone on with it since: what counts is what the store has.
        (Some(_), _) => Arc::clone(&ask.chat.0.store),
        (None, Some(journal)) => journal.store(),
        // Nobody can come back to it: it is kept as long as the response.
        (None, None) => Arc::new(MemoryStore::new()),
    };
    let lease = ask.chat.lease(&conversation)?;
    let life = ask.chat.0.lease_life;
    let held = Held::take(Arc::clone(&store), lease, life, place).await?;
    let work = go_on(ask, kept, store, &held.lease, listener);
    let done = held.during(work).await;
    held.release().await;
    done
}

/// Takes a prompt as far as it goes, in a conversation that nobody else goes on with.
async fn go_on(
    mut ask: Ask,
    kept: Option<Arc<Journal>>,
    store: Arc<dyn Store>,
    lease: &Lease,
    listener: Listener,
) -> Result<Response, ChatError> {
    let journal = match kept {
        Some(journal) => journal,
        None => Arc::new(Journal::open(store, lease.clone(), &ask.terms).await?),
    };
    journal.wake(ask.terms.limits.clone());
    let invoker = select(&ask, &guarded(&ask, &journal)).await?;
    let scope = ask.scope.clone().session(&*journal.conversation);
    let scope = scope.cancel_on(ask.cancel.clone());
    let tools = ask.chat.list(&invoker, &scope)?;
    if let ToolChoice::Named(name) = &ask.terms.choice
        && !tools.iter().any(|tool| tool.spec().name == name.as_str())
    {
        let known = tools.iter().map(|tool| tool.spec().name.as_str());
        let nearest = nearest(name, known, 3);
        return Err(ChatError::UnknownTool {
            names: vec![name.clone()],
            nearest: nearest.into_iter().map(str::to_owned).collect(),
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

/// The tools about whose calls somebody decides: those need it even if the prompt that asked for it is another one.
fn guarded(ask: &Ask, journal: &Journal) -> HashSet<ToolName> {
    match ask.openings.iter().any(Opening::says) {
        true => HashSet::new(),
        false => {
            let told = journal.told();
            let guarded = told.turn.guarded();
            guarded.map(|facts| facts.tool.clone()).collect()
        }
    }
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
        let waits: Vec<CallId> = {
            let turn = &self.journal.told().turn;
            let waits = turn.open().filter(|facts| turn.is_asked(&facts.call));
            waits.map(|facts| facts.call.clone()).collect()
        };
        for asked in self.asked(&waits) {
            self.listener.tell(ChatEvent::Asked(asked));
        }
        loop {
            if self.ask.cancel.is_cancelled() {
                return self.end(End::Cancelled).await;
            }
            let now = self.journal.now();
            let next = self.journal.told().turn.next(now);
            match next {
                Next::Ask => match self.ask_model().await {
                    Ok(None) => {}
                    Ok(Some(end)) => return self.end(end).await,
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
                    if !self.pass_on(&calls).await? {
                        let calls = self.calls(&calls);
                        return Ok(self.paused(State::Calls(calls)));
                    }
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
        if self.journal.told().turn.is_over() {
            return Ok(());
        }
        let (outcome, reason) = match end {
            End::Cancelled => (Outcome::Cancelled, "the turn was cancelled".to_owned()),
            End::Limit { reason } => (Outcome::Denied, format!("the turn was ended: {reason}")),
            _ => (Outcome::Cancelled, "the turn was ended".to_owned()),
        };
        let results = self.left_open(|_| (outcome, reason.as_str()));
        let finished = results.iter().cloned();
        let finished = finished.map(|result| What::Finished { result });
        let end = What::Ended { end: end.clone() };
        self.journal.tell(finished.chain([end])).await?;
        for result in results {
            self.listener.tell(ChatEvent::Result { result, millis: 0 });
        }
        Ok(())
    }

    /// The results of the calls that have none: nobody saw how those end that had started, the others did not run.
    fn left_open<'a>(&self, why: impl Fn(&CallId) -> (Outcome, &'a str)) -> Vec<ToolResult> {
        let (open, started): (Vec<CallFacts>, Vec<CallFacts>) = {
            let turn = &self.journal.told().turn;
            (
                turn.open().cloned().collect(),
                turn.started().cloned().collect(),
            )
        };
        let results = open.into_iter().map(|facts| {
            if started.contains(&facts) {
                return unknown(facts.call, facts.tool);
            }
            let (outcome, reason) = why(&facts.call);
            self.refused(&facts.call, outcome, reason)
        });
        results.collect()
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
        let entries = told.entries.iter().skip(told.turn.from());
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
        let asked = calls.iter().filter_map(|call| {
            let (arguments, token) = self.journal.asked(call)?;
            let pending = self.pending(call)?;
            Some(Asked {
                call: pending.call,
                tool: pending.tool,
                arguments,
                token,
            })
        });
        asked.collect()
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
