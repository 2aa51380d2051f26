//! Argument text in, arguments ready to run out; or a result that says what is wrong with them.
//!
//! The fast path takes what is right as it stands. Anything irregular takes the careful path, which
//! alone repairs, coerces, fills in late defaults and refuses. Both accept the same values.

use serde_json::{Map, Value};
use toolwright_schema::{Limits, Node, ParseError, Tape, Unrepairable, Violation, coerce, repair};

use crate::context::CallContext;
use crate::define::Ready;
use crate::error::ErrorKind;
use crate::input::{Default, PROJECT_DIR, SESSION_ID_PARAM};
use crate::options::{Extra, Malformed};
use crate::registry::{Bound, Entry, property};
use crate::result::{Outcome, ToolResult};

/// Arguments that may run.
pub(super) struct Accepted {
    pub(super) ready: Box<dyn Ready>,
    /// What was read differently from how it was sent.
    pub(super) notes: Vec<String>,
    /// The arguments as the tool receives them, where somebody has to see them.
    pub(super) arguments: Option<Value>,
}

/// Reads and validates the arguments of a call.
pub(super) fn accept(
    entry: &Entry,
    cx: &CallContext<'_>,
    limits: &Limits,
    coercing: bool,
) -> Result<Accepted, ToolResult> {
    let text = cx.call.arguments.as_str();
    let bound = entry.bound.as_deref().map(|bound| bound_values(bound, cx));
    let bound = bound.as_ref().map(Tape::of);
    let bound = bound.as_ref().map(Tape::root_lenient);
    if let Some(ready) = fast(entry, text, bound, limits) {
        return Ok(Accepted {
            ready,
            notes: Vec::new(),
            arguments: None,
        });
    }
    careful(entry, text, bound, cx, limits, coercing).map_err(|refusal| refusal.into_result(entry))
}

/// Takes arguments that are right as they stand.
fn fast(
    entry: &Entry,
    text: &str,
    bound: Option<Node<'_>>,
    limits: &Limits,
) -> Option<Box<dyn Ready>> {
    let tool = &entry.tool.0;
    if tool.careful || entry.tool.needs_approval() {
        return None;
    }
    let tape = Tape::parse(text, limits).ok()?;
    if tool.enforced {
        return tool.run.read(tape.root(), bound).ok();
    }
    // An open schema would let a bound parameter be sent.
    if bound.is_some() || !entry.spec.input.is_valid(tape.root_lenient()) {
        return None;
    }
    tool.run.read(tape.root_lenient(), None).ok()
}

/// Why arguments were refused.
enum Refusal {
    Malformed(String),
    Invalid(Vec<Violation>),
}

#[inline(never)]
fn careful(
    entry: &Entry,
    text: &str,
    bound: Option<Node<'_>>,
    cx: &CallContext<'_>,
    limits: &Limits,
    coercing: bool,
) -> Result<Accepted, Refusal> {
    let tool = &entry.tool.0;
    let mut notes = Vec::new();
    let mut value = parse(text, limits, &mut notes)?;
    let Value::Object(sent) = &mut value else {
        let message = format!("they must be an object, not {}", kind(&value));
        return Err(Refusal::Malformed(message));
    };
    if let Some(bound) = entry.bound.as_deref() {
        refuse_bound(sent, bound)?;
    }
    if tool.options.extra == Extra::Ignore {
        ignore_unknown(sent, entry, &mut notes);
    }
    if coercing {
        let coerced = coerce(&mut value, &entry.spec.input);
        notes.extend(coerced.iter().map(ToString::to_string));
    }
    if let Value::Object(sent) = &mut value {
        fill_defaults(sent, entry, cx);
    }
    let violations = entry.spec.input.violations(&value);
    if !violations.is_empty() {
        return Err(Refusal::Invalid(violations));
    }
    let tape = Tape::of(&value);
    let ready = tool.run.read(tape.root_lenient(), bound).map_err(|error| {
        Refusal::Invalid(vec![Violation {
            pointer: error.pointer().to_owned(),
            keyword: "type".to_owned(),
            message: error.to_string(),
        }])
    })?;
    drop(tape);
    if let (Some(bound), Value::Object(all)) = (bound, &mut value)
        && let Ok(bound) = <Map<String, Value> as serde::Deserialize>::deserialize(bound)
    {
        all.extend(bound);
    }
    Ok(Accepted {
        ready,
        notes,
        arguments: Some(value),
    })
}

