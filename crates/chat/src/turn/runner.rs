//! Performs the actions of a turn: calls the model, runs tools, requests approvals, and appends to the journal.
//!
//! Nothing is decided here. Each stage is a file; this one is the loop around [`Turn::next_action`](crate::Turn::next_action).

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::RwLock;
use tokio::time::sleep;
use toolwright_core::schema::nearest;
use toolwright_core::{
    CallId, CallScope, Invoker, Outcome, PendingCall, RegisteredTool as ToolEntry, ToolCall,
    ToolName, ToolResult,
};

use crate::chat::event::{ChatEvent, PendingApproval};
use crate::chat::response::{Response, ResponseState};
use crate::chat::stream::EventSender;
use crate::chat::tool_selection::select_tools;
use crate::chat::turn_request::{TurnInput, TurnRequest};
use crate::error::ChatError;
use crate::journal::Journal;
use crate::journal::closing::{close_calls, closing_bodies};
use crate::journal::entry::{EntryBody, TurnEnd};
use crate::journal::history::{failed_result, unknown_outcome};
use crate::journal::store::lease::{ACQUIRE_TIMEOUT, HeldLease};
use crate::journal::store::{Lease, MemoryStore, Store, StoreError, random_hex};
use crate::model::ToolChoice;
use crate::model::item::{ItemKind, Step};
use crate::turn::{Turn, TurnAction};

mod approvals;
mod child_calls;
mod deferred_tools;
mod input;
mod model_step;
mod telemetry;
mod tool_calls;

use deferred_tools::DeferredTools;
use model_step::StepOutcome;

/// Runs a turn until it ends or has to wait, once the conversation is free.
///
/// The request is boxed, because every future that has it as an argument has room for it twice.
pub(crate) async fn run_turn(
    mut request: Box<TurnRequest>,
    events: EventSender,
) -> Result<Response, ChatError> {
    let conversation = match (&request.conversation, &request.journal) {
        (Some(conversation), _) => conversation.clone(),
        (None, Some(journal)) => journal.conversation.clone(),
        (None, None) => random_hex(8)?,
    };
    let journal = request.journal.take().filter(|_| request.conversation.is_none());
    let store: Arc<dyn Store> = match (&request.conversation, &journal) {
        // Another request may have continued it since: the store has the current journal.
        (Some(_), _) => Arc::clone(&request.chat.0.store),
        (None, Some(journal)) => journal.store(),
        // Without a name it cannot be resumed later: it lives as long as the response.
        (None, None) => Arc::new(MemoryStore::new()),
    };
    if let Some(held) = request.held_lease.take() {
        return run_with_lease(request, journal, store, held.lease(), events).await;
    }
    let chat = request.chat.clone();
    let _lock = chat.0.locks.lock(&conversation).await;
    let held = HeldLease::acquire_within(
        ACQUIRE_TIMEOUT,
        Arc::clone(&store),
        &conversation,
        chat.lease_holder()?,
        chat.0.lease_duration,
    );
    let Some(held) = held.await? else {
        let reason = StoreError::leased_elsewhere(&conversation).to_string();
        return Err(ChatError::Busy { reason });
    };
    // Boxed, so that the future of a turn whose lease is held already has no room for another.
    let work = Box::pin(run_with_lease(request, journal, store, held.lease(), events));
    let response = held.run_while_renewing(work).await;
    held.release().await;
    response
}

/// Runs a turn until it ends or has to wait; the lease of its conversation is held.
async fn run_with_lease(
    mut request: Box<TurnRequest>,
    journal: Option<Arc<Journal>>,
    store: Arc<dyn Store>,
    lease: &Lease,
    events: EventSender,
) -> Result<Response, ChatError> {
    let inputs = std::mem::take(&mut request.inputs);
    let is_resuming = !inputs.iter().any(TurnInput::is_message);
    let runner = TurnRunner::open(request, is_resuming, journal, store, lease, events).await?;
    runner.apply_inputs(inputs).await?;
    runner.run_loop().await
}

/// Returns the approvals that the turn of the request's conversation waits for, as its journal has them.
///
/// Nothing is appended, so this needs no lease.
pub(crate) async fn load_pending_approvals(
    mut request: Box<TurnRequest>,
) -> Result<Vec<PendingApproval>, ChatError> {
    let Some(conversation) = request.conversation.clone() else {
        return Ok(Vec::new());
    };
    request.inputs.clear();
    let store = Arc::clone(&request.chat.0.store);
    let lease = Lease::new(conversation, "", 0);
    let events = EventSender::disabled();
    let runner = TurnRunner::open(request, true, None, store, &lease, events).await?;
    Ok(runner.awaited_approvals())
}

