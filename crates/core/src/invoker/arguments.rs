//! Parses and validates the arguments of a call.
//!
//! The fast path accepts arguments that are valid as they are. All others take the slow path, which alone
//! repairs, coerces, fills in defaults with placeholders and rejects. Both accept the same values.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use serde_json::{Map, Value};
use toolwright_schema::{InputLimits, Tape, Violation, coerce, escape_pointer_token, redact};

use super::run::panic_result;
use crate::call::Arguments;
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

/// The maximum number of notes of one call.
const MAX_NOTES: usize = 50;

/// Validated arguments, ready to run.
pub(super) struct ValidatedArguments {
    pub(super) prepared: Box<dyn PreparedCall>,
    /// Changes to the arguments: repaired, coerced, dropped.
    pub(super) notes: Vec<String>,
    /// The arguments as the tool receives them.
    pub(super) arguments: Value,
}

/// Starts a call whose arguments are valid as they are; `None` means the slow path.
pub(super) fn start_on_fast_path(
    tool: &RegisteredTool,
    cx: &CallContext<'_>,
    limits: &InputLimits,
) -> Option<Result<StartedHandler, ToolError>> {
    let arguments = &cx.call.arguments;
    if tool.bound_params.is_none()
        && let Some(text) = arguments.unparsed_text()
        && let Some(started) = tool.tool.0.handler.start_from_text(text, limits, cx)
    {
        return Some(started);
    }
    let tape = arguments.to_tape(limits).ok()?;
    start_if_valid(tool, &tape, cx).or_else(|| {
        // The slow path need not parse the text again.
        arguments.keep_value(&tape);
        None
    })
}

/// Starts a call if the arguments are valid; `None` if they are not, or must be changed.
fn start_if_valid(
    tool: &RegisteredTool,
    tape: &Tape<'_>,
    cx: &CallContext<'_>,
) -> Option<Result<StartedHandler, ToolError>> {
    let inner = &tool.tool.0;
    if inner.types_enforce_schema {
        let bound = tool.bound_params.as_deref().map(|bound| bound_values(bound, cx));
        let bound = bound.as_deref().map(Tape::from_value);
        let bound = bound.as_ref().map(Tape::root_lenient);
        return inner.handler.start(tape.root(), bound, cx).ok();
    }
    // A schema that allows additional properties would accept a bound parameter.
    if tool.bound_params.is_some() || !tool.spec.input.is_valid(tape.root_lenient()) {
        return None;
    }
    // The validator accepts `5.0` as an integer; only the slow path converts it.
    if inner.untyped && contains_integral_float(tape.root_lenient()) {
        return None;
    }
    inner.handler.start(tape.root_lenient(), None, cx).ok()
}

/// Parses and validates the arguments of a call on the slow path; `Err` is the result for the model.
pub(super) fn validate(
    tool: &RegisteredTool,
    arguments: &Arguments,
    cx: &CallContext<'_>,
    limits: &InputLimits,
    coercing: bool,
) -> Result<ValidatedArguments, ToolResult> {
    // `Deserialize` of the tool's own types may panic.
    let validate = || validate_on_slow_path(tool, arguments, cx, limits, coercing);
    match catch_unwind(AssertUnwindSafe(validate)) {
        Ok(Ok(validated)) => Ok(validated),
        Ok(Err(error)) => Err(error.into_tool_result(tool)),
        Err(panic) => Err(panic_result(panic.as_ref())),
    }
}

/// Why arguments are rejected.
enum ArgumentError {
    Malformed(String),
    Invalid(Vec<Violation>),
}

fn validate_on_slow_path(
    tool: &RegisteredTool,
    arguments: &Arguments,
    cx: &CallContext<'_>,
    limits: &InputLimits,
    coercing: bool,
) -> Result<ValidatedArguments, ArgumentError> {
    let mut notes = Vec::new();
    let mut value = parse(arguments, limits, &mut notes)?;
    if value.is_null() {
        // Some clients send `null` for a call without arguments.
        notes.push("null read as {}".to_owned());
        value = Value::Object(Map::new());
    }
    let Value::Object(arguments) = &mut value else {
        let message = format!("they must be an object, not {}", json_kind(&value));
        return Err(ArgumentError::Malformed(message));
    };
    reject_bound_params(arguments, tool)?;
    if tool.policy.unknown_arguments == UnknownArguments::Ignore {
        drop_unknown(arguments, tool.spec.input.as_value(), &mut notes);
    }
    if coercing && tool.policy.imported {
        drop_optional_nulls(arguments, tool, &mut notes);
    }
    if coercing {
        let coerced = coerce(&mut value, &tool.spec.input);
        notes.extend(coerced.iter().map(ToString::to_string));
    }
    let bound = tool.bound_params.as_deref().map(|bound| bound_values(bound, cx));
    let bound = match bound.map(Cow::into_owned) {
        Some(Value::Object(bound)) => bound,
        _ => Map::new(),
    };
    let mut unfilled = Vec::new();
    let mut names = Vec::new();
    if let Value::Object(arguments) = &mut value {
        FilledDefaults { names, unfilled } = fill_defaults(arguments, &bound, tool, cx);
    }
    let mut violations = tool.spec.input.violations(&value);
    if !violations.is_empty() || !unfilled.is_empty() {
        violations = violations_as_sent(value, &names, tool, violations);
        violations.append(&mut unfilled);
        return Err(ArgumentError::Invalid(violations));
    }
    if let Value::Object(all) = &mut value {
        all.extend(bound);
    }
    let prepared = prepare_typed(tool, &value)?;
    truncate_notes(&mut notes);
    Ok(ValidatedArguments { prepared, notes, arguments: value })
}

