//! The model's sentences: results, questions about missing arguments, and what the model is.

use serde_json::Value;
use toolwright_chat::ToolChoice;
use toolwright_core::{Outcome, ToolResult};
use toolwright_search::is_stop_word;

use crate::arguments::option_text;
use crate::memory::Memory;
use crate::params::{Kind, Param};
use crate::rank::Tools;
use crate::text::{Text, head};

// How much is shown: tools, options, bytes of a result, fields and levels of JSON.
const MAX_TOOLS: usize = 6;
const MAX_NEAREST: usize = 3;
const MAX_OPTIONS: usize = 12;
const MAX_RESULT: usize = 8_000;
const MAX_FIELDS: usize = 12;
const MAX_DEPTH: usize = 3;
const MAX_NAME: usize = 64;

const STAND_IN: &str = "I am a rule-based stand-in, not a language model: I match words to tools.";
const REAL: &str = "For a real one, set OPENAI_API_KEY and choose it with `--model openai:…`.";

const GREETINGS: &str = "hi hello hey good help greetings moin hallo howdy";
const HELP_REQUESTS: &str =
    "what can you|who are you|what are you|your tools|what tools|which tools|help me|can you do";

/// Returns what the model is, and its tools.
pub(crate) fn help(tools: &Tools<'_>) -> String {
    let names = first_names(tools, MAX_TOOLS);
    let list = match tools.entries.len() {
        _ if *tools.choice == ToolChoice::None => "I may not use tools here.".to_owned(),
        0 if tools.has_searched => "I search for my tools, and found none for this.".to_owned(),
        0 => "I have no tools here.".to_owned(),
        all if all > MAX_TOOLS => format!("My tools: {names} and {} more.", all - MAX_TOOLS),
        _ => format!("My tools: {names}."),
    };
    format!("{STAND_IN} {list} {REAL}")
}

fn first_names(tools: &Tools<'_>, count: usize) -> String {
    let count = count.min(tools.entries.len());
    let names: Vec<&str> = (0..count).map(|tool| tools.title(tool)).collect();
    names.join(", ")
}

/// Returns the answer to a message that no tool fits.
pub(crate) fn no_tool(tools: &Tools<'_>, question: &str) -> String {
    let text = Text::new(question);
    let lower = question.to_lowercase();
    let is_short = text.tokens.len() < 6;
    if is_short && text.is(0, "thanks thank bye goodbye") {
        return "You are welcome.".to_owned();
    }
    if is_short && text.is(0, GREETINGS) {
        return format!("Hello. {}", help(tools));
    }
    let is_help = HELP_REQUESTS.split('|').any(|request| lower.contains(request));
    if is_help || text.tokens.is_empty() {
        return help(tools);
    }
    if let ToolChoice::Named(name) = tools.choice {
        let name = head(name, MAX_NAME);
        return format!("I cannot call `{name}`: there is no such tool here. {STAND_IN} {REAL}");
    }
    if tools.entries.is_empty() || *tools.choice == ToolChoice::None {
        return format!("I cannot answer that. {}", help(tools));
    }
    let nearest = tools.index.rank(&text.terms(), MAX_NEAREST);
    let nearest = nearest.iter().map(|found| tools.title(found.tool));
    let nearest: Vec<&str> = nearest.collect();
    let nearest = match nearest.is_empty() {
        true => first_names(tools, MAX_NEAREST),
        false => nearest.join(", "),
    };
    format!(
        "I cannot answer that: none of my tools fits. {STAND_IN} The nearest are: {nearest}. {REAL}"
    )
}

/// Returns the questions about a task's missing arguments; with the tool's name if there are other tasks.
pub(crate) fn ask(tools: &Tools<'_>, tool: usize, missing: &[String], is_only: bool) -> String {
    let params = tools.params(tool);
    let missing = params.iter().filter(|param| missing.contains(&param.name));
    let questions = missing.map(question).collect::<Vec<_>>().join("\n");
    match is_only {
        true => questions,
        false => format!("{}: {questions}", tools.title(tool)),
    }
}

