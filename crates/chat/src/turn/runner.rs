//! What the turn decides in, what happens out: the model is asked, calls run, people decide, the journal is told.
//!
//! Nothing is decided here. Each stage is a file; this one is the loop around [`Turn::next`](crate::Turn::next).

use std::collections::HashSet;
use std::sync::Arc;

use toolwright_core::schema::nearest;
use toolwright_core::{
    CallId, CallScope, ErrorKind, Invoker, Outcome, RegisteredTool as ToolEntry, ToolCall,
    ToolName, ToolResult,
};

use crate::chat::event::{ChatEvent, PendingApproval};
use crate::chat::response::{Response, ResponseState};
use crate::chat::stream::EventSender;
use crate::chat::tool_selection::select_tools;
use crate::chat::turn_request::{TurnInput, TurnRequest};
use crate::error::ChatError;
use crate::journal::Journal;
use crate::journal::entry::{CallMetadata, EntryBody, TurnEnd};
use crate::journal::history::unknown_outcome;
use crate::journal::store::lease::LeaseGuard;
use crate::journal::store::{Lease, MemoryStore, Store, random_hex};
use crate::model::ToolChoice;
use crate::model::item::{ItemKind, Step};
use crate::turn::TurnAction;

mod approvals;
mod input;
mod model_step;
mod telemetry;
mod tool_calls;

/// Takes a prompt as far as it goes.
pub(crate) async fn run_turn(
    mut ask: TurnRequest,
    listener: EventSender,
) -> Result<Response, ChatError> {
    let conversation = match (&ask.conversation, &ask.journal) {
        (Some(conversation), _) => conversation.clone(),
        (None, Some(journal)) => journal.conversation.clone(),
        (None, None) => random_hex(8)?,
    };
    let place = ask.chat.0.queues.acquire(&conversation).await?;
    let kept = ask.journal.take().filter(|_| ask.conversation.is_none());
    let store: Arc<dyn Store> = match (&ask.conversation, &kept) {
        // Somebody else may have gone on with it since: what counts is what the store has.
        (Some(_), _) => Arc::clone(&ask.chat.0.store),
        (None, Some(journal)) => journal.store(),
        // Nobody can come back to it: it is kept as long as the response.
        (None, None) => Arc::new(MemoryStore::new()),
    };
    let lease = ask.chat.lease_for(&conversation)?;
    let life = ask.chat.0.lease_duration;
    let held = LeaseGuard::acquire(Arc::clone(&store), lease, life, place).await?;
    let work = run_with_lease(ask, kept, store, &held.lease, listener);
    let done = held.run_while_renewing(work).await;
    held.release().await;
    done
}

/// Takes a prompt as far as it goes, in a conversation that nobody else goes on with.
async fn run_with_lease(
    mut ask: TurnRequest,
    kept: Option<Arc<Journal>>,
    store: Arc<dyn Store>,
    lease: &Lease,
    listener: EventSender,
) -> Result<Response, ChatError> {
    let journal = match kept {
        Some(journal) => journal,
        None => Arc::new(Journal::open(store, lease.clone(), &ask.options).await?),
    };
    journal.resume(ask.options.limits.clone());
    let invoker = select_tools(&ask, &tools_with_approval(&ask, &journal)).await?;
    let scope = ask.scope.clone().session(&*journal.conversation);
    let scope = scope.cancel_on(ask.cancel.clone());
    let tools = ask.chat.visible_tools(&invoker, &scope)?;
    if let ToolChoice::Named(name) = &ask.options.tool_choice
        && !tools.iter().any(|tool| tool.spec().name == name.as_str())
    {
        let known = tools.iter().map(|tool| tool.spec().name.as_str());
        let nearest = nearest(name, known, 3);
        return Err(ChatError::UnknownTool {
            names: vec![name.clone()],
            nearest: nearest.into_iter().map(str::to_owned).collect(),
        });
    }
    let openings = std::mem::take(&mut ask.inputs);
    let performance = TurnRunner {
        tools,
        request: ask,
        invoker,
        scope,
        journal,
        events: listener,
    };
    performance.apply_inputs(openings).await?;
    performance.run_loop().await
}

/// The tools about whose calls somebody decides: those need it even if the prompt that asked for it is another one.
fn tools_with_approval(ask: &TurnRequest, journal: &Journal) -> HashSet<ToolName> {
    match ask.inputs.iter().any(TurnInput::is_message) {
        true => HashSet::new(),
        false => {
            let told = journal.state();
            let guarded = told.turn.calls_with_approval();
            guarded.map(|facts| facts.tool.clone()).collect()
        }
    }
}

