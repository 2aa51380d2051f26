//! What a question asks for: calls of its own, or the rest of calls that the model asked back about.

use std::ops::Range;

use serde_json::Value;
use toolwright_chat::ToolChoice;
use toolwright_core::ToolResult;

use crate::history::History;
use crate::memory::Memory;
use crate::params::{Kind, Meaning};
use crate::rank::{Arguments, Candidate, Task, Tools};
use crate::text::{Punctuation, Text};

/// How many questions of the model in a row are taken into account.
pub(crate) const MAX_QUESTIONS: usize = 4;

/// How many clauses of a question are considered; a longer text is one clause.
const MAX_CLAUSES: usize = 8;

const CONJUNCTIONS: &str = "and then also plus or than afterwards versus";
const SENTENCE_STARTS: &str = "what what's how where when who which is are do does can tell it";
const REQUEST_STARTS: &str = "what what's how where when who which can could please tell show give";
const FOLLOW_UP_STARTS: &str = "and what how same now or in for";
const CANCELLATIONS: &str = "no cancel stop never nevermind forget";
const UNSURE: [&str; 3] = ["don't know", "not sure", "no idea"];

impl Tools<'_> {
    /// Returns the tasks of a turn, or none if the user drops the model's question. `depth` limits how many earlier questions
    /// of the model count.
    pub(crate) fn tasks(
        &self,
        history: &History<'_>,
        turn: usize,
        depth: usize,
    ) -> Option<Vec<Task>> {
        let question = history.question(turn);
        let text = Text::new(&question);
        let memory = Memory::new(history.before(turn));
        let asked =
            turn.checked_sub(1).filter(|turn| depth > 0 && history.ends_with_question(*turn));
        let open = asked.and_then(|turn| {
            let tasks = self.tasks(history, turn, depth - 1)?;
            Some(Progress::new(self, &tasks, history, turn).open)
        });
        if let Some(open) = open.filter(|open| !open.is_empty()) {
            let lower = question.to_lowercase();
            let is_cancelled = text.tokens.len() < 4 && text.is(0, CANCELLATIONS);
            if is_cancelled || UNSURE.iter().any(|words| lower.contains(words)) {
                return None;
            }
            let open = open.into_iter().map(|(task, _)| task).collect();
            if let Some(open) = self.reply(open, &text, &memory) {
                return Some(open);
            }
        }
        Some(self.plan(&text, &memory))
    }

    /// Returns the open tasks with a message as the reply, unless the message is a new question.
    fn reply(&self, mut open: Vec<Task>, text: &Text<'_>, memory: &Memory) -> Option<Vec<Task>> {
        let best = self.best(text, memory);
        let is_request = text.is(0, REQUEST_STARTS) || text.source.trim_end().ends_with('?');
        let is_new = best.as_ref().is_some_and(|best| {
            let is_complete = best.extracted.missing.is_empty();
            match open.iter().any(|task| task.tool == best.tool) {
                // The same question, complete, is no reply.
                true => best.evidence >= 1.0 && is_complete,
                false => best.evidence >= 0.8 && is_complete || best.evidence >= 1.0 && is_request,
            }
        });
        let mut is_answer = false;
        for task in &mut open {
            let missing = self.fill(task, Some(memory)).missing.len();
            task.replies.push(text.source.to_owned());
            is_answer |= self.fill(task, Some(memory)).missing.len() < missing;
        }
        (!is_new && (is_answer || best.is_none())).then_some(open)
    }

    /// Returns the tasks of a question: of its clauses, of the whole, or the latest calls with other values.
    fn plan(&self, text: &Text<'_>, memory: &Memory) -> Vec<Task> {
        let tasks = self.clause_tasks(text, memory.clone());
        match self.best(text, memory) {
            _ if tasks.len() > 1 => tasks,
            Some(best) => vec![Task::new(best.tool, text.source)],
            None => self.follow_ups(text, memory),
        }
    }

    /// Returns the tasks of a question's clauses: "the time in Tokyo and the weather in London".
    fn clause_tasks(&self, text: &Text<'_>, mut memory: Memory) -> Vec<Task> {
        let is_one = matches!(self.choice, ToolChoice::Named(_)) || text.source.contains('{');
        let ranges = split(text);
        if is_one || ranges.len() > MAX_CLAUSES {
            return Vec::new();
        }
        let tail = shared_tail(text, &ranges);
        let mut clauses: Vec<(Range<usize>, Task)> = Vec::new();
        let mut start = None;
        for range in ranges {
            let tokens = start.take().unwrap_or(range.start)..range.end;
            let source = with_tail(text, tokens.clone(), tail.as_ref());
            let best = self.best(&Text::new(&source), &memory);
            if let Some(best) = &best {
                // "There" in the next clause is the place of this one.
                memory.add(&best.extracted.arguments);
            }
            let last = clauses.last_mut();
            let new = best.as_ref().map(|best| Task::new(best.tool, &source));
            let task = match (&last, &new) {
                (Some((_, last)), Some(new)) if last.tool != new.tool => Some(new.clone()),
                (Some((before, last)), _) => {
                    let whole = text.slice(before.start..tokens.end);
                    self.repeat(last, whole, &source, best.as_ref())
                }
                (None, _) => new,
            };
            match (task, last) {
                (Some(task), _) => clauses.push((tokens, task)),
                // It belongs to the clause before it, or to the next.
                (None, Some((before, last))) => {
                    before.end = tokens.end;
                    *last = Task::new(last.tool, text.slice(before.clone()));
                }
                (None, None) => start = Some(tokens.start),
            }
        }
        let mut tasks: Vec<Task> = clauses.into_iter().map(|(_, task)| task).collect();
        for task in tasks.iter_mut().skip(1) {
            // "The weather in London. Convert the temperature": the missing value comes from the call before.
            let is_incomplete = !self.fill(task, None).missing.is_empty();
            task.refers_back |= is_incomplete && !self.is_dangerous(task.tool);
        }
        tasks
    }

    /// Returns another call of the last clause's tool, unless the clause adds to the same call.
    fn repeat(
        &self,
        last: &Task,
        whole: &str,
        source: &str,
        best: Option<&Candidate>,
    ) -> Option<Task> {
        let tool = last.tool;
        let params = self.params(tool);
        let before = self.fill(last, None);
        let takes_list = params.iter().any(|it| it.required && it.kind == Kind::List);
        if takes_list || self.fill(&Task::new(tool, whole), None).stated > before.stated {
            return None;
        }
        if let Some(best) = best {
            let mut task = Task::new(tool, source);
            // "Set the kitchen to 21 and the bedroom": the temperature is the same.
            task.base = Some(before.arguments).filter(|_| !best.extracted.missing.is_empty());
            return Some(task).filter(|_| best.extracted.stated > 0);
        }
        // "In Paris and London": nothing but another value.
        let varied = self.vary(tool, before.arguments.clone(), source);
        let varied = varied.filter(|_| before.missing.is_empty())?;
        let arguments = self.fill(&varied, None).arguments;
        let mut specific =
            params.iter().filter(|it| it.meaning != Meaning::Free || it.kind == Kind::Choice);
        let is_changed =
            specific.any(|it| arguments.get(&it.name) != before.arguments.get(&it.name));
        is_changed.then_some(varied)
    }

    /// Returns a call with other values, if the text is nothing but values.
    fn vary(&self, tool: usize, base: Arguments, source: &str) -> Option<Task> {
        let mut task = Task::new(tool, source);
        task.base = Some(base);
        let extracted = self.fill(&task, None);
        let text = Text::new(source);
        let mut tokens = text.tokens.iter().zip(&extracted.used);
        let is_explained = tokens.all(|(token, used)| *used || token.is_stop_word());
        let is_call =
            extracted.used.contains(&true) && is_explained && extracted.missing.is_empty();
        is_call.then_some(task)
    }

    /// Returns the latest calls with other values: "And in London?".
    fn follow_ups(&self, text: &Text<'_>, memory: &Memory) -> Vec<Task> {
        let is_short = text.tokens.len() <= 3 || text.is(0, FOLLOW_UP_STARTS);
        let is_allowed = is_short && *self.choice != ToolChoice::None;
        let calls = memory.latest_calls.iter().filter(|_| is_allowed);
        let tasks = calls.filter_map(|call| {
            let tool = self.position(call.name.as_str())?;
            let base = serde_json::from_str(call.arguments.as_str()).ok()?;
            self.vary(tool, base, text.source)
        });
        let mut tasks: Vec<Task> = tasks.collect();
        tasks.dedup_by_key(|task| task.tool);
        tasks
    }
}