/// Returns the tools whose open calls need approval: they still do if this request resumes a turn that another one started.
fn tools_with_approval(is_resuming: bool, journal: &Journal) -> HashSet<ToolName> {
    match is_resuming {
        false => HashSet::new(),
        true => {
            let state = journal.state();
            let calls = state.turn.calls_with_approval();
            calls.map(|call| call.tool.clone()).collect()
        }
    }
}

/// Runs one turn, or the part of it up to a pause.
struct TurnRunner {
    request: Box<TurnRequest>,
    invoker: Invoker,
    /// The tools that the request to the model carries: those of the invoker that the caller may see, or those of `deferred`.
    tools: Arc<[ToolEntry]>,
    /// The tools that the model searches for; `None` if the request carries all.
    deferred: Option<DeferredTools>,
    scope: CallScope,
    journal: Arc<Journal>,
    events: EventSender,
    /// The calls whose start was appended with their step, and that did not run yet.
    started: Mutex<HashSet<CallId>>,
    /// Read-locked while an approver is asked about a call that a running call makes.
    asking: RwLock<()>,
}

impl TurnRunner {
    /// Reads the journal, and selects the tools of the turn. A request that is `is_resuming` starts no turn of its own.
    async fn open(
        request: Box<TurnRequest>,
        is_resuming: bool,
        journal: Option<Arc<Journal>>,
        store: Arc<dyn Store>,
        lease: &Lease,
        events: EventSender,
    ) -> Result<Self, ChatError> {
        let signer = request.chat.approval_signer(is_resuming).await?;
        let journal = match journal {
            Some(journal) => journal,
            None => {
                let signer = Arc::clone(&signer);
                Arc::new(Journal::open(store, lease.clone(), &request.options, signer).await?)
            }
        };
        journal.resume(lease.clone(), request.options.limits.clone());
        let guarded = tools_with_approval(is_resuming, &journal);
        let invoker = select_tools(&request, &guarded, signer).await?;
        let scope = request.scope.clone().session(&*journal.conversation);
        let scope = scope.cancel_on(request.cancel.clone());
        let tools = request.chat.visible_tools(&invoker, &scope)?;
        if let ToolChoice::Named(name) = &request.options.tool_choice
            && !tools.iter().any(|tool| tool.spec().name == name.as_str())
        {
            let known = tools.iter().map(|tool| tool.spec().name.as_str());
            let nearest = nearest(name, known, 3);
            return Err(ChatError::UnknownTool {
                names: vec![name.clone()],
                nearest: nearest.into_iter().map(str::to_owned).collect(),
            });
        }
        let deferred = DeferredTools::new(&request, &invoker, &scope, &journal, &tools)?;
        let tools = deferred.as_ref().map_or(tools, |deferred| Arc::clone(deferred.offered()));
        let (started, asking) = (Mutex::default(), RwLock::default());
        Ok(Self { tools, deferred, request, invoker, scope, journal, events, started, asking })
    }