/// One turn, or a piece of one, under way.
struct TurnRunner {
    request: TurnRequest,
    invoker: Invoker,
    /// What the model is shown of them.
    tools: Arc<[ToolEntry]>,
    scope: CallScope,
    journal: Arc<Journal>,
    events: EventSender,
}

impl TurnRunner {
    async fn run_loop(self) -> Result<Response, ChatError> {
        self.events.emit(ChatEvent::TurnStarted {
            conversation: self.journal.conversation.clone(),
            model: self.request.options.model.id().clone(),
        });
        let waits: Vec<CallId> = {
            let turn = &self.journal.state().turn;
            let waits = turn
                .open_calls()
                .filter(|facts| turn.is_awaiting_approval(&facts.call));
            waits.map(|facts| facts.call.clone()).collect()
        };
        for asked in self.pending_approvals(&waits) {
            self.events.emit(ChatEvent::ApprovalRequested(asked));
        }
        loop {
            if self.request.cancel.is_cancelled() {
                return self.end_turn(TurnEnd::Cancelled).await;
            }
            let now = self.journal.now();
            let next = self.journal.state().turn.next_action(now);
            match next {
                TurnAction::CallModel => match self.call_model().await {
                    Ok(None) => {}
                    Ok(Some(end)) => return self.end_turn(end).await,
                    Err(ChatError::Model(error)) => {
                        let reason = error.to_string();
                        self.close_turn(&TurnEnd::Failed { reason }).await?;
                        return Err(error.into());
                    }
                    Err(error) => return Err(error),
                },
                TurnAction::RejectCalls(refused) => {
                    let refused = refused.into_iter().map(|(call, reason)| {
                        self.rejected_result(&call, Outcome::Denied, &reason)
                    });
                    self.finish_calls(refused.collect()).await?;
                }
                TurnAction::AbandonCalls(calls) => {
                    let lost = calls.into_iter().map(|call| {
                        let tool = self.tool_name(&call);
                        unknown_outcome(call, tool)
                    });
                    self.finish_calls(lost.collect()).await?;
                }
                TurnAction::RunCalls(calls) if self.request.options.manual_calls => {
                    if !self.finish_hosted_calls(&calls).await? {
                        let calls = self.calls_by_id(&calls);
                        return Ok(self.pause_turn(ResponseState::AwaitingResults(calls)));
                    }
                }
                TurnAction::RunCalls(calls) => self.run_calls(&calls).await?,
                TurnAction::AwaitApproval(calls) => match &self.request.chat.0.approver {
                    Some(approver) => self.ask_approver(approver.as_ref(), &calls).await?,
                    None => {
                        let asked = self.collect_approvals(&calls).await?;
                        if !asked.is_empty() {
                            return Ok(self.pause_turn(ResponseState::AwaitingApproval(asked)));
                        }
                    }
                },
                TurnAction::EndTurn(end) => return self.end_turn(end).await,
            }
        }
    }

    /// Tells results of calls that did not run, to the journal and then to whoever listens.
    async fn finish_calls(&self, results: Vec<ToolResult>) -> Result<(), ChatError> {
        let told = results.iter().cloned();
        self.journal
            .append(told.map(|result| EntryBody::CallFinished { result }))
            .await?;
        for result in results {
            self.events.emit(ChatEvent::Result { result, millis: 0 });
        }
        Ok(())
    }

    fn rejected_result(&self, call: &CallId, outcome: Outcome, reason: &str) -> ToolResult {
        let mut result = ToolResult::from_outcome(outcome, ErrorKind::Failed, reason);
        (result.call_id, result.tool) = (call.clone(), self.tool_name(call));
        result
    }

    /// The newest step of the model.
    fn last_step(&self) -> Option<Arc<Step>> {
        let told = self.journal.state();
        told.entries
            .iter()
            .rev()
            .find_map(|entry| match &entry.body {
                EntryBody::Step { step, .. } => Some(Arc::clone(step)),
                _ => None,
            })
    }

    /// The calls of these ids, in the order of the step.
    fn calls_by_id(&self, ids: &[CallId]) -> Vec<ToolCall> {
        let Some(step) = self.last_step() else {
            return Vec::new();
        };
        let wanted = step.calls().filter(|call| ids.contains(&call.id));
        wanted.cloned().collect()
    }

