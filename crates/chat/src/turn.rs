//! Journal in, what happens next out: the turn decides, and does nothing itself.
//!
//! Everything a turn knows it has read from the journal, so resuming is reading it again. Clocks come in as arguments.

use std::collections::HashMap;
use std::time::Duration;

use toolwright_core::{CallId, ErrorKind, ToolName};

use crate::entry::{CallFacts, End, Entry, Verdict, What};
use crate::usage::{Stop, Usage};

/// How far one turn may go.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TurnLimits {
    /// Calls in all.
    pub calls: usize,
    /// Calls of one tool.
    pub calls_per_tool: usize,
    /// Answers of the model.
    pub rounds: usize,
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
            rounds: 60,
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
    began: Option<u64>,
    /// When something was told last.
    told: u64,
    /// How many entries were read, and which of them was its first.
    read: usize,
    from: usize,
    /// The calls of the newest step.
    calls: Vec<Pending>,
    stop: Stop,
    answered: bool,
    rounds: usize,
    made: usize,
    by_tool: HashMap<ToolName, usize>,
    by_digest: HashMap<String, usize>,
    usage: Usage,
    /// What it cost; nothing once a price was not known.
    cost: Option<f64>,
    ended: Option<End>,
}

#[derive(Clone, Debug)]
struct Pending {
    facts: CallFacts,
    state: State,
    /// How somebody decided about it.
    verdict: Option<Verdict>,
    /// Why it must not run.
    refused: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
enum State {
    New,
    Asked { expires: u64 },
    Started,
    Finished { ok: bool, fatal: Option<String> },
}

/// What has to happen next.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Next {
    /// The model is asked.
    Ask,
    /// These calls run: those that only read at the same time, the others in this order.
    Run(Vec<CallId>),
    /// These calls do not run; the model reads why.
    Refuse(Vec<(CallId, String)>),
    /// These calls had started when nobody was left to see how they end; they must not run again.
    GiveUp(Vec<CallId>),
    /// Somebody decides about these calls first; until then nothing with an effect runs.
    Wait(Vec<CallId>),
    /// The turn is over.
    End(End),
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
        match &entry.what {
            // More of what the turn opens with.
            What::User { .. } if !self.is_over() && self.rounds == 0 => {}
            What::User { .. } => self.begin(entry.at),
            What::Assistant { .. } if self.is_over() => self.begin(entry.at),
            What::Assistant { .. } => {}
            What::Step { step, calls, cost } => {
                self.rounds += 1;
                self.usage += step.usage;
                self.cost = self.cost.zip(*cost).map(|(sum, cost)| sum + cost);
                self.stop = step.stop.clone();
                self.answered = true;
                self.calls = calls.iter().map(|facts| self.count(facts)).collect();
                if let Some(cut) = step.cut_off() {
                    self.refuse(cut, "the call was cut off before its arguments were whole");
                }
            }
            What::Started { call } => self.set(call, State::Started),
            What::Asked { call, token, .. } => {
                let expires = token.expires();
                self.set(call, State::Asked { expires });
            }
            What::Decided { call, verdict } => {
                self.wait(entry.at);
                self.decide(call, verdict);
            }
            What::Finished { result } => {
                if !self.started().any(|facts| facts.call == result.call) {
                    self.wait(entry.at);
                }
                let fatal = result.error == Some(ErrorKind::Fatal);
                let fatal = fatal.then(|| result.text().into_owned());
                let ok = !result.is_error();
                self.set(&result.call, State::Finished { ok, fatal });
            }
            What::Ended { end } => self.ended = Some(end.clone()),
        }
        self.told = entry.at;
        self.read += 1;
    }

    fn begin(&mut self, at: u64) {
        *self = Self {
            began: Some(at),
            read: self.read,
            from: self.read,
            cost: Some(0.0),
            ..Self::new(std::mem::take(&mut self.limits))
        };
    }

    /// Does not count the time since something was told last: nobody worked, somebody was waited for.
    fn wait(&mut self, until: u64) {
        let waited = until.saturating_sub(self.told);
        self.began = self.began.map(|began| began.saturating_add(waited));
        self.told = until;
    }

    /// Goes on after a while in which nobody did, within these limits.
    pub(crate) fn wake(&mut self, limits: TurnLimits, now: u64) {
        self.limits = limits;
        self.wait(now);
    }

    /// How many entries there are before its first.
    pub(crate) fn from(&self) -> usize {
        self.from
    }

    /// Counts a call, and says whether it is one too many.
    fn count(&mut self, facts: &CallFacts) -> Pending {
        self.made += 1;
        let of_tool = self.by_tool.entry(facts.tool.clone()).or_default();
        *of_tool += 1;
        let alike = self.by_digest.entry(facts.digest.clone()).or_default();
        *alike += 1;
        let refused = if self.made > self.limits.calls {
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
        Pending {
            facts: facts.clone(),
            state: State::New,
            verdict: None,
            refused,
        }
    }

    /// The call of an id, unless it is over: what comes after its result changes nothing.
    fn open_mut(&mut self, call: &CallId) -> impl Iterator<Item = &mut Pending> {
        let open = |pending: &&mut Pending| {
            pending.facts.call == *call && !matches!(pending.state, State::Finished { .. })
        };
        self.calls.iter_mut().filter(open)
    }

    fn set(&mut self, call: &CallId, state: State) {
        self.open_mut(call)
            .for_each(|pending| pending.state = state.clone());
    }

    fn decide(&mut self, call: &CallId, verdict: &Verdict) {
        for pending in self.open_mut(call) {
            if matches!(pending.state, State::Asked { .. }) {
                pending.state = State::New;
                pending.verdict = Some(verdict.clone());
            }
        }
    }

    fn refuse(&mut self, call: &CallId, reason: &str) {
        self.open_mut(call)
            .for_each(|pending| pending.refused = Some(reason.to_owned()));
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
        self.began.unwrap_or_default().saturating_add(time)
    }

    /// How often the model has answered.
    pub fn rounds(&self) -> usize {
        self.rounds
    }

    /// Whether there is nothing to go on with: it has ended, or never begun.
    pub fn is_over(&self) -> bool {
        self.ended.is_some() || self.began.is_none()
    }

    /// The calls that had started when the journal ends.
    pub fn started(&self) -> impl Iterator<Item = &CallFacts> {
        let started = |pending: &&Pending| pending.state == State::Started;
        self.calls.iter().filter(started).map(|it| &it.facts)
    }

    /// The calls of the newest step that have no result yet.
    pub fn open(&self) -> impl Iterator<Item = &CallFacts> {
        self.unfinished().map(|pending| &pending.facts)
    }

    /// How somebody decided about a call, once somebody has.
    pub fn verdict(&self, call: &CallId) -> Option<&Verdict> {
        let pending = self.calls.iter().find(|it| it.facts.call == *call)?;
        pending.verdict.as_ref()
    }

    /// The calls about which somebody has decided or still has to.
    pub(crate) fn guarded(&self) -> impl Iterator<Item = &CallFacts> {
        let guarded = |pending: &&Pending| {
            pending.verdict.is_some() || matches!(pending.state, State::Asked { .. })
        };
        self.unfinished().filter(guarded).map(|it| &it.facts)
    }

    /// Why it cannot go on, once a call has failed in a way that ends it.
    pub(crate) fn fatal(&self) -> Option<&str> {
        self.calls.iter().find_map(Pending::fatal)
    }

    /// Whether somebody still has to decide about a call.
    pub fn is_asked(&self, call: &CallId) -> bool {
        let mut calls = self.calls.iter();
        calls.any(|it| it.facts.call == *call && matches!(it.state, State::Asked { .. }))
    }

    fn unfinished(&self) -> impl Iterator<Item = &Pending> {
        let open = |pending: &&Pending| !matches!(pending.state, State::Finished { .. });
        self.calls.iter().filter(open)
    }

    /// Decides what happens next.
    pub fn next(&self, now: u64) -> Next {
        if let Some(end) = &self.ended {
            return Next::End(end.clone());
        }
        if let Some(reason) = self.fatal() {
            let reason = reason.to_owned();
            return Next::End(End::Failed { reason });
        }
        if let Some(reason) = self.out_of_control() {
            return Next::End(End::Limit { reason });
        }
        let refused: Vec<(CallId, String)> = self
            .unfinished()
            .filter_map(|pending| Some((pending.facts.call.clone(), pending.refusal(now)?)))
            .collect();
        if !refused.is_empty() {
            return Next::Refuse(refused);
        }
        let ids = |wanted: &dyn Fn(&Pending) -> bool| -> Vec<CallId> {
            let calls = self.unfinished().filter(|pending| wanted(pending));
            calls.map(|pending| pending.facts.call.clone()).collect()
        };
        let lost = ids(&|pending| pending.state == State::Started && !pending.may_run_again());
        if !lost.is_empty() {
            return Next::GiveUp(lost);
        }
        let waits = ids(&|pending| matches!(pending.state, State::Asked { .. }));
        let runs = ids(&|pending| {
            !matches!(pending.state, State::Asked { .. })
                && (pending.facts.read_only || waits.is_empty())
        });
        if !runs.is_empty() {
            return Next::Run(runs);
        }
        if !waits.is_empty() {
            return Next::Wait(waits);
        }
        self.after_calls(now)
    }

    /// Why a model that has lost its way gets no further, not even with what it asks for now.
    fn out_of_control(&self) -> Option<String> {
        let (most, repeats) = (self.limits.calls, self.limits.repeats);
        if self.made > most.saturating_mul(2) {
            let made = self.made;
            return Some(format!(
                "it asked for {made} calls where {most} are allowed"
            ));
        }
        let endless = self.by_digest.values().max().copied().unwrap_or_default();
        if endless > repeats.saturating_mul(2) {
            return Some(format!("the same call was asked for {endless} times"));
        }
        None
    }

    /// Every call of the newest step has its result.
    fn after_calls(&self, now: u64) -> Next {
        if self.calls.is_empty() && self.answered && self.stop != Stop::Paused {
            return Next::End(match self.stop {
                Stop::Length => End::Length,
                Stop::Filtered => End::Failed {
                    reason: "the vendor's filter stopped the answer".to_owned(),
                },
                _ => End::Answered,
            });
        }
        // What went wrong is no answer: the model reads it.
        let direct = |pending: &Pending| {
            pending.facts.return_direct && matches!(pending.state, State::Finished { ok: true, .. })
        };
        if !self.calls.is_empty() && self.calls.iter().all(direct) {
            return Next::End(End::Direct);
        }
        match self.exceeded(now) {
            Some(reason) => Next::End(End::Limit { reason }),
            None => Next::Ask,
        }
    }

    fn exceeded(&self, now: u64) -> Option<String> {
        let limits = &self.limits;
        let spent = now.saturating_sub(self.began.unwrap_or(now));
        if self.rounds >= limits.rounds {
            return Some(format!("the model was asked {} times", limits.rounds));
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

impl Pending {
    /// Why it must not run.
    fn refusal(&self, now: u64) -> Option<String> {
        match self.state {
            State::Asked { expires } if expires <= now => {
                Some("the call was denied: nobody decided in time".to_owned())
            }
            _ => self.refused.clone(),
        }
    }

    fn may_run_again(&self) -> bool {
        self.facts.read_only || self.facts.idempotent
    }

    fn fatal(&self) -> Option<&str> {
        match &self.state {
            State::Finished { fatal, .. } => fatal.as_deref(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