    async fn run_loop(self) -> Result<Response, ChatError> {
        self.events.emit(ChatEvent::TurnStarted {
            conversation: self.journal.conversation.clone(),
            model: self.request.options.model.id().clone(),
        });
        for approval in self.awaited_approvals() {
            self.events.emit(ChatEvent::ApprovalRequested(Box::new(approval)));
        }
        loop {
            if self.request.cancel.is_cancelled() {
                return self.end_turn(TurnEnd::Cancelled).await;
            }
            let now = self.journal.now();
            let next = self.journal.state().turn.next_action(now);
            match next {
                TurnAction::CallModel => match self.call_model().await {
                    Ok(StepOutcome::Complete(calls))
                        if calls.is_empty() || self.request.cancel.is_cancelled() => {}
                    Ok(StepOutcome::Complete(calls)) => self.run_calls(&calls).await?,
                    Ok(StepOutcome::TurnEnds(end)) => return self.end_turn(end).await,
                    Err(ChatError::Model(error)) => {
                        let reason = error.to_string();
                        self.close_turn(&TurnEnd::Failed { reason }).await?;
                        return Err(error.into());
                    }
                    Err(error) => return Err(error),
                },
                TurnAction::RejectCalls(rejected) => {
                    let results = rejected.into_iter().map(|(call, reason)| {
                        self.rejected_result(&call, Outcome::Denied, &reason)
                    });
                    self.finish_calls(results.collect()).await?;
                }
                TurnAction::AbandonCalls(calls) => {
                    let results = calls.into_iter().map(|call| {
                        let tool = self.tool_name(&call);
                        unknown_outcome(call, tool)
                    });
                    self.finish_calls(results.collect()).await?;
                }
                TurnAction::RunCalls(calls) if self.request.options.manual_calls => {
                    if !self.finish_hosted_calls(&calls).await?
                        && !self.run_gateway_calls(&calls).await?
                    {
                        let calls = self.calls_by_id(&calls);
                        return Ok(self.pause_turn(ResponseState::AwaitingResults(calls)));
                    }
                }
                TurnAction::RunCalls(calls) => self.run_calls(&calls).await?,
                TurnAction::AwaitApproval(calls) => match &self.request.chat.0.approver {
                    Some(approver) => self.ask_approver(approver.as_ref(), &calls).await?,
                    None => {
                        let approvals = self.collect_approvals(&calls).await?;
                        if !approvals.is_empty() {
                            let state = ResponseState::AwaitingApproval(approvals);
                            return Ok(self.pause_turn(state));
                        }
                    }
                },
                TurnAction::EndTurn(end) => return self.end_turn(end).await,
            }
        }
    }

    /// Waits until the time limit of the turn is reached, and returns the end that follows. The time in which an approver is asked
    /// does not count.
    async fn time_limit(&self) -> TurnEnd {
        loop {
            let now = self.journal.now();
            let remaining = {
                let turn = &self.journal.state().turn;
                match turn.time_limit_reason(now) {
                    Some(reason) => return TurnEnd::Limit { reason },
                    None => turn.deadline().saturating_sub(now),
                }
            };
            sleep(Duration::from_millis(remaining)).await;
            // A decision moves the deadline.
            drop(self.asking.write().await);
        }
    }

    fn started(&self) -> MutexGuard<'_, HashSet<CallId>> {
        self.started.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends results of calls that did not run here, and then emits them.
    async fn finish_calls(&self, results: Vec<ToolResult>) -> Result<(), ChatError> {
        let finished = results.iter().cloned();
        self.journal.append(finished.map(|result| EntryBody::CallFinished { result })).await?;
        for result in results {
            self.events.emit(ChatEvent::Result { result, millis: 0 });
        }
        Ok(())
    }

    fn rejected_result(&self, call: &CallId, outcome: Outcome, reason: &str) -> ToolResult {
        failed_result(call.clone(), self.tool_name(call), outcome, reason)
    }

    /// Returns the newest step of the model.
    fn last_step(&self) -> Option<Arc<Step>> {
        let state = self.journal.state();
        state.entries.iter().rev().find_map(|entry| match &entry.body {
            EntryBody::Step { step, .. } => Some(Arc::clone(step)),
            _ => None,
        })
    }

    /// Returns the calls of these ids, in the order of the step.
    fn calls_by_id(&self, ids: &[CallId]) -> Vec<ToolCall> {
        let Some(step) = self.last_step() else {
            return Vec::new();
        };
        let calls = step.calls().filter(|call| ids.contains(&call.id));
        calls.cloned().collect()
    }

    /// Returns the invoker of a call: of the tools of the turn, or of those that search and call them.
    fn invoker_of(&self, call: &ToolCall) -> &Invoker {
        let gateway = self.deferred.as_ref().and_then(|deferred| deferred.invoker_of(call));
        gateway.unwrap_or(&self.invoker)
    }

    fn tool_name(&self, call: &CallId) -> ToolName {
        let state = self.journal.state();
        let open = state.turn.open_calls().find(|open| open.call == *call);
        open.map_or_else(|| "".into(), |open| open.tool.clone())
    }

    fn pause_turn(self, state: ResponseState) -> Response {
        let calls = match &state {
            ResponseState::AwaitingApproval(approvals) => {
                approvals.iter().map(|approval| approval.call.id.clone()).collect()
            }
            ResponseState::AwaitingResults(calls) => {
                calls.iter().map(|call| call.id.clone()).collect()
            }
            ResponseState::Ended(_) => Vec::new(),
        };
        self.events.emit(ChatEvent::TurnPaused { calls });
        self.into_response(state)
    }