fn question(param: &Param) -> String {
    let name = match param.words.join(" ") {
        // "Which to?" is no English.
        name if name.len() < 3 || is_stop_word(&name) => format!("value for `{name}`"),
        name => name,
    };
    let mut description = format!(" ({})", param.description.trim());
    if param.description.trim().is_empty() {
        description.clear();
    }
    match param.kind {
        Kind::Choice => {
            let options = param.options.iter().map(option_text);
            let options: Vec<String> = options.take(MAX_OPTIONS).collect();
            let options = match options.split_last() {
                Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
                _ => options.concat(),
            };
            format!("Which {name}: {options}?")
        }
        Kind::Integer | Kind::Number => format!("What {name}?{description}"),
        Kind::Boolean => format!("{name}: yes or no?{description}"),
        _ => format!("Which {name}?{description}"),
    }
}

/// Returns that a task was skipped because the call it depends on failed.
pub(crate) fn skipped(tools: &Tools<'_>, tool: usize) -> String {
    let name = tools.title(tool);
    format!("{name} was not tried, because it needs what failed.")
}

/// Returns a result as a sentence.
pub(crate) fn result(tools: &Tools<'_>, result: &ToolResult) -> String {
    let name = result.tool.as_str();
    let name = tools.position(name).map_or(name, |tool| tools.title(tool));
    let text = result.text();
    let shown = head(&text, MAX_RESULT);
    let ellipsis = if shown.len() < text.len() { " …" } else { "" };
    let shown = shown.trim();
    let json = Some(shown).filter(|shown| shown.starts_with(['{', '[']));
    let json: Option<Value> = json.and_then(|json| serde_json::from_str(json).ok());
    match result.outcome {
        Outcome::Ok => match json {
            Some(value) => format!("{name}: {}", line(&value, MAX_DEPTH)),
            None if shown.is_empty() => format!("{name}: done."),
            None if shown.contains(char::is_whitespace) => format!("{shown}{ellipsis}"),
            None => format!("{name}: {shown}{ellipsis}"),
        },
        Outcome::Denied => format!("{name} was denied, so nothing was done: {shown}"),
        Outcome::TimedOut => format!("{name} took too long: {shown}"),
        Outcome::Cancelled => format!("{name} was cancelled: {shown}"),
        Outcome::OutcomeUnknown => {
            format!("{name} was interrupted, and it is not known whether it did its work: {shown}")
        }
        _ => format!("{name} failed: {shown}"),
    }
}

/// Returns JSON as a line that people read.
fn line(value: &Value, depth: usize) -> String {
    let (parts, separator, count) = match value {
        Value::Null => return "none".to_owned(),
        Value::Bool(yes) => return if *yes { "yes" } else { "no" }.to_owned(),
        Value::Number(number) => return number.to_string(),
        Value::String(text) => return text.clone(),
        Value::Array(list) if list.is_empty() => return "none".to_owned(),
        _ if depth == 0 => return "…".to_owned(),
        Value::Array(list) => {
            let parts = list.iter().map(|value| line(value, depth - 1));
            let has_objects = list.iter().any(Value::is_object);
            let separator = if has_objects { "; " } else { ", " };
            (parts.take(MAX_FIELDS).collect::<Vec<_>>(), separator, list.len())
        }
        Value::Object(fields) => {
            let parts = fields.iter().take(MAX_FIELDS).map(|(name, value)| {
                format!("{} {}", name.replace('_', " "), line(value, depth - 1))
            });
            (parts.collect(), ", ", fields.len())
        }
    };
    let line = parts.join(separator);
    match count.saturating_sub(MAX_FIELDS) {
        0 => line,
        more => format!("{line} and {more} more"),
    }
}

/// Returns why there is no structured answer.
pub(crate) fn no_structured_answer(name: &str, missing: &[&str], memory: &Memory) -> String {
    let known = memory.texts.first();
    let known = known.map(|text| format!(" What I know: {}", head(text, 500)));
    let reason = match missing {
        [] => "the values I found do not satisfy it".to_owned(),
        missing => format!("I found no value for {}", missing.join(", ")),
    };
    let (name, known) = (head(name, MAX_NAME), known.unwrap_or_default());
    format!("I cannot answer in the form `{name}`: {reason}. {STAND_IN} {REAL}{known}")
}