/// Parses the text, mending what is whole but untidy.
fn parse(text: &str, limits: &Limits, notes: &mut Vec<String>) -> Result<Value, Refusal> {
    let fault = match Tape::parse(text, limits) {
        Ok(tape) => match tape.to_value() {
            // Perhaps an object that was encoded twice.
            Value::String(_) => "they must be an object, not a string".to_owned(),
            value => return Ok(value),
        },
        Err(error @ ParseError::Syntax { .. }) => error.to_string(),
        Err(error) => return Err(Refusal::Malformed(error.to_string())),
    };
    let repaired = repair(text, limits).map_err(|unrepairable| match unrepairable {
        Unrepairable::Truncated => Refusal::Malformed(format!("cut off, send them whole: {fault}")),
        _ => Refusal::Malformed(fault),
    })?;
    notes.extend(
        repaired
            .notes
            .iter()
            .map(|note| format!("repaired: {note}")),
    );
    match Tape::parse(&repaired.text, limits) {
        Ok(tape) => Ok(tape.to_value()),
        Err(error) => Err(Refusal::Malformed(error.to_string())),
    }
}

fn bound_values(bound: &Bound, cx: &CallContext<'_>) -> Value {
    let mut values = bound.fixed.clone();
    if bound.session {
        values.insert(
            SESSION_ID_PARAM.to_owned(),
            Value::from(cx.session().as_str()),
        );
    }
    Value::Object(values)
}

/// A hidden parameter is not the model's to set.
fn refuse_bound(sent: &Map<String, Value>, bound: &Bound) -> Result<(), Refusal> {
    let hidden = |name: &&String| {
        bound.fixed.contains_key(*name) || (bound.session && *name == SESSION_ID_PARAM)
    };
    match sent.keys().find(hidden) {
        None => Ok(()),
        Some(name) => Err(Refusal::Invalid(vec![Violation {
            pointer: format!("/{name}"),
            keyword: "additionalProperties".to_owned(),
            message: "unknown argument".to_owned(),
        }])),
    }
}

fn ignore_unknown(sent: &mut Map<String, Value>, entry: &Entry, notes: &mut Vec<String>) {
    let known = entry
        .spec
        .input
        .as_value()
        .get("properties")
        .and_then(Value::as_object);
    sent.retain(|name, _| {
        let keep = known.is_some_and(|known| known.contains_key(name));
        if !keep {
            notes.push(format!("/{name}: unknown argument ignored"));
        }
        keep
    });
}

/// Fills in what was not sent, in the order of the parameters.
fn fill_defaults(sent: &mut Map<String, Value>, entry: &Entry, cx: &CallContext<'_>) {
    for (name, default) in &entry.tool.0.defaults {
        let Some(schema) = property(&entry.spec.input, name) else {
            continue;
        };
        let absent = match sent.get(name) {
            None => true,
            // `null` asks for the default, unless it is a value of its own.
            Some(Value::Null) => !schema.violations(&Value::Null).is_empty(),
            Some(_) => false,
        };
        if !absent {
            continue;
        }
        let value = match default {
            Default::Value(value) => value.clone(),
            Default::Template(template) => {
                let mut text = Value::String(template.expand(|name| argument_text(name, sent, cx)));
                coerce(&mut text, &schema);
                text
            }
        };
        sent.insert(name.clone(), value);
    }
}

/// Returns an argument as a placeholder shows it.
pub(super) fn argument_text(
    name: &str,
    arguments: &Map<String, Value>,
    cx: &CallContext<'_>,
) -> Option<String> {
    match arguments.get(name) {
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Null) => None,
        Some(value) => Some(value.to_string()),
        None if name == PROJECT_DIR => cx
            .setup()
            .project_dir()
            .map(|path| path.to_string_lossy().into_owned()),
        None => None,
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
                let kind = match entry.tool.0.options.malformed {
                    Malformed::Tell => ErrorKind::Retry,
                    Malformed::Error => ErrorKind::Fatal,
                };
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