/// Splits a text at conjunctions and punctuation; what is behind a colon or in quotation marks stays together.
fn split(text: &Text<'_>) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut start = 0;
    for (at, token) in text.tokens.iter().enumerate().filter(|(_, token)| !token.quoted) {
        if token.punctuation == Punctuation::Colon {
            break;
        }
        let is_conjunction = token.is(CONJUNCTIONS);
        if is_conjunction || token.punctuation != Punctuation::None {
            ranges.push(start..at + usize::from(!is_conjunction));
            start = at + 1;
        }
    }
    ranges.push(start..text.tokens.len());
    ranges.retain(|range| !range.is_empty());
    ranges
}

/// Returns the end of the last clause that applies to all: "the time and the weather in Tokyo".
fn shared_tail(text: &Text<'_>, ranges: &[Range<usize>]) -> Option<Range<usize>> {
    let last = ranges.last().filter(|last| !text.is(last.start, SENTENCE_STARTS))?;
    let preposition = last.clone().find(|at| text.is(*at, "in at for"))?;
    (preposition > last.start).then_some(preposition..last.end)
}

fn with_tail(text: &Text<'_>, tokens: Range<usize>, tail: Option<&Range<usize>>) -> String {
    let mut clause = text.slice(tokens.clone()).to_owned();
    let own = text.tokens.get(tokens.clone()).unwrap_or_default();
    let is_place = |words: &str| own.iter().any(|token| token.is(words) || token.has_digit());
    let has_own = is_place("in at for to from of there here");
    if let Some(tail) = tail.filter(|tail| !has_own && tokens.end <= tail.start) {
        clause.extend([" ", text.slice(tail.clone())]);
    }
    clause
}

