//! Argument text in, arguments ready to run out; or a result that says what is wrong with them.
//!
//! The fast path takes what is right as it stands. Anything irregular takes the careful path, which
//! alone repairs, coerces, fills in late defaults and refuses. Both accept the same values.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::{Map, Value};
use toolwright_schema::{InputLimits, Tape, Violation, coerce, redact};

use super::run::panic_result;
use crate::call::context::CallContext;
use crate::call::result::{Outcome, ToolResult};
use crate::error::{ErrorKind, ToolError};
use crate::registry::{BoundParams, RegisteredTool};
use crate::tool::definition::{PreparedCall, StartedHandler};
use crate::tool::input_schema::SESSION_ID_PARAM;
use crate::tool::policy::{OnMalformed, UnknownArguments};

mod defaults;
mod integral_floats;
mod parse;
mod unknown_arguments;

pub(super) use defaults::argument_text;
use defaults::{FilledDefaults, drop_optional_nulls, fill_defaults};
use integral_floats::contains_integral_float;
use parse::parse;
use unknown_arguments::drop_unknown;

/// How many notes one call keeps.
const MAX_NOTES: usize = 50;

/// Arguments that may run.
pub(super) struct ValidatedArguments {
    pub(super) prepared: Box<dyn PreparedCall>,
    /// What was read differently from how it was sent.
    pub(super) notes: Vec<String>,
    /// The arguments as the tool receives them.
    pub(super) arguments: Value,
}

/// Starts a call whose arguments are right as they stand; `None` leaves it to the careful path.
pub(super) fn start_on_fast_path(
    entry: &RegisteredTool,
    cx: &CallContext<'_>,
    limits: &InputLimits,
) -> Option<Result<StartedHandler, ToolError>> {
    let tool = &entry.tool.0;
    let tape = Tape::parse(cx.call.arguments.as_str(), limits).ok()?;
    if tool.types_enforce_schema {
        let bound = entry
            .bound_params
            .as_deref()
            .map(|bound| bound_values(bound, cx));
        let bound = bound.as_deref().map(Tape::from_value);
        let bound = bound.as_ref().map(Tape::root_lenient);
        return tool.handler.start(tape.root(), bound, cx).ok();
    }
    // An open schema would let a bound parameter be sent.
    if entry.bound_params.is_some() || !entry.spec.input.is_valid(tape.root_lenient()) {
        return None;
    }
    // The validator takes `5.0` for an integer; only the careful path makes it one.
    if tool.untyped && contains_integral_float(tape.root_lenient()) {
        return None;
    }
    tool.handler.start(tape.root_lenient(), None, cx).ok()
}

/// Reads and validates the arguments of a call, mending what can be mended.
pub(super) fn validate(
    entry: &RegisteredTool,
    text: &str,
    cx: &CallContext<'_>,
    limits: &InputLimits,
    coercing: bool,
) -> Result<ValidatedArguments, ToolResult> {
    // The types are the tool's, and so is what they do with a value.
    match catch_unwind(AssertUnwindSafe(|| {
        validate_on_slow_path(entry, text, cx, limits, coercing)
    })) {
        Ok(Ok(accepted)) => Ok(accepted),
        Ok(Err(refusal)) => Err(refusal.into_tool_result(entry)),
        Err(panic) => Err(panic_result(panic.as_ref())),
    }
}

/// Why arguments were refused.
enum ArgumentError {
    Malformed(String),
    Invalid(Vec<Violation>),
}

