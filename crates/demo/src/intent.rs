//! What a question asks for: calls of its own, or the rest of calls that the model asked back about.

use std::ops::Range;

use serde_json::{Map, Value};
use toolwright_chat::ToolChoice;
use toolwright_core::ToolResult;

use crate::history::History;
use crate::memory::Memory;
use crate::params::{Kind, Meaning};
use crate::rank::{Candidate, Task, Tools};
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

/// Returns the tasks of a turn, or none if the user drops the model's question. `depth` limits how many earlier questions
/// of the model count.
pub(crate) fn tasks(
    history: &History<'_>,
    tools: &Tools<'_>,
    turn: usize,
    depth: usize,
) -> Option<Vec<Task>> {
    let question = history.question(turn);
    let memory = Memory::new(history.before(turn));
    let text = Text::new(&question);
    let asked = turn
        .checked_sub(1)
        .filter(|before| depth > 0 && history.ends_with_question(*before));
    let open = asked.and_then(|before| {
        let tasks = tasks(history, tools, before, depth - 1)?;
        Some(Progress::new(tools, &tasks, history, before).open)
    });
    let open = open.unwrap_or_default();
    if open.is_empty() {
        return Some(plan(tools, &text, &memory));
    }
    let lower = question.to_lowercase();
    let is_cancelled = text.tokens.len() < 4 && text.is(0, CANCELLATIONS);
    if is_cancelled || UNSURE.iter().any(|words| lower.contains(words)) {
        return None;
    }
    let reply = reply(tools, open, &text, &memory);
    Some(reply.unwrap_or_else(|| plan(tools, &text, &memory)))
}

/// Returns the open tasks with a message as the reply, unless the message is a new question.
fn reply(
    tools: &Tools<'_>,
    mut open: Vec<Task>,
    text: &Text<'_>,
    memory: &Memory,
) -> Option<Vec<Task>> {
    let best = tools.best(text, memory);
    let is_request = text.is(0, REQUEST_STARTS) || text.source.trim_end().ends_with('?');
    let is_new = best.as_ref().is_some_and(|best| {
        let is_complete = best.filled.missing.is_empty();
        match open.iter().any(|task| task.tool == best.tool) {
            // The same question, complete, is no reply.
            true => best.evidence >= 1.0 && is_complete,
            false => best.evidence >= 0.8 && is_complete || best.evidence >= 1.0 && is_request,
        }
    });
    let mut is_answer = false;
    for task in &mut open {
        let missing = tools.fill(task, Some(memory)).missing.len();
        task.replies.push(text.source.to_owned());
        is_answer |= tools.fill(task, Some(memory)).missing.len() < missing;
    }
    (!is_new && (is_answer || best.is_none())).then_some(open)
}

/// Returns the tasks of a question.
fn plan(tools: &Tools<'_>, text: &Text<'_>, memory: &Memory) -> Vec<Task> {
    let is_one = matches!(tools.choice, ToolChoice::Named(_)) || text.source.contains('{');
    let tasks = if is_one {
        Vec::new()
    } else {
        clause_tasks(tools, text, memory)
    };
    if tasks.len() > 1 {
        return tasks;
    }
    match tools.best(text, memory) {
        Some(best) => vec![Task::new(best.tool, text.source)],
        None => follow_up(tools, text, memory),
    }
}

/// A part of a question, and its task.
struct Clause {
    tokens: Range<usize>,
    task: Task,
    /// The number of arguments that it contains.
    stated: usize,
}

