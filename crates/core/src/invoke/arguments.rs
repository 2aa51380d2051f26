//! Argument text in, arguments ready to run out; or a result that says what is wrong with them.
//!
//! The fast path takes what is right as it stands. Anything irregular takes the careful path, which
//! alone repairs, coerces, fills in late defaults and refuses. Both accept the same values.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::{Map, Value};
use toolwright_schema::{Limits, Tape, Violation, coerce, redact};

use super::run::panicked;
use crate::context::CallContext;
use crate::define::{Ready, Running};
use crate::error::{ErrorKind, ToolError};
use crate::input::SESSION_ID_PARAM;
use crate::options::{Extra, Malformed};
use crate::registry::{Bound, Entry};
use crate::result::{Outcome, ToolResult};

mod fill;
mod parse;
mod unknown;
mod whole;

pub(super) use fill::argument_text;
use fill::{Filled, fill_defaults, leave_out_nulls};
use parse::parse;
use unknown::ignore_unknown;
use whole::holds_whole_float;

/// How many notes one call keeps.
const NOTED: usize = 50;

/// Arguments that may run.
pub(super) struct Accepted {
    pub(super) ready: Box<dyn Ready>,
    /// What was read differently from how it was sent.
    pub(super) notes: Vec<String>,
    /// The arguments as the tool receives them.
    pub(super) arguments: Value,
}

/// Starts a call whose arguments are right as they stand; `None` leaves it to the careful path.
pub(super) fn start(
    entry: &Entry,
    cx: &CallContext<'_>,
    limits: &Limits,
) -> Option<Result<Running, ToolError>> {
    let tool = &entry.tool.0;
    let tape = Tape::parse(cx.call.arguments.as_str(), limits).ok()?;
    if tool.enforced {
        let bound = entry.bound.as_deref().map(|bound| bound_values(bound, cx));
        let bound = bound.as_deref().map(Tape::of);
        let bound = bound.as_ref().map(Tape::root_lenient);
        return tool.run.start(tape.root(), bound, cx).ok();
    }
    // An open schema would let a bound parameter be sent.
    if entry.bound.is_some() || !entry.spec.input.is_valid(tape.root_lenient()) {
        return None;
    }
    // The validator takes `5.0` for an integer; only the careful path makes it one.
    if tool.untyped && holds_whole_float(tape.root_lenient()) {
        return None;
    }
    tool.run.start(tape.root_lenient(), None, cx).ok()
}

/// Reads and validates the arguments of a call, mending what can be mended.
pub(super) fn accept(
    entry: &Entry,
    text: &str,
    cx: &CallContext<'_>,
    limits: &Limits,
    coercing: bool,
) -> Result<Accepted, ToolResult> {
    // The types are the tool's, and so is what they do with a value.
    match catch_unwind(AssertUnwindSafe(|| {
        careful(entry, text, cx, limits, coercing)
    })) {
        Ok(Ok(accepted)) => Ok(accepted),
        Ok(Err(refusal)) => Err(refusal.into_result(entry)),
        Err(panic) => Err(panicked(panic.as_ref())),
    }
}

/// Why arguments were refused.
enum Refusal {
    Malformed(String),
    Invalid(Vec<Violation>),
}

fn careful(
    entry: &Entry,
    text: &str,
    cx: &CallContext<'_>,
    limits: &Limits,
    coercing: bool,
) -> Result<Accepted, Refusal> {
    let mut notes = Vec::new();
    let mut value = parse(text, limits, &mut notes)?;
    if value.is_null() {
        // Some clients send `null` for a call without arguments.
        notes.push("null read as {}".to_owned());
        value = Value::Object(Map::new());
    }
    let Value::Object(sent) = &mut value else {
        let message = format!("they must be an object, not {}", kind(&value));
        return Err(Refusal::Malformed(message));
    };
    refuse_bound(sent, entry)?;
    if entry.policy.extra == Extra::Ignore {
        ignore_unknown(sent, entry.spec.input.as_value(), &mut notes);
    }
    if coercing && entry.policy.imported {
        leave_out_nulls(sent, entry, &mut notes);
    }
    if coercing {
        let coerced = coerce(&mut value, &entry.spec.input);
        notes.extend(coerced.iter().map(ToString::to_string));
    }
    let bound = entry.bound.as_deref().map(|bound| bound_values(bound, cx));
    let bound = match bound.map(Cow::into_owned) {
        Some(Value::Object(bound)) => bound,
        _ => Map::new(),
    };
    let mut unfilled = Vec::new();
    let mut names = Vec::new();
    if let Value::Object(sent) = &mut value {
        Filled { names, unfilled } = fill_defaults(sent, &bound, entry, cx);
    }
    let mut violations = entry.spec.input.violations(&value);
    if !violations.is_empty() || !unfilled.is_empty() {
        violations = as_sent(value, &names, entry, violations);
        violations.append(&mut unfilled);
        return Err(Refusal::Invalid(violations));
    }
    if let Value::Object(all) = &mut value {
        all.extend(bound);
    }
    let ready = typed(entry, &value)?;
    shorten(&mut notes);
    Ok(Accepted {
        ready,
        notes,
        arguments: value,
    })
}

