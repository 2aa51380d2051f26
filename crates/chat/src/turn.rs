//! [`Turn`] decides the next [`TurnAction`] from the journal, without I/O; the runner performs it.
//!
//! The state of a turn comes from the journal alone, so resuming is reading it again. Times are arguments.

use std::collections::HashMap;

use toolwright_core::__internal::{MAX_CALL_DEPTH, TOO_DEEP, whole_millis};
use toolwright_core::{CallId, ErrorKind, ToolName};

use crate::journal::entry::{ApprovalVerdict, CallMetadata, Entry, EntryBody, TurnEnd};
use crate::model::usage::{StopReason, Usage};

mod limits;
pub(crate) mod runner;

pub use limits::TurnLimits;

/// The result of a call that did not run before the call around it ended.
pub(crate) const PARENT_ENDED: &str = "the call did not run: the call that made it has ended";

/// A turn: from a user message to its answer, as the journal records it.
#[derive(Clone, Debug, Default)]
pub struct Turn {
    limits: TurnLimits,
    /// When it started, in milliseconds since 1970; moved by the time in which it waited for approvals or results.
    started_at: Option<u64>,
    /// The time of the last entry.
    last_entry_at: u64,
    /// The number of entries that were applied.
    entry_count: usize,
    /// The index of the first entry of the turn.
    first_entry: usize,
    /// The calls of the newest step.
    calls: Vec<TrackedCall>,
    /// The calls made inside those calls, in the order in which they were made.
    children: Vec<TrackedCall>,
    stop_reason: StopReason,
    has_step: bool,
    steps: usize,
    call_count: usize,
    calls_by_tool: HashMap<ToolName, usize>,
    calls_by_digest: HashMap<String, usize>,
    usage: Usage,
    /// The cost so far; `None` once a price was not known.
    cost: Option<f64>,
    end: Option<TurnEnd>,
}

#[derive(Clone, Debug)]
struct TrackedCall {
    metadata: CallMetadata,
    /// The call that made it; `None` if the model did.
    parent: Option<CallId>,
    state: CallState,
    /// The decision of its approval, once there is one.
    verdict: Option<ApprovalVerdict>,
    /// Why it must not run, if a limit or a truncated answer rejects it.
    rejection: Option<String>,
    /// True while it waits for a call that it makes before it has an effect.
    has_no_effect: bool,
}

#[derive(Clone, Debug, PartialEq)]
enum CallState {
    New,
    AwaitingApproval { expires: u64 },
    Started,
    Finished { ok: bool, fatal: Option<String> },
}

/// The next action of a turn.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TurnAction {
    /// Call the model.
    CallModel,
    /// Run these calls: read-only ones at the same time, the others in this order.
    RunCalls(Vec<CallId>),
    /// Reject these calls with reasons, which the model reads.
    RejectCalls(Vec<(CallId, String)>),
    /// Record an unknown outcome for these calls: they had started when the turn was interrupted, and must not run again.
    AbandonCalls(Vec<CallId>),
    /// Wait for the approval of these calls; until then no call with an effect runs.
    AwaitApproval(Vec<CallId>),
    /// End the turn.
    EndTurn(TurnEnd),
}

/// What happens to a call that another call makes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum ChildAction {
    /// Run it.
    Run,
    /// Reject it for a reason, which is its result.
    Reject(String),
    /// Wait for its approval.
    AwaitApproval,
    /// Return its recorded result.
    ReturnResult,
    /// Interrupt the call that makes it: the turn waits or ends.
    Interrupt,
}

impl Turn {
    /// Creates a turn with these limits, before its first entry.
    pub fn new(limits: TurnLimits) -> Self {
        Self { limits, ..Self::default() }
    }

    /// Creates the turn that these entries lead to, with the default limits.
    pub(crate) fn from_entries(entries: &[Entry]) -> Self {
        let mut turn = Self::new(TurnLimits::default());
        entries.iter().for_each(|entry| turn.apply(entry));
        turn
    }

