//! Descriptions of values, types and formats for error messages.

use jsonschema::{JsonType, error::TypeKind};
use serde_json::Value;

use crate::{
    escape_pointer_token, nearest,
    text::english::{join_words, truncated, with_article},
    text::redact::{looks_secret_name, looks_secret_value, redact},
};

/// Longer text is truncated.
const MAX_SHOWN_CHARS: usize = 40;

/// More options are not listed.
const MAX_LISTED_OPTIONS: usize = 12;

/// Shows a scalar, truncated, and a container by its type; secrets are masked.
pub(crate) fn excerpt(value: &Value, pointer: &str) -> String {
    match value {
        Value::Object(_) => "an object".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        Value::Null | Value::Bool(_) => value.to_string(),
        _ if pointer.split('/').any(looks_secret_name) => "\"***\"".to_owned(),
        Value::String(text) if looks_secret_value(text) || redact(text) != text.as_str() => {
            "\"***\"".to_owned()
        }
        Value::String(text) => Value::from(truncated(text.as_str(), MAX_SHOWN_CHARS)).to_string(),
        Value::Number(number) => number.to_string(),
    }
}

/// A pointer in which names that look like secrets are masked.
pub(super) fn redact_pointer(pointer: &str) -> String {
    pointer
        .split('/')
        .map(|step| if looks_secret_value(step) { "***" } else { step })
        .collect::<Vec<_>>()
        .join("/")
}

pub(super) fn child_pointer(parent: &str, step: &str) -> String {
    redact_pointer(&format!("{parent}/{}", escape_pointer_token(step)))
}

pub(super) fn type_names(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(one) => with_article(one.as_str()),
        TypeKind::Multiple(set) => {
            let others = set.iter().filter(|one| *one != JsonType::Null);
            let null = set.iter().filter(|one| *one == JsonType::Null);
            let all: Vec<String> =
                others.chain(null).map(|one| with_article(one.as_str())).collect();
            join_with_or(&all)
        }
    }
}

/// `a`, `a or b`, `a, b or c`.
pub(super) fn join_with_or(names: &[String]) -> String {
    match names {
        [] => "another value".to_owned(),
        names => join_words(names, "or"),
    }
}

/// `expected one of "C", "F", got "K"; did you mean …?`
pub(super) fn enum_message(options: &[Value], value: &Value, got: &str) -> String {
    let suggestion = value.as_str().and_then(|wanted| {
        nearest(wanted, options.iter().filter_map(Value::as_str), 1).first().copied()
    });
    let hint =
        suggestion.map(|name| format!("; did you mean {}?", Value::from(name))).unwrap_or_default();
    format!("expected {}, got {got}{hint}", describe_options(options))
}

pub(super) fn describe_options(options: &[Value]) -> String {
    let listed: Vec<String> =
        options.iter().take(MAX_LISTED_OPTIONS).map(Value::to_string).collect();
    let rest = if options.len() > MAX_LISTED_OPTIONS { ", …" } else { "" };
    match listed.as_slice() {
        [one] => one.clone(),
        several => format!("one of {}{rest}", several.join(", ")),
    }
}

pub(super) fn describe_format(format: &str) -> String {
    match format {
        "date" => "a date like 2025-01-31",
        "date-time" => "a date and time like 2025-01-31T08:30:00Z",
        "time" => "a time like 08:30:00Z",
        "duration" => "a duration like PT1H30M",
        "email" | "idn-email" => "an email address",
        "hostname" | "idn-hostname" => "a host name",
        "ipv4" => "an IPv4 address",
        "ipv6" => "an IPv6 address",
        "uri" | "iri" => "a full address like https://example.com/",
        "uuid" => "a UUID",
        "regex" => "a regular expression",
        other => return format!("text of the format `{other}`"),
    }
    .to_owned()
}

/// A short description of what a property's schema accepts.
pub(super) fn describe_expected(
    root: &Value,
    schema: &Value,
    visits: &mut usize,
) -> Option<String> {
    let object = schema.as_object()?;
    *visits = visits.checked_sub(1)?;
    if let Some(reference) = object.get("$ref") {
        return describe_expected(root, resolve_local_ref(root, reference)?, visits);
    }
    if let Some(options) = object.get("enum").and_then(Value::as_array) {
        return Some(describe_options(options));
    }
    if let Some(only) = object.get("const") {
        return Some(only.to_string());
    }
    match object.get("type") {
        Some(Value::String(name)) => return Some(with_article(name)),
        Some(Value::Array(names)) => {
            let names: Vec<String> =
                names.iter().filter_map(Value::as_str).map(with_article).collect();
            return Some(join_with_or(&names));
        }
        _ => {}
    }
    let branches = object.get("anyOf").or_else(|| object.get("oneOf"))?.as_array()?;
    if let Some(options) =
        branches.iter().map(|branch| branch.get("const").cloned()).collect::<Option<Vec<_>>>()
    {
        return Some(describe_options(&options));
    }
    let mut names: Vec<String> = Vec::new();
    for branch in branches {
        let name = describe_expected(root, branch, visits)?;
        if !names.contains(&name) {
            names.push(name);
        }
    }
    Some(join_with_or(&names))
}

/// Resolves a local `$ref` (`#/…`).
pub(crate) fn resolve_local_ref<'s>(root: &'s Value, reference: &Value) -> Option<&'s Value> {
    root.pointer(reference.as_str()?.strip_prefix('#')?)
}