/// How far the tasks of a turn have come.
#[derive(Default)]
pub(crate) struct Progress {
    /// The names and arguments of the calls to make now.
    pub(crate) calls: Vec<(String, String)>,
    /// The tasks with missing arguments, and the names of these.
    pub(crate) open: Vec<(Task, Vec<String>)>,
    /// The tools of tasks that depend on a failed call.
    pub(crate) skipped: Vec<usize>,
}

impl Progress {
    /// Compares the tasks of a turn with the calls it has made.
    pub(crate) fn new(
        tools: &Tools<'_>,
        tasks: &[Task],
        history: &History<'_>,
        turn: usize,
    ) -> Self {
        let mut progress = Self::default();
        let mut unassigned = history.calls(turn);
        let made = unassigned.iter();
        let made =
            made.map(|(call, _)| (call.name.to_string(), call.arguments.as_str().to_owned()));
        let made: Vec<(String, String)> = made.collect();
        let mut has_failed = false;
        let mut memory = Memory::new(history.before(turn + 1));
        for task in tasks {
            memory.add(&tools.fill(task, None).arguments);
        }
        for task in tasks {
            let name = tools.name(task.tool);
            if let Some(at) = unassigned.iter().position(|(call, _)| call.name == *name) {
                let (_, result) = unassigned.remove(at);
                has_failed = result.is_none_or(ToolResult::is_error);
                continue;
            }
            let depends = task.refers_back && task.replies.is_empty() && tasks.len() > 1;
            if depends && !progress.calls.is_empty() {
                break;
            }
            if depends && has_failed {
                progress.skipped.push(task.tool);
                continue;
            }
            let extracted = tools.fill(task, Some(&memory));
            let call = (name.to_owned(), Value::Object(extracted.arguments).to_string());
            if !extracted.missing.is_empty() {
                progress.open.push((task.clone(), extracted.missing));
            } else if !progress.calls.contains(&call) && !made.contains(&call) {
                progress.calls.push(call);
            }
        }
        progress
    }
}