/// Deserializes validated arguments for another run.
pub(super) fn prepare_validated(
    tool: &RegisteredTool,
    arguments: &Value,
) -> Result<Box<dyn PreparedCall>, ToolResult> {
    let prepare = || prepare_typed(tool, arguments).map_err(|error| error.into_tool_result(tool));
    catch_unwind(AssertUnwindSafe(prepare))
        .unwrap_or_else(|panic| Err(panic_result(panic.as_ref())))
}

fn prepare_typed(
    tool: &RegisteredTool,
    arguments: &Value,
) -> Result<Box<dyn PreparedCall>, ArgumentError> {
    let tape = Tape::from_value(arguments);
    tool.tool.0.handler.prepare(tape.root_lenient(), None).map_err(|error| {
        ArgumentError::Invalid(vec![Violation {
            pointer: error.pointer().to_owned(),
            keyword: "type".to_owned(),
            // The error of a user's type may contain the value.
            message: redact(error.message()).into_owned(),
        }])
    })
}

/// Returns the violations of the arguments without the filled-in defaults, so that the message for a misspelt
/// name can suggest a parameter that has a default.
#[cold]
fn violations_as_sent(
    mut value: Value,
    filled: &[&str],
    tool: &RegisteredTool,
    violations: Vec<Violation>,
) -> Vec<Violation> {
    if let Value::Object(all) = &mut value {
        all.retain(|name, _| !filled.contains(&name.as_str()));
    }
    let as_sent = tool.spec.input.violations(&value);
    match as_sent.len() == violations.len() {
        true => as_sent,
        // A default is required or invalid itself.
        false => violations,
    }
}

/// Keeps the first notes and counts the rest: a model can send a million errors.
fn truncate_notes(notes: &mut Vec<String>) {
    let more = notes.len().saturating_sub(MAX_NOTES);
    if more > 0 {
        notes.truncate(MAX_NOTES);
        notes.push(format!("… and {more} more"));
    }
}

/// Returns the bound values, with the session of this call.
fn bound_values<'e>(bound: &'e BoundParams, cx: &CallContext<'_>) -> Cow<'e, Value> {
    let mut values = Cow::Borrowed(&bound.values);
    if bound.binds_session
        && let Some(session) = values.to_mut().get_mut(SESSION_ID_PARAM)
    {
        *session = Value::from(cx.session().as_str());
    }
    values
}

/// Rejects arguments for parameters that the view has bound.
fn reject_bound_params(
    arguments: &Map<String, Value>,
    tool: &RegisteredTool,
) -> Result<(), ArgumentError> {
    let hidden = arguments.keys().filter(|name| tool.hides_param(name));
    let violations: Vec<Violation> = hidden
        .map(|name| param_violation(name, "additionalProperties", "unknown argument".to_owned()))
        .collect();
    match violations.is_empty() {
        true => Ok(()),
        false => Err(ArgumentError::Invalid(violations)),
    }
}

fn param_violation(parameter: &str, keyword: &str, message: String) -> Violation {
    Violation {
        pointer: format!("/{}", escape_pointer_token(parameter)),
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
    fn into_tool_result(self, tool: &RegisteredTool) -> ToolResult {
        let name = &tool.spec.name;
        let (kind, message) = match self {
            Self::Malformed(error) => {
                let kind = match tool.policy.on_malformed {
                    OnMalformed::Retry => ErrorKind::Retry,
                    OnMalformed::Error => ErrorKind::Fatal,
                };
                let error = redact(&error);
                (kind, format!("arguments for `{name}` are refused: {error}"))
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