    fn tool_name(&self, call: &CallId) -> ToolName {
        let told = self.journal.state();
        let facts = told.turn.open_calls().find(|facts| facts.call == *call);
        facts.map_or_else(|| "".into(), |facts| facts.tool.clone())
    }

    fn pause_turn(self, state: ResponseState) -> Response {
        let calls = match &state {
            ResponseState::AwaitingApproval(asked) => {
                asked.iter().map(|asked| asked.call.id.clone()).collect()
            }
            ResponseState::AwaitingResults(calls) => {
                calls.iter().map(|call| call.id.clone()).collect()
            }
            ResponseState::Ended(_) => Vec::new(),
        };
        self.events.emit(ChatEvent::TurnPaused { calls });
        self.into_response(state)
    }

    /// Ends the turn: no call stays without a result.
    async fn close_turn(&self, end: &TurnEnd) -> Result<(), ChatError> {
        if self.journal.state().turn.is_over() {
            return Ok(());
        }
        let (outcome, reason) = match end {
            TurnEnd::Cancelled => (Outcome::Cancelled, "the turn was cancelled".to_owned()),
            TurnEnd::Limit { reason } => (Outcome::Denied, format!("the turn was ended: {reason}")),
            _ => (Outcome::Cancelled, "the turn was ended".to_owned()),
        };
        let results = self.results_of_open_calls(|_| (outcome, reason.as_str()));
        let finished = results.iter().cloned();
        let finished = finished.map(|result| EntryBody::CallFinished { result });
        let end = EntryBody::TurnEnded { end: end.clone() };
        self.journal.append(finished.chain([end])).await?;
        for result in results {
            self.events.emit(ChatEvent::Result { result, millis: 0 });
        }
        Ok(())
    }

    /// The results of the calls that have none: nobody saw how those end that had started, the others did not run.
    fn results_of_open_calls<'a>(
        &self,
        why: impl Fn(&CallId) -> (Outcome, &'a str),
    ) -> Vec<ToolResult> {
        let (open, started): (Vec<CallMetadata>, Vec<CallMetadata>) = {
            let turn = &self.journal.state().turn;
            (
                turn.open_calls().cloned().collect(),
                turn.started_calls().cloned().collect(),
            )
        };
        let results = open.into_iter().map(|facts| {
            if started.contains(&facts) {
                return unknown_outcome(facts.call, facts.tool);
            }
            let (outcome, reason) = why(&facts.call);
            self.rejected_result(&facts.call, outcome, reason)
        });
        results.collect()
    }

    async fn end_turn(self, end: TurnEnd) -> Result<Response, ChatError> {
        self.close_turn(&end).await?;
        let listener = self.events.clone();
        let response = self.into_response(ResponseState::Ended(end.clone()));
        listener.emit(ChatEvent::TurnEnded {
            end: end.clone(),
            content: response.content(),
            usage: response.usage,
            cost: response.cost,
        });
        match end {
            TurnEnd::Limit { reason } | TurnEnd::Failed { reason } => Err(ChatError::Ended {
                reason,
                response: Box::new(response),
            }),
            _ => Ok(response),
        }
    }

    fn into_response(self, state: ResponseState) -> Response {
        let told = self.journal.state();
        let entries = told.entries.iter().skip(told.turn.first_entry());
        let entries = entries.cloned().collect();
        let (usage, cost) = (told.turn.usage(), told.turn.cost());
        drop(told);
        Response {
            request: self.request,
            journal: self.journal,
            entries,
            state,
            usage,
            cost,
        }
    }

    /// What people are shown of calls that wait for a decision.
    fn pending_approvals(&self, calls: &[CallId]) -> Vec<PendingApproval> {
        let asked = calls.iter().filter_map(|call| {
            let (arguments, token) = self.journal.approval_request(call)?;
            let pending = self.find_pending_call(call)?;
            Some(PendingApproval {
                call: pending.call,
                tool: pending.tool,
                arguments,
                token,
            })
        });
        asked.collect()
    }

    /// Whether a call is one that the vendor runs and waits with.
    fn is_hosted_call(&self, call: &CallId) -> bool {
        let step = self.last_step();
        let items = step.iter().flat_map(|step| &step.items);
        let mut items = items.map(|item| &item.kind);
        items
            .any(|kind| matches!(kind, ItemKind::HostedApproval { id, .. } if *call == id.as_str()))
    }
}