/// Returns the tasks of a question's clauses: "the time in Tokyo and the weather in London".
fn clause_tasks(tools: &Tools<'_>, text: &Text<'_>, memory: &Memory) -> Vec<Task> {
    let ranges = split(text);
    if !(2..=MAX_CLAUSES).contains(&ranges.len()) {
        return Vec::new();
    }
    let tail = shared_tail(text, &ranges);
    let mut memory = memory.clone();
    let mut clauses: Vec<Clause> = Vec::new();
    let mut start = None;
    for range in ranges {
        let tokens = start.take().unwrap_or(range.start)..range.end;
        let source = with_tail(text, tokens.clone(), tail.as_ref());
        let best = tools.best(&Text::new(&source), &memory);
        if let Some(best) = &best {
            // "There" in the next clause is the place of this one.
            memory.add(&best.filled.arguments);
        }
        let next = match (clauses.last(), best) {
            (None, None) => {
                start = Some(tokens.start);
                continue;
            }
            (Some(last), Some(best)) if last.task.tool == best.tool => {
                repeated(tools, text, last, tokens.clone(), &source, best)
            }
            (Some(last), None) => another_value(tools, text, last, tokens.clone(), &source),
            (_, Some(best)) => Some(Clause {
                tokens: tokens.clone(),
                task: Task::new(best.tool, &source),
                stated: best.filled.stated,
            }),
        };
        match (next, clauses.last_mut()) {
            (Some(next), _) => clauses.push(next),
            // It belongs to the clause before it.
            (None, Some(last)) => {
                last.tokens.end = tokens.end;
                last.task = Task::new(last.task.tool, text.slice(last.tokens.clone()));
                last.stated = tools.fill(&last.task, None).stated;
            }
            (None, None) => {}
        }
    }
    let mut tasks: Vec<Task> = clauses.into_iter().map(|clause| clause.task).collect();
    for task in tasks.iter_mut().skip(1) {
        // "The weather in London. Convert the temperature": the missing value comes from the call before.
        let is_incomplete = !tools.fill(task, None).missing.is_empty();
        task.refers_back |= is_incomplete && !tools.is_dangerous(task.tool);
    }
    tasks
}

/// Returns a second call of the same tool, unless both clauses describe one call.
fn repeated(
    tools: &Tools<'_>,
    text: &Text<'_>,
    last: &Clause,
    tokens: Range<usize>,
    source: &str,
    best: Candidate,
) -> Option<Clause> {
    let whole = Task::new(best.tool, text.slice(last.tokens.start..tokens.end));
    let params = tools.params(best.tool);
    let takes_list = params
        .iter()
        .any(|param| param.required && param.kind == Kind::List);
    let stated = best.filled.stated;
    if takes_list || stated == 0 || tools.fill(&whole, None).stated > last.stated {
        return None;
    }
    let mut task = Task::new(best.tool, source);
    // "Set the kitchen to 21 and the bedroom": the temperature is the same.
    if !best.filled.missing.is_empty() {
        task.base = Some(tools.fill(&last.task, None).arguments);
    }
    Some(Clause {
        tokens,
        task,
        stated,
    })
}

/// Returns a call for a clause that is only another value: "in Paris and London".
fn another_value(
    tools: &Tools<'_>,
    text: &Text<'_>,
    last: &Clause,
    tokens: Range<usize>,
    source: &str,
) -> Option<Clause> {
    let tool = last.task.tool;
    let before = tools.fill(&last.task, None);
    let whole = Task::new(tool, text.slice(last.tokens.start..tokens.end));
    if !before.missing.is_empty() || tools.fill(&whole, None).stated > last.stated {
        return None;
    }
    let mut task = Task::new(tool, source);
    task.base = Some(before.arguments.clone());
    let filled = tools.fill(&task, None);
    let clause = Text::new(source);
    let mut used = clause.tokens.iter().zip(&filled.used);
    let is_only_values =
        used.all(|(token, used)| *used || token.is("in at the for of to and what about also"));
    let params = tools.params(tool);
    let is_changed = params.iter().any(|param| {
        use Meaning::{Email, Id, Path, Place, Url};
        let is_value =
            matches!(param.meaning, Place | Id | Url | Email | Path) || param.kind == Kind::Choice;
        is_value && filled.arguments.get(&param.name) != before.arguments.get(&param.name)
    });
    let is_another = is_only_values && is_changed && filled.missing.is_empty();
    let stated = filled.stated;
    is_another.then_some(Clause {
        tokens,
        task,
        stated,
    })
}

