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
            time: Duration::from_secs(30 * 60),
            repeats: 3,
        }
    }
}

/// One question and everything until its answer, as the journal tells it.
#[derive(Clone, Debug, Default)]
pub struct Turn {
    limits: TurnLimits,
    began: Option<u64>,
    /// The calls of the newest step.
    calls: Vec<Pending>,
    stop: Stop,
    answered: bool,
    rounds: usize,
    made: usize,
    by_tool: HashMap<ToolName, usize>,
    by_digest: HashMap<String, usize>,
    usage: Usage,
    ended: Option<End>,
}

#[derive(Clone, Debug)]
struct Pending {
    facts: CallFacts,
    state: State,
    /// Why it must not run.
    refused: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
enum State {
    New,
    Asked,
    Decided(Verdict),
    Started,
    Finished { fatal: Option<String> },
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
            What::User { .. } => {
                *self = Self::new(std::mem::take(&mut self.limits));
                self.began = Some(entry.at);
            }
            What::Assistant { .. } => {}
            What::Step { step, calls } => {
                self.rounds += 1;
                self.usage += step.usage;
                self.stop = step.stop.clone();
                self.answered = true;
                self.calls = calls.iter().map(|facts| self.count(facts)).collect();
            }
            What::Started { call } => self.set(call, State::Started),
            What::Asked { call, .. } => self.set(call, State::Asked),
            What::Decided { call, verdict } => self.set(call, State::Decided(verdict.clone())),
            What::Finished { result } => {
                let fatal = result.error == Some(ErrorKind::Fatal);
                let fatal = fatal.then(|| result.text().into_owned());
                self.set(&result.call, State::Finished { fatal });
            }
            What::Ended { end } => self.ended = Some(end.clone()),
        }
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
            refused,
        }
    }

    fn set(&mut self, call: &CallId, state: State) {
        if let Some(pending) = self
            .calls
            .iter_mut()
            .find(|pending| pending.facts.call == *call)
        {
            pending.state = state;
        }
    }

    /// What the model and its tools took so far.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// Calls that had started when the journal ends: whether they did their work is not known.
    pub fn interrupted(&self) -> impl Iterator<Item = &CallFacts> {
        let started = self
            .calls
            .iter()
            .filter(|pending| pending.state == State::Started);
        started.map(|pending| &pending.facts)
    }

    /// Decides what happens next.
    pub fn next(&self, now: u64) -> Next {
        if let Some(end) = &self.ended {
            return Next::End(end.clone());
        }
        let open = || {
            self.calls
                .iter()
                .filter(|pending| !matches!(pending.state, State::Finished { .. }))
        };
        if let Some(reason) = self.calls.iter().find_map(Pending::fatal) {
            return Next::End(End::Failed {
                reason: reason.to_owned(),
            });
        }
        let refused: Vec<(CallId, String)> = open()
            .filter_map(|pending| Some((pending.facts.call.clone(), pending.refused.clone()?)))
            .collect();
        if !refused.is_empty() {
            return Next::Refuse(refused);
        }
        let undecided = || open().filter(|pending| matches!(pending.state, State::Asked));
        let waits = undecided().next().is_some();
        let runs: Vec<CallId> = open()
            .filter(|pending| matches!(pending.state, State::New | State::Decided(_)))
            .filter(|pending| pending.facts.read_only || !waits)
            .map(|pending| pending.facts.call.clone())
            .collect();
        if !runs.is_empty() {
            return Next::Run(runs);
        }
        if waits {
            return Next::Wait(
                undecided()
                    .map(|pending| pending.facts.call.clone())
                    .collect(),
            );
        }
        self.after_calls(now)
    }

    /// Every call of the newest step has its result.
    fn after_calls(&self, now: u64) -> Next {
        if self.calls.is_empty() && self.answered && self.stop != Stop::Paused {
            return Next::End(match self.stop {
                Stop::Length => End::Length,
                _ => End::Answered,
            });
        }
        if !self.calls.is_empty() && self.calls.iter().all(|pending| pending.facts.return_direct) {
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
        if self.made > limits.calls.saturating_mul(2) {
            return Some(format!(
                "it asked for {} calls where {} are allowed",
                self.made, limits.calls
            ));
        }
        if self.rounds >= limits.rounds {
            return Some(format!("the model was asked {} times", limits.rounds));
        }
        if limits.tokens.is_some_and(|most| self.usage.total() >= most) {
            return Some(format!("it took {} tokens", self.usage.total()));
        }
        if u128::from(spent) >= limits.time.as_millis() {
            return Some(format!("it took {} seconds", spent / 1_000));
        }
        let endless = self.by_digest.values().max().copied().unwrap_or_default();
        if endless > limits.repeats.saturating_mul(2) {
            return Some(format!("the same call was asked for {endless} times"));
        }
        None
    }
}

impl Pending {
    fn fatal(&self) -> Option<&str> {
        match &self.state {
            State::Finished { fatal } => fatal.as_deref(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests;