    /// Ends the turn in the journal, with a result for every open call.
    async fn close_turn(&self, end: &TurnEnd) -> Result<(), ChatError> {
        let (outcome, reason) = match end {
            TurnEnd::Cancelled => (Outcome::Cancelled, "the turn was cancelled".to_owned()),
            TurnEnd::Limit { reason } => (Outcome::Denied, format!("the turn was ended: {reason}")),
            _ => (Outcome::Cancelled, "the turn was ended".to_owned()),
        };
        let results = self.append_end(end, |_, _| (outcome, reason.as_str())).await?;
        for result in results {
            self.events.emit(ChatEvent::Result { result, millis: 0 });
        }
        Ok(())
    }

    /// Appends the end of the turn, unless it is over, and before it results of the open calls, which are returned: an unknown
    /// outcome for those that had started, and `why` for the others.
    async fn append_end<'a>(
        &self,
        end: &TurnEnd,
        why: impl Fn(&Turn, &CallId) -> (Outcome, &'a str),
    ) -> Result<Vec<ToolResult>, ChatError> {
        let (results, entries) = self.closing_entries(end, why);
        if !entries.is_empty() {
            self.journal.append(entries).await?;
        }
        Ok(results)
    }

    /// Returns the results of the open calls and the entries that end the turn; both are empty if it is over.
    fn closing_entries<'a>(
        &self,
        end: &TurnEnd,
        why: impl Fn(&Turn, &CallId) -> (Outcome, &'a str),
    ) -> (Vec<ToolResult>, Vec<EntryBody>) {
        if self.journal.state().turn.is_over() {
            return (Vec::new(), Vec::new());
        }
        let results = {
            let not_run = self.started();
            close_calls(&self.journal.state().turn, |call| !not_run.contains(call), why)
        };
        let entries = closing_bodies(&results, end).collect();
        (results, entries)
    }

    async fn end_turn(self, end: TurnEnd) -> Result<Response, ChatError> {
        self.close_turn(&end).await?;
        let events = self.events.clone();
        let response = self.into_response(ResponseState::Ended(end.clone()));
        events.emit(ChatEvent::TurnEnded {
            end: end.clone(),
            content: response.content(),
            usage: response.usage,
            cost: response.cost,
        });
        match end {
            TurnEnd::Limit { reason } | TurnEnd::Failed { reason } => {
                Err(ChatError::Ended { reason, response: Box::new(response) })
            }
            _ => Ok(response),
        }
    }

    fn into_response(self, state: ResponseState) -> Response {
        let journal = self.journal.state();
        let entries = journal.entries.iter().skip(journal.turn.first_entry());
        let entries = entries.cloned().collect();
        let (usage, cost) = (journal.turn.usage(), journal.turn.cost());
        drop(journal);
        Response { request: self.request, journal: self.journal, entries, state, usage, cost }
    }

    /// Returns the approvals that the turn waits for; a call whose tool has changed is left out.
    fn awaited_approvals(&self) -> Vec<PendingApproval> {
        let awaiting: Vec<CallId> = {
            let turn = &self.journal.state().turn;
            let awaiting = turn.open_calls().filter(|open| turn.is_awaiting_approval(&open.call));
            awaiting.map(|open| open.call.clone()).collect()
        };
        self.pending_approvals(&awaiting)
    }

    /// Returns what an approver is shown of calls that need approval; a call whose tool has changed is left out.
    fn pending_approvals(&self, calls: &[CallId]) -> Vec<PendingApproval> {
        let approvals = calls.iter().filter_map(|call| {
            let (arguments, token) = self.journal.approval_request(call)?;
            let pending = self.find_pending_call(call)?;
            let parent = self.journal.state().turn.parent(call).cloned();
            let PendingCall { call, tool, approvers, .. } = pending;
            Some(PendingApproval { call, tool, arguments, token, parent, approvers })
        });
        approvals.collect()
    }

    /// Returns true if a call is one that the vendor runs once it is approved.
    fn is_hosted_call(&self, call: &CallId) -> bool {
        let step = self.last_step();
        let items = step.iter().flat_map(|step| &step.items);
        let mut items = items.map(|item| &item.kind);
        items
            .any(|kind| matches!(kind, ItemKind::HostedApproval { id, .. } if *call == id.as_str()))
    }
}