/// Returns the latest calls with other values: "And in London?".
fn follow_up(tools: &Tools<'_>, text: &Text<'_>, memory: &Memory) -> Vec<Task> {
    let is_short = text.tokens.len() <= 3 || text.is(0, FOLLOW_UP_STARTS);
    let mut tasks: Vec<Task> = Vec::new();
    if !is_short || *tools.choice == ToolChoice::None {
        return tasks;
    }
    for call in &memory.latest_calls {
        let Some(tool) = tools.position(call.name.as_str()) else {
            continue;
        };
        let mut task = Task::new(tool, text.source);
        task.base = serde_json::from_str(call.arguments.as_str()).ok();
        let filled = tools.fill(&task, None);
        let mut used = text.tokens.iter().zip(&filled.used);
        let is_explained = used.all(|(token, used)| *used || token.is_stop_word());
        let is_new = tasks.iter().all(|task| task.tool != tool);
        if filled.used.contains(&true) && is_explained && filled.missing.is_empty() && is_new {
            tasks.push(task);
        }
    }
    tasks
}

/// Splits a text at conjunctions and punctuation; what is behind a colon or in quotation marks stays together.
fn split(text: &Text<'_>) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut start = 0;
    for (at, token) in text
        .tokens
        .iter()
        .enumerate()
        .filter(|(_, token)| !token.quoted)
    {
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
    let last = ranges
        .last()
        .filter(|last| !text.is(last.start, SENTENCE_STARTS))?;
    let preposition = last.clone().find(|at| text.is(*at, "in at for"))?;
    (preposition > last.start).then_some(preposition..last.end)
}

fn with_tail(text: &Text<'_>, tokens: Range<usize>, tail: Option<&Range<usize>>) -> String {
    let clause = text.slice(tokens.clone());
    let own = text.tokens.get(tokens.clone()).unwrap_or_default();
    let has_own = own
        .iter()
        .any(|token| token.is("in at for to from of there here") || token.has_digit());
    match tail {
        Some(tail) if !has_own && tokens.end <= tail.start => {
            format!("{clause} {}", text.slice(tail.clone()))
        }
        _ => clause.to_owned(),
    }
}

/// How far the tasks of a turn have come.
#[derive(Default)]
pub(crate) struct Progress {
    /// The names and arguments of the calls to make now.
    pub(crate) calls: Vec<(String, String)>,
    /// The tasks with missing arguments, and the names of these.
    pub(crate) open: Vec<Task>,
    pub(crate) missing: Vec<(usize, Vec<String>)>,
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
        let made = history.calls(turn);
        let mut unassigned = made.clone();
        let mut has_failed = false;
        let mut memory = Memory::new(history.before(turn + 1));
        for task in tasks {
            memory.add(&tools.fill(task, None).arguments);
        }
        for task in tasks {
            let Some(spec) = tools.spec(task.tool) else {
                continue;
            };
            if let Some(at) = unassigned
                .iter()
                .position(|(call, _)| call.name == spec.name)
            {
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
            let filled = tools.fill(task, Some(&memory));
            if filled.missing.is_empty() {
                progress.call(spec.name.as_str(), filled.arguments, &made);
            } else {
                progress.missing.push((task.tool, filled.missing));
                progress.open.push(task.clone());
            }
        }
        progress
    }

    /// Adds a call, unless the turn makes the same one already.
    fn call(
        &mut self,
        name: &str,
        arguments: Map<String, Value>,
        made: &[(&toolwright_core::ToolCall, Option<&ToolResult>)],
    ) {
        let call = (name.to_owned(), Value::Object(arguments).to_string());
        let mut made = made
            .iter()
            .map(|(call, _)| (call.name.as_str(), call.arguments.as_str()));
        if !self.calls.contains(&call)
            && !made.any(|(name, arguments)| name == call.0 && arguments == call.1)
        {
            self.calls.push(call);
        }
    }
}