    /// Applies an entry that was read from the journal.
    ///
    /// Work is cut off at the time limit. So a longer gap before the entry is no work: no process ran the turn, or the clock was set
    /// forward. Such a gap does not count, and neither does one in which the clock was set back.
    pub(crate) fn replay(&mut self, entry: &Entry) {
        let gap = entry.at.checked_sub(self.last_entry_at);
        if gap.is_none_or(|gap| gap >= whole_millis(self.limits.time)) {
            self.exclude_waiting_time(entry.at);
        }
        self.apply(entry);
    }

    /// Applies the next entry of the journal.
    pub fn apply(&mut self, entry: &Entry) {
        match &entry.body {
            // Consecutive messages belong to the same turn.
            EntryBody::User { .. } if !self.is_over() && self.steps == 0 => {}
            EntryBody::User { .. } => self.start(entry.at),
            EntryBody::Assistant { .. } if self.is_over() => self.start(entry.at),
            EntryBody::Assistant { .. } => {}
            EntryBody::Step { step, calls, cost } => {
                self.steps += 1;
                self.usage += step.usage;
                self.cost = self.cost.zip(*cost).map(|(sum, cost)| sum + cost);
                self.stop_reason = step.stop.clone();
                self.has_step = true;
                self.calls = calls.iter().map(|call| self.count_call(call)).collect();
                self.children.clear();
                if let Some(call) = step.truncated_call() {
                    self.reject_call(call, "the call was cut off before its arguments were whole");
                }
            }
            EntryBody::ChildCall { metadata, .. } => {
                let parent = entry.parent.as_ref().and_then(|parent| self.find(parent).cloned());
                if let Some(parent) = parent.filter(|_| self.find(&metadata.call).is_none()) {
                    self.add_child(&parent, metadata);
                }
            }
            EntryBody::CallStarted { call } => {
                self.set_state(call, CallState::Started);
                self.open_call_mut(call).for_each(|tracked| tracked.has_no_effect = false);
            }
            EntryBody::ApprovalRequested { call, token, .. } => {
                let expires = token.expires();
                self.set_state(call, CallState::AwaitingApproval { expires });
            }
            EntryBody::ApprovalDecided { call, verdict, .. } => {
                self.exclude_waiting_time(entry.at);
                self.record_verdict(call, verdict);
            }
            EntryBody::CallFinished { result } => {
                if !self.started_calls().any(|started| started.call == result.call_id) {
                    self.exclude_waiting_time(entry.at);
                }
                // The call that made it goes on, unless it was interrupted to wait for an approval.
                let finished = self.find(&result.call_id).filter(|it| !it.is_awaiting_approval());
                if let Some(parent) = finished.and_then(|finished| finished.parent.clone()) {
                    self.open_call_mut(&parent).for_each(|tracked| tracked.has_no_effect = false);
                }
                let fatal = result.error == Some(ErrorKind::Fatal);
                let fatal = fatal.then(|| result.text().into_owned());
                let ok = !result.is_error();
                self.set_state(&result.call_id, CallState::Finished { ok, fatal });
            }
            EntryBody::TurnEnded { end } => self.end = Some(end.clone()),
            EntryBody::Unknown(_) => {}
        }
        self.last_entry_at = entry.at;
        self.entry_count += 1;
    }

    /// Goes back to before the first entry.
    pub(crate) fn reset(&mut self) {
        *self = Self::new(std::mem::take(&mut self.limits));
    }

    fn start(&mut self, at: u64) {
        *self = Self {
            started_at: Some(at),
            entry_count: self.entry_count,
            first_entry: self.entry_count,
            cost: Some(0.0),
            ..Self::new(std::mem::take(&mut self.limits))
        };
    }

    /// Excludes the time since the last entry from the limit: the turn only waited. `until` is earlier if the clock was set back.
    fn exclude_waiting_time(&mut self, until: u64) {
        let elapsed = |at| self.last_entry_at.saturating_sub(at);
        self.started_at = self.started_at.map(|at| until.saturating_sub(elapsed(at)));
        self.last_entry_at = until;
    }