fn validate_on_slow_path(
    entry: &RegisteredTool,
    text: &str,
    cx: &CallContext<'_>,
    limits: &InputLimits,
    coercing: bool,
) -> Result<ValidatedArguments, ArgumentError> {
    let mut notes = Vec::new();
    let mut value = parse(text, limits, &mut notes)?;
    if value.is_null() {
        // Some clients send `null` for a call without arguments.
        notes.push("null read as {}".to_owned());
        value = Value::Object(Map::new());
    }
    let Value::Object(sent) = &mut value else {
        let message = format!("they must be an object, not {}", json_kind(&value));
        return Err(ArgumentError::Malformed(message));
    };
    reject_bound_params(sent, entry)?;
    if entry.policy.unknown_arguments == UnknownArguments::Ignore {
        drop_unknown(sent, entry.spec.input.as_value(), &mut notes);
    }
    if coercing && entry.policy.imported {
        drop_optional_nulls(sent, entry, &mut notes);
    }
    if coercing {
        let coerced = coerce(&mut value, &entry.spec.input);
        notes.extend(coerced.iter().map(ToString::to_string));
    }
    let bound = entry
        .bound_params
        .as_deref()
        .map(|bound| bound_values(bound, cx));
    let bound = match bound.map(Cow::into_owned) {
        Some(Value::Object(bound)) => bound,
        _ => Map::new(),
    };
    let mut unfilled = Vec::new();
    let mut names = Vec::new();
    if let Value::Object(sent) = &mut value {
        FilledDefaults { names, unfilled } = fill_defaults(sent, &bound, entry, cx);
    }
    let mut violations = entry.spec.input.violations(&value);
    if !violations.is_empty() || !unfilled.is_empty() {
        violations = violations_as_sent(value, &names, entry, violations);
        violations.append(&mut unfilled);
        return Err(ArgumentError::Invalid(violations));
    }
    if let Value::Object(all) = &mut value {
        all.extend(bound);
    }
    let ready = prepare_typed(entry, &value)?;
    truncate_notes(&mut notes);
    Ok(ValidatedArguments {
        prepared: ready,
        notes,
        arguments: value,
    })
}

/// Reads arguments that were accepted before, for another run.
pub(super) fn prepare_validated(
    entry: &RegisteredTool,
    arguments: &Value,
) -> Result<Box<dyn PreparedCall>, ToolResult> {
    let read =
        || prepare_typed(entry, arguments).map_err(|refusal| refusal.into_tool_result(entry));
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|panic| Err(panic_result(panic.as_ref())))
}

fn prepare_typed(
    entry: &RegisteredTool,
    arguments: &Value,
) -> Result<Box<dyn PreparedCall>, ArgumentError> {
    let tape = Tape::from_value(arguments);
    entry
        .tool
        .0
        .handler
        .prepare(tape.root_lenient(), None)
        .map_err(|error| {
            ArgumentError::Invalid(vec![Violation {
                pointer: error.pointer().to_owned(),
                keyword: "type".to_owned(),
                // A type of the user's may say anything.
                message: redact(error.message()).into_owned(),
            }])
        })
}

/// Words violations without the defaults, so that a misspelt name can be told to mean one of them.
#[cold]
fn violations_as_sent(
    mut value: Value,
    filled: &[&str],
    entry: &RegisteredTool,
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
fn truncate_notes(notes: &mut Vec<String>) {
    let more = notes.len().saturating_sub(MAX_NOTES);
    if more > 0 {
        notes.truncate(MAX_NOTES);
        notes.push(format!("… and {more} more"));
    }
}

/// Returns what the view fills in.
fn bound_values<'e>(bound: &'e BoundParams, cx: &CallContext<'_>) -> Cow<'e, Value> {
    let mut values = Cow::Borrowed(&bound.values);
    if bound.binds_session
        && let Some(session) = values.to_mut().get_mut(SESSION_ID_PARAM)
    {
        *session = Value::from(cx.session().as_str());
    }
    values
}

/// A hidden parameter is not the model's to set.
fn reject_bound_params(
    sent: &Map<String, Value>,
    entry: &RegisteredTool,
) -> Result<(), ArgumentError> {
    let hidden = sent.keys().filter(|name| entry.hides_param(name));
    let refused: Vec<Violation> = hidden
        .map(|name| param_violation(name, "additionalProperties", "unknown argument".to_owned()))
        .collect();
    match refused.is_empty() {
        true => Ok(()),
        false => Err(ArgumentError::Invalid(refused)),
    }
}

fn param_violation(parameter: &str, keyword: &str, message: String) -> Violation {
    Violation {
        pointer: format!("/{}", parameter.replace('~', "~0").replace('/', "~1")),
        keyword: keyword.to_owned(),
        message,
    }
}

fn json_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

impl ArgumentError {
    #[cold]
    fn into_tool_result(self, entry: &RegisteredTool) -> ToolResult {
        let name = &entry.spec.name;
        let (kind, message) = match self {
            Self::Malformed(fault) => {
                let kind = match entry.policy.on_malformed {
                    OnMalformed::Retry => ErrorKind::Retry,
                    OnMalformed::Error => ErrorKind::Fatal,
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
        ToolResult::from_outcome(Outcome::InvalidArguments, kind, message)
    }
}