/// Reads arguments that were accepted before, for another run.
pub(super) fn read(entry: &Entry, arguments: &Value) -> Result<Box<dyn Ready>, ToolResult> {
    let read = || typed(entry, arguments).map_err(|refusal| refusal.into_result(entry));
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|panic| Err(panicked(panic.as_ref())))
}

fn typed(entry: &Entry, arguments: &Value) -> Result<Box<dyn Ready>, Refusal> {
    let tape = Tape::of(arguments);
    entry
        .tool
        .0
        .run
        .read(tape.root_lenient(), None)
        .map_err(|error| {
            Refusal::Invalid(vec![Violation {
                pointer: error.pointer().to_owned(),
                keyword: "type".to_owned(),
                // A type of the user's may say anything.
                message: redact(error.message()).into_owned(),
            }])
        })
}

/// Words violations without the defaults, so that a misspelt name can be told to mean one of them.
#[cold]
fn as_sent(
    mut value: Value,
    filled: &[&str],
    entry: &Entry,
    violations: Vec<Violation>,
) -> Vec<Violation> {
    if let Value::Object(all) = &mut value {
        all.retain(|name, _| !filled.contains(&name.as_str()));
    }
    let worded = entry.spec.input.violations(&value);
    match worded.len() == violations.len() {
        true => worded,
        // A default itself is missed or at fault.
        false => violations,
    }
}

/// Keeps the first notes and counts the rest: a model can send a million mistakes.
fn shorten(notes: &mut Vec<String>) {
    let more = notes.len().saturating_sub(NOTED);
    if more > 0 {
        notes.truncate(NOTED);
        notes.push(format!("… and {more} more"));
    }
}

/// Returns what the view fills in.
fn bound_values<'e>(bound: &'e Bound, cx: &CallContext<'_>) -> Cow<'e, Value> {
    let mut values = Cow::Borrowed(&bound.fixed);
    if bound.session
        && let Some(session) = values.to_mut().get_mut(SESSION_ID_PARAM)
    {
        *session = Value::from(cx.session().as_str());
    }
    values
}

/// A hidden parameter is not the model's to set.
fn refuse_bound(sent: &Map<String, Value>, entry: &Entry) -> Result<(), Refusal> {
    let hidden = sent.keys().filter(|name| entry.hides(name));
    let refused: Vec<Violation> = hidden
        .map(|name| violation(name, "additionalProperties", "unknown argument".to_owned()))
        .collect();
    match refused.is_empty() {
        true => Ok(()),
        false => Err(Refusal::Invalid(refused)),
    }
}

fn violation(parameter: &str, keyword: &str, message: String) -> Violation {
    Violation {
        pointer: format!("/{}", parameter.replace('~', "~0").replace('/', "~1")),
        keyword: keyword.to_owned(),
        message,
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

impl Refusal {
    #[cold]
    fn into_result(self, entry: &Entry) -> ToolResult {
        let name = &entry.spec.name;
        let (kind, message) = match self {
            Self::Malformed(fault) => {
                let kind = match entry.policy.on_malformed {
                    Malformed::Tell => ErrorKind::Retry,
                    Malformed::Error => ErrorKind::Fatal,
                };
                let fault = redact(&fault);
                (kind, format!("arguments for `{name}` are refused: {fault}"))
            }
            Self::Invalid(violations) => {
                let mut message = format!("invalid arguments for `{name}`:");
                for violation in &violations {
                    message.push_str(&format!("\n{violation}"));
                }
                (ErrorKind::Retry, message)
            }
        };
        ToolResult::refused(Outcome::InvalidArguments, kind, message)
    }
}