    /// Resumes the turn with these limits, and excludes the time since the last entry.
    pub(crate) fn resume(&mut self, limits: TurnLimits, now: u64) {
        self.limits = limits;
        self.exclude_waiting_time(now);
    }

    /// Returns the index of the first entry of the turn.
    pub(crate) fn first_entry(&self) -> usize {
        self.first_entry
    }

    /// Counts a call, and rejects it if it exceeds a limit.
    fn count_call(&mut self, metadata: &CallMetadata) -> TrackedCall {
        self.call_count += 1;
        let of_tool = self.calls_by_tool.entry(metadata.tool.clone()).or_default();
        *of_tool += 1;
        let alike = self.calls_by_digest.entry(metadata.digest.clone()).or_default();
        *alike += 1;
        let rejection = if self.call_count > self.limits.calls {
            Some(format!("this turn has made its {} calls", self.limits.calls))
        } else if *of_tool > self.limits.calls_per_tool {
            Some(format!(
                "this turn has called `{}` {} times already",
                metadata.tool.as_str(),
                self.limits.calls_per_tool
            ))
        } else if *alike > self.limits.repeats {
            Some(format!(
                "the same call was made {} times already, and its result will not change; do something else",
                self.limits.repeats
            ))
        } else {
            None
        };
        let metadata = metadata.clone();
        TrackedCall {
            metadata,
            parent: None,
            state: CallState::New,
            verdict: None,
            rejection,
            has_no_effect: false,
        }
    }

    /// Counts a call that another call makes, and rejects it if it exceeds a limit or may not be made there.
    fn add_child(&mut self, parent: &TrackedCall, metadata: &CallMetadata) {
        let mut child = self.count_call(metadata);
        child.parent = Some(parent.metadata.call.clone());
        if child.rejection.is_none() {
            child.rejection = if self.ancestors(&child).count() > MAX_CALL_DEPTH {
                Some(TOO_DEEP.to_owned())
            } else if parent.metadata.read_only && !metadata.read_only {
                let (outer, inner) = (parent.metadata.tool.as_str(), metadata.tool.as_str());
                Some(format!("`{outer}` is read-only, and may not call `{inner}`, which is not"))
            } else {
                None
            };
        }
        self.children.push(child);
        if metadata.before_effect {
            let parent = &parent.metadata.call;
            self.open_call_mut(parent).for_each(|tracked| tracked.has_no_effect = true);
        }
    }

    fn find(&self, call: &CallId) -> Option<&TrackedCall> {
        self.tracked_calls().find(|tracked| tracked.metadata.call == *call)
    }

    /// Returns all calls: each after those that it made, so that their results are recorded in this order.
    fn tracked_calls(&self) -> impl Iterator<Item = &TrackedCall> {
        self.children.iter().rev().chain(&self.calls)
    }

    /// Returns the calls that a call was made inside of, the innermost first.
    fn ancestors<'a>(&'a self, tracked: &'a TrackedCall) -> impl Iterator<Item = &'a TrackedCall> {
        let parent = |tracked: &TrackedCall| self.find(tracked.parent.as_ref()?);
        std::iter::successors(parent(tracked), move |tracked| parent(tracked))
    }

    /// Returns the call of an id, unless it has its result: later entries do not change a finished call.
    fn open_call_mut(&mut self, call: &CallId) -> impl Iterator<Item = &mut TrackedCall> {
        let open =
            |tracked: &&mut TrackedCall| tracked.metadata.call == *call && !tracked.is_finished();
        self.calls.iter_mut().chain(&mut self.children).filter(open)
    }

    fn set_state(&mut self, call: &CallId, state: CallState) {
        self.open_call_mut(call).for_each(|tracked| tracked.state = state.clone());
    }

    fn record_verdict(&mut self, call: &CallId, verdict: &ApprovalVerdict) {
        for tracked in self.open_call_mut(call) {
            if tracked.is_awaiting_approval() {
                tracked.state = CallState::New;
                tracked.verdict = Some(verdict.clone());
            }
        }
    }

