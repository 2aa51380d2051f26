//! Journal in, what happens next out: the turn decides, and does nothing itself.
//!
//! Everything a turn knows it has read from the journal, so resuming is reading it again. Clocks come in as arguments.

use std::collections::HashMap;
use std::time::Duration;

use toolwright_core::{CallId, ErrorKind, ToolName};

use crate::journal::entry::{ApprovalVerdict, CallMetadata, Entry, EntryBody, TurnEnd};
use crate::model::usage::{StopReason, Usage};

pub(crate) mod runner;

/// How far one turn may go.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TurnLimits {
    /// Calls in all.
    pub calls: usize,
    /// Calls of one tool.
    pub calls_per_tool: usize,
    /// Answers of the model.
    pub steps: usize,
    /// Tokens in all, as far as they are reported.
    pub tokens: Option<u64>,
    /// What it may cost, as far as prices are known.
    pub cost: Option<f64>,
    /// How long it may take.
    pub time: Duration,
    /// How often the same call may be made.
    pub repeats: usize,
}

impl Default for TurnLimits {
    fn default() -> Self {
        Self {
            calls: 150,
            calls_per_tool: 40,
            steps: 60,
            tokens: None,
            cost: None,
            time: Duration::from_secs(30 * 60),
            repeats: 3,
        }
    }
}

/// One question and everything until its answer, as the journal tells it.
#[derive(Clone, Debug, Default)]
pub struct Turn {
    limits: TurnLimits,
    /// When it began; later by every time in which it only waited.
    started_at: Option<u64>,
    /// When something was told last.
    last_entry_at: u64,
    /// How many entries were read, and which of them was its first.
    entry_count: usize,
    first_entry: usize,
    /// The calls of the newest step.
    calls: Vec<TrackedCall>,
    stop_reason: StopReason,
    has_step: bool,
    steps: usize,
    call_count: usize,
    calls_by_tool: HashMap<ToolName, usize>,
    calls_by_digest: HashMap<String, usize>,
    usage: Usage,
    /// What it cost; nothing once a price was not known.
    cost: Option<f64>,
    end: Option<TurnEnd>,
}

#[derive(Clone, Debug)]
struct TrackedCall {
    metadata: CallMetadata,
    state: CallState,
    /// How somebody decided about it.
    verdict: Option<ApprovalVerdict>,
    /// Why it must not run.
    rejection: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
enum CallState {
    New,
    AwaitingApproval { expires: u64 },
    Started,
    Finished { ok: bool, fatal: Option<String> },
}

/// What has to happen next.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum TurnAction {
    /// The model is asked.
    CallModel,
    /// These calls run: those that only read at the same time, the others in this order.
    RunCalls(Vec<CallId>),
    /// These calls do not run; the model reads why.
    RejectCalls(Vec<(CallId, String)>),
    /// These calls had started when nobody was left to see how they end; they must not run again.
    AbandonCalls(Vec<CallId>),
    /// Somebody decides about these calls first; until then nothing with an effect runs.
    AwaitApproval(Vec<CallId>),
    /// The turn is over.
    EndTurn(TurnEnd),
}

impl Turn {
    /// Begins a turn with these limits.
    pub fn new(limits: TurnLimits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }

    /// Reads one more entry.
    pub fn apply(&mut self, entry: &Entry) {
        match &entry.body {
            // More of what the turn opens with.
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
                self.calls = calls.iter().map(|facts| self.count_call(facts)).collect();
                if let Some(cut) = step.truncated_call() {
                    self.reject_call(cut, "the call was cut off before its arguments were whole");
                }
            }
            EntryBody::CallStarted { call } => self.set_state(call, CallState::Started),
            EntryBody::ApprovalRequested { call, token, .. } => {
                let expires = token.expires();
                self.set_state(call, CallState::AwaitingApproval { expires });
            }
            EntryBody::ApprovalDecided { call, verdict } => {
                self.exclude_waiting_time(entry.at);
                self.record_verdict(call, verdict);
            }
            EntryBody::CallFinished { result } => {
                if !self
                    .started_calls()
                    .any(|facts| facts.call == result.call_id)
                {
                    self.exclude_waiting_time(entry.at);
                }
                let fatal = result.error == Some(ErrorKind::Fatal);
                let fatal = fatal.then(|| result.text().into_owned());
                let ok = !result.is_error();
                self.set_state(&result.call_id, CallState::Finished { ok, fatal });
            }
            EntryBody::TurnEnded { end } => self.end = Some(end.clone()),
        }
        self.last_entry_at = entry.at;
        self.entry_count += 1;
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