    fn reject_call(&mut self, call: &CallId, reason: &str) {
        self.open_call_mut(call).for_each(|tracked| tracked.rejection = Some(reason.to_owned()));
    }

    /// Returns the tokens of the turn so far.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// Returns the cost of the turn so far; `None` if a price is not known.
    pub fn cost(&self) -> Option<f64> {
        self.cost
    }

    /// Returns when the time limit is reached, in milliseconds since 1970.
    pub fn deadline(&self) -> u64 {
        let time = whole_millis(self.limits.time);
        self.started_at.unwrap_or_default().saturating_add(time)
    }

    /// Returns why the turn ends if its time limit is reached; `now` is in milliseconds since 1970.
    pub(crate) fn time_limit_reason(&self, now: u64) -> Option<String> {
        let elapsed = now.saturating_sub(self.started_at.unwrap_or(now));
        let is_reached = u128::from(elapsed) >= self.limits.time.as_millis();
        is_reached.then(|| format!("it took {} seconds", elapsed / 1_000))
    }

    /// Returns the number of steps of the model.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Returns true if there is nothing to resume: the turn has ended, or never started.
    pub fn is_over(&self) -> bool {
        self.end.is_some() || self.started_at.is_none()
    }

    /// Returns the calls that have started and have no result.
    pub fn started_calls(&self) -> impl Iterator<Item = &CallMetadata> {
        let started = |tracked: &&TrackedCall| tracked.state == CallState::Started;
        self.tracked_calls().filter(started).map(|it| &it.metadata)
    }

    /// Returns true if a call has started, may have had an effect, and has no result.
    pub(crate) fn may_have_run(&self, call: &CallId) -> bool {
        let found = self.find(call);
        found.is_some_and(|it| it.state == CallState::Started && !it.has_no_effect)
    }

    /// Returns the calls of the newest step, and those inside them, that have no result.
    pub fn open_calls(&self) -> impl Iterator<Item = &CallMetadata> {
        self.unfinished_calls().map(|tracked| &tracked.metadata)
    }

    /// Returns the decision about a call; `None` if it needed no approval, or is not decided.
    pub fn verdict(&self, call: &CallId) -> Option<&ApprovalVerdict> {
        self.find(call)?.verdict.as_ref()
    }

    /// Returns the metadata of a call of the newest step, or of a call inside one.
    pub(crate) fn metadata(&self, call: &CallId) -> Option<&CallMetadata> {
        self.find(call).map(|tracked| &tracked.metadata)
    }

    /// Returns the call that made a call; `None` if the model did.
    pub(crate) fn parent(&self, call: &CallId) -> Option<&CallId> {
        self.find(call)?.parent.as_ref()
    }

    /// Returns the calls inside a call that have no result.
    pub(crate) fn open_children(&self, call: &CallId) -> impl Iterator<Item = &CallMetadata> {
        let inside = move |tracked: &&TrackedCall| {
            self.ancestors(tracked).any(|ancestor| ancestor.metadata.call == *call)
        };
        self.unfinished_calls().filter(inside).map(|tracked| &tracked.metadata)
    }

    /// Returns the open calls that need approval, decided or not.
    pub(crate) fn calls_with_approval(&self) -> impl Iterator<Item = &CallMetadata> {
        let guarded =
            |tracked: &&TrackedCall| tracked.verdict.is_some() || tracked.is_awaiting_approval();
        self.unfinished_calls().filter(guarded).map(|it| &it.metadata)
    }

    /// Returns true if a call needs approval and is not decided.
    pub(crate) fn has_pending_approval(&self) -> bool {
        self.tracked_calls().any(TrackedCall::is_awaiting_approval)
    }

    /// Returns the error of a call that failed in a way that ends the turn.
    pub(crate) fn fatal_error(&self) -> Option<&str> {
        self.tracked_calls().find_map(TrackedCall::fatal_error)
    }

    /// Returns true if a call needs approval and is not decided.
    pub fn is_awaiting_approval(&self, call: &CallId) -> bool {
        self.find(call).is_some_and(TrackedCall::is_awaiting_approval)
    }

    fn unfinished_calls(&self) -> impl Iterator<Item = &TrackedCall> {
        self.tracked_calls().filter(|tracked| !tracked.is_finished())
    }

    /// Returns true if the call that made a call will not run again.
    fn is_orphan(&self, tracked: &TrackedCall) -> bool {
        self.ancestors(tracked).any(|ancestor| {
            ancestor.is_finished()
                || (ancestor.state == CallState::Started && !ancestor.can_rerun())
        })
    }

    /// Returns true if a call may start: no call has failed fatally, and no decision is pending if it has an effect.
    pub(crate) fn may_start(&self, call: &CallId) -> bool {
        let read_only = self.metadata(call).is_some_and(|metadata| metadata.read_only);
        self.fatal_error().is_none() && (read_only || !self.has_pending_approval())
    }

    /// Returns true if the turn can wait for an approval inside a call: it and all calls around it are replayable, or have had no
    /// effect.
    pub(crate) fn can_pause_in(&self, call: &CallId) -> bool {
        let tracked = self.find(call);
        let around = tracked.into_iter().flat_map(|tracked| self.ancestors(tracked));
        tracked
            .into_iter()
            .chain(around)
            .all(|tracked| tracked.metadata.replayable || tracked.has_no_effect)
    }

    /// Decides about a call that another call makes; `now` is in milliseconds since 1970.
    pub(crate) fn child_action(&self, call: &CallId, now: u64) -> ChildAction {
        let Some((tracked, parent)) =
            self.find(call).and_then(|it| Some((it, it.parent.as_ref()?)))
        else {
            return ChildAction::Interrupt;
        };
        if tracked.is_finished() {
            return ChildAction::ReturnResult;
        }
        if self.fatal_error().is_some() || self.runaway_reason().is_some() {
            return ChildAction::Interrupt;
        }
        if let Some(reason) = tracked.rejection_at(now) {
            return ChildAction::Reject(reason);
        }
        if tracked.is_awaiting_approval() {
            return ChildAction::AwaitApproval;
        }
        match self.may_start(call) || !self.can_pause_in(parent) {
            true => ChildAction::Run,
            false => ChildAction::Interrupt,
        }
    }

    /// Decides the next action; `now` is in milliseconds since 1970.
    pub fn next_action(&self, now: u64) -> TurnAction {
        if let Some(end) = &self.end {
            return TurnAction::EndTurn(end.clone());
        }
        if let Some(reason) = self.fatal_error() {
            let reason = reason.to_owned();
            return TurnAction::EndTurn(TurnEnd::Failed { reason });
        }
        if let Some(reason) = self.runaway_reason() {
            return TurnAction::EndTurn(TurnEnd::Limit { reason });
        }
        let rejected: Vec<(CallId, String)> = self
            .unfinished_calls()
            .filter_map(|tracked| {
                let orphan = tracked.state != CallState::Started && self.is_orphan(tracked);
                let orphan = orphan.then(|| PARENT_ENDED.to_owned());
                Some((tracked.metadata.call.clone(), tracked.rejection_at(now).or(orphan)?))
            })
            .collect();
        if !rejected.is_empty() {
            return TurnAction::RejectCalls(rejected);
        }
        let ids = |matches: &dyn Fn(&TrackedCall) -> bool| -> Vec<CallId> {
            let calls = self.unfinished_calls().filter(|tracked| matches(tracked));
            calls.map(|tracked| tracked.metadata.call.clone()).collect()
        };
        let abandoned = ids(&|tracked| {
            tracked.state == CallState::Started && (!tracked.can_rerun() || self.is_orphan(tracked))
        });
        if !abandoned.is_empty() {
            return TurnAction::AbandonCalls(abandoned);
        }
        let awaiting = ids(&TrackedCall::is_awaiting_approval);
        // A child call runs when the call around it does, which waits for its approval, too.
        let waits = |call: &CallId| {
            let mut open = self.open_children(call);
            self.is_awaiting_approval(call) || open.any(|child| awaiting.contains(&child.call))
        };
        let runnable = ids(&|tracked| {
            tracked.parent.is_none()
                && !waits(&tracked.metadata.call)
                && (tracked.metadata.read_only || awaiting.is_empty())
        });
        if !runnable.is_empty() {
            return match self.time_limit_reason(now) {
                Some(reason) => TurnAction::EndTurn(TurnEnd::Limit { reason }),
                None => TurnAction::RunCalls(runnable),
            };
        }
        if !awaiting.is_empty() {
            return TurnAction::AwaitApproval(awaiting);
        }
        self.action_after_calls(now)
    }