    /// Does not count the time since something was told last: nobody worked, somebody was waited for.
    fn exclude_waiting_time(&mut self, until: u64) {
        let waited = until.saturating_sub(self.last_entry_at);
        self.started_at = self.started_at.map(|began| began.saturating_add(waited));
        self.last_entry_at = until;
    }

    /// Goes on after a while in which nobody did, within these limits.
    pub(crate) fn resume(&mut self, limits: TurnLimits, now: u64) {
        self.limits = limits;
        self.exclude_waiting_time(now);
    }

    /// How many entries there are before its first.
    pub(crate) fn first_entry(&self) -> usize {
        self.first_entry
    }

    /// Counts a call, and says whether it is one too many.
    fn count_call(&mut self, facts: &CallMetadata) -> TrackedCall {
        self.call_count += 1;
        let of_tool = self.calls_by_tool.entry(facts.tool.clone()).or_default();
        *of_tool += 1;
        let alike = self
            .calls_by_digest
            .entry(facts.digest.clone())
            .or_default();
        *alike += 1;
        let refused = if self.call_count > self.limits.calls {
            Some(format!(
                "this turn has made its {} calls",
                self.limits.calls
            ))
        } else if *of_tool > self.limits.calls_per_tool {
            Some(format!(
                "this turn has called `{}` {} times already",
                facts.tool.as_str(),
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
        TrackedCall {
            metadata: facts.clone(),
            state: CallState::New,
            verdict: None,
            rejection: refused,
        }
    }

    /// The call of an id, unless it is over: what comes after its result changes nothing.
    fn open_call_mut(&mut self, call: &CallId) -> impl Iterator<Item = &mut TrackedCall> {
        let open = |pending: &&mut TrackedCall| {
            pending.metadata.call == *call && !matches!(pending.state, CallState::Finished { .. })
        };
        self.calls.iter_mut().filter(open)
    }

    fn set_state(&mut self, call: &CallId, state: CallState) {
        self.open_call_mut(call)
            .for_each(|pending| pending.state = state.clone());
    }

    fn record_verdict(&mut self, call: &CallId, verdict: &ApprovalVerdict) {
        for pending in self.open_call_mut(call) {
            if matches!(pending.state, CallState::AwaitingApproval { .. }) {
                pending.state = CallState::New;
                pending.verdict = Some(verdict.clone());
            }
        }
    }

    fn reject_call(&mut self, call: &CallId, reason: &str) {
        self.open_call_mut(call)
            .for_each(|pending| pending.rejection = Some(reason.to_owned()));
    }

    /// What the model and its tools took so far.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// What it cost so far, if every price is known.
    pub fn cost(&self) -> Option<f64> {
        self.cost
    }

    /// When its time is over, in milliseconds since 1970.
    pub fn deadline(&self) -> u64 {
        let time = u64::try_from(self.limits.time.as_millis()).unwrap_or(u64::MAX);
        self.started_at.unwrap_or_default().saturating_add(time)
    }

    /// How often the model has answered.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Whether there is nothing to go on with: it has ended, or never begun.
    pub fn is_over(&self) -> bool {
        self.end.is_some() || self.started_at.is_none()
    }

    /// The calls that had started when the journal ends.
    pub fn started_calls(&self) -> impl Iterator<Item = &CallMetadata> {
        let started = |pending: &&TrackedCall| pending.state == CallState::Started;
        self.calls.iter().filter(started).map(|it| &it.metadata)
    }

    /// The calls of the newest step that have no result yet.
    pub fn open_calls(&self) -> impl Iterator<Item = &CallMetadata> {
        self.unfinished_calls().map(|pending| &pending.metadata)
    }

    /// How somebody decided about a call, once somebody has.
    pub fn verdict(&self, call: &CallId) -> Option<&ApprovalVerdict> {
        let pending = self.calls.iter().find(|it| it.metadata.call == *call)?;
        pending.verdict.as_ref()
    }

    /// The calls about which somebody has decided or still has to.
    pub(crate) fn calls_with_approval(&self) -> impl Iterator<Item = &CallMetadata> {
        let guarded = |pending: &&TrackedCall| {
            pending.verdict.is_some() || matches!(pending.state, CallState::AwaitingApproval { .. })
        };
        self.unfinished_calls()
            .filter(guarded)
            .map(|it| &it.metadata)
    }

    /// Why it cannot go on, once a call has failed in a way that ends it.
    pub(crate) fn fatal_error(&self) -> Option<&str> {
        self.calls.iter().find_map(TrackedCall::fatal_error)
    }

    /// Whether somebody still has to decide about a call.
    pub fn is_awaiting_approval(&self, call: &CallId) -> bool {
        let mut calls = self.calls.iter();
        calls.any(|it| {
            it.metadata.call == *call && matches!(it.state, CallState::AwaitingApproval { .. })
        })
    }

    fn unfinished_calls(&self) -> impl Iterator<Item = &TrackedCall> {
        let open = |pending: &&TrackedCall| !matches!(pending.state, CallState::Finished { .. });
        self.calls.iter().filter(open)
    }

    /// Decides what happens next.
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
        let refused: Vec<(CallId, String)> = self
            .unfinished_calls()
            .filter_map(|pending| Some((pending.metadata.call.clone(), pending.rejection_at(now)?)))
            .collect();
        if !refused.is_empty() {
            return TurnAction::RejectCalls(refused);
        }
        let ids = |wanted: &dyn Fn(&TrackedCall) -> bool| -> Vec<CallId> {
            let calls = self.unfinished_calls().filter(|pending| wanted(pending));
            calls.map(|pending| pending.metadata.call.clone()).collect()
        };
        let lost = ids(&|pending| pending.state == CallState::Started && !pending.can_rerun());
        if !lost.is_empty() {
            return TurnAction::AbandonCalls(lost);
        }
        let waits = ids(&|pending| matches!(pending.state, CallState::AwaitingApproval { .. }));
        let runs = ids(&|pending| {
            !matches!(pending.state, CallState::AwaitingApproval { .. })
                && (pending.metadata.read_only || waits.is_empty())
        });
        if !runs.is_empty() {
            return TurnAction::RunCalls(runs);
        }
        if !waits.is_empty() {
            return TurnAction::AwaitApproval(waits);
        }
        self.action_after_calls(now)
    }

    /// Why a model that has lost its way gets no further, not even with what it asks for now.
    fn runaway_reason(&self) -> Option<String> {
        let (most, repeats) = (self.limits.calls, self.limits.repeats);
        if self.call_count > most.saturating_mul(2) {
            let made = self.call_count;
            return Some(format!(
                "it asked for {made} calls where {most} are allowed"
            ));
        }
        let endless = self
            .calls_by_digest
            .values()
            .max()
            .copied()
            .unwrap_or_default();
        if endless > repeats.saturating_mul(2) {
            return Some(format!("the same call was asked for {endless} times"));
        }
        None
    }

    /// Every call of the newest step has its result.
    fn action_after_calls(&self, now: u64) -> TurnAction {
        if self.calls.is_empty() && self.has_step && self.stop_reason != StopReason::Paused {
            return TurnAction::EndTurn(match self.stop_reason {
                StopReason::Length => TurnEnd::Length,
                StopReason::Filtered => TurnEnd::Failed {
                    reason: "the vendor's filter stopped the answer".to_owned(),
                },
                _ => TurnEnd::Answered,
            });
        }
        // What went wrong is no answer: the model reads it.
        let direct = |pending: &TrackedCall| {
            pending.metadata.return_direct
                && matches!(pending.state, CallState::Finished { ok: true, .. })
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
        let spent = now.saturating_sub(self.started_at.unwrap_or(now));
        if self.steps >= limits.steps {
            return Some(format!("the model was asked {} times", limits.steps));
        }
        if limits.tokens.is_some_and(|most| self.usage.total() >= most) {
            return Some(format!("it took {} tokens", self.usage.total()));
        }
        if u128::from(spent) >= limits.time.as_millis() {
            return Some(format!("it took {} seconds", spent / 1_000));
        }
        if let (Some(most), Some(cost)) = (limits.cost, self.cost)
            && cost >= most
        {
            return Some(format!("it cost {cost:.4}"));
        }
        None
    }
}

impl TrackedCall {
    /// Why it must not run.
    fn rejection_at(&self, now: u64) -> Option<String> {
        match self.state {
            CallState::AwaitingApproval { expires } if expires <= now => {
                Some("the call was denied: nobody decided in time".to_owned())
            }
            _ => self.rejection.clone(),
        }
    }

    fn can_rerun(&self) -> bool {
        self.metadata.read_only || self.metadata.idempotent
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