    /// Returns why a turn ends before the calls of its newest step run: the model made far more calls than allowed.
    fn runaway_reason(&self) -> Option<String> {
        let (limit, repeats) = (self.limits.calls, self.limits.repeats);
        if self.call_count > limit.saturating_mul(2) {
            let count = self.call_count;
            return Some(format!("it asked for {count} calls where {limit} are allowed"));
        }
        let repeated = self.calls_by_digest.values().max().copied().unwrap_or_default();
        if repeated > repeats.saturating_mul(2) {
            return Some(format!("the same call was asked for {repeated} times"));
        }
        None
    }

    /// Decides the next action when every call of the newest step has its result.
    fn action_after_calls(&self, now: u64) -> TurnAction {
        if self.calls.is_empty() && self.has_step && self.stop_reason != StopReason::Paused {
            return TurnAction::EndTurn(match self.stop_reason {
                StopReason::Length => TurnEnd::Length,
                StopReason::Filtered => {
                    TurnEnd::Failed { reason: "the vendor's filter stopped the answer".to_owned() }
                }
                _ => TurnEnd::Answered,
            });
        }
        // A failed result is no answer: the model reads it.
        let direct = |tracked: &TrackedCall| {
            tracked.metadata.return_direct
                && matches!(tracked.state, CallState::Finished { ok: true, .. })
        };
        if !self.calls.is_empty() && self.calls.iter().all(direct) {
            return TurnAction::EndTurn(TurnEnd::Direct);
        }
        match self.exceeded_limit(now) {
            Some(reason) => TurnAction::EndTurn(TurnEnd::Limit { reason }),
            None => TurnAction::CallModel,
        }
    }

    fn exceeded_limit(&self, now: u64) -> Option<String> {
        let limits = &self.limits;
        if self.steps >= limits.steps {
            return Some(format!("the model was asked {} times", limits.steps));
        }
        if limits.tokens.is_some_and(|limit| self.usage.total() >= limit) {
            return Some(format!("it took {} tokens", self.usage.total()));
        }
        if let Some(reason) = self.time_limit_reason(now) {
            return Some(reason);
        }
        if let (Some(limit), Some(cost)) = (limits.cost, self.cost)
            && cost >= limit
        {
            return Some(format!("it cost {cost:.4}"));
        }
        None
    }
}

impl TrackedCall {
    fn is_finished(&self) -> bool {
        matches!(self.state, CallState::Finished { .. })
    }

    fn is_awaiting_approval(&self) -> bool {
        matches!(self.state, CallState::AwaitingApproval { .. })
    }

    /// Returns true if it may run again after it was interrupted.
    fn can_rerun(&self) -> bool {
        self.metadata.can_rerun() || self.has_no_effect
    }

    /// Returns why the call must not run: its approval has expired, or it was rejected.
    fn rejection_at(&self, now: u64) -> Option<String> {
        match self.state {
            CallState::AwaitingApproval { expires } if expires <= now => {
                Some("the call was denied: nobody decided in time".to_owned())
            }
            _ => self.rejection.clone(),
        }
    }

    fn fatal_error(&self) -> Option<&str> {
        match &self.state {
            CallState::Finished { fatal, .. } => fatal.as_deref(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
