//! Keyword and value in, what they mean in words out.

use serde_json::{Map, Value};

use super::subject::{admits_all, asserts};
use crate::lower::Lookup;

/// Longer words are cut.
const MOST: usize = 200;

/// A single value, name or pattern within the words.
const MOST_EACH: usize = 60;

/// More than these are not listed.
const LISTED: usize = 12;

/// Schemas within schemas that are still spoken of.
const DEEPEST: usize = 3;

/// What a keyword asks of a value; `None` if it asks nothing, or nothing that words would help with.
pub(crate) fn words(keyword: &str, value: &Value) -> Option<String> {
    said(keyword, value, DEEPEST).map(|words| cut_off(words, MOST))
}

/// A schema in a few words: `a string`, ``an object with `name` and `age` ``.
pub(crate) fn short(schema: &Value) -> String {
    cut_off(spoken(schema, DEEPEST), MOST)
}

/// The values of an enum, the first few if there are many.
pub(crate) fn one_of(values: &[Value]) -> String {
    cut_off(options(values), MOST)
}

fn said(keyword: &str, value: &Value, depth: usize) -> Option<String> {
    Some(match keyword {
        "const" => format!("always {}", shown(value)),
        "enum" => options(value.as_array()?),
        "type" => kinds(value)?,

        "exclusiveMaximum" => format!("less than {value}"),
        "exclusiveMinimum" => format!("greater than {value}"),
        "maximum" => format!("at most {value}"),
        "minimum" => format!("at least {value}"),
        "multipleOf" => format!("a multiple of {value}"),

        "format" => format(value.as_str()?),
        "maxLength" => format!("at most {}", count(value, "character")?),
        "minLength" => at_least(value, "character")?,
        "pattern" => format!("matches the pattern `{}`", cut(value.as_str()?, MOST - 24)),

        "additionalItems" | "unevaluatedItems" => match value {
            Value::Bool(false) => "no further items".to_owned(),
            _ => format!("each further item is {}", told(value, depth)?),
        },
        "contains" => format!("at least one item is {}", spoken(value, depth)),
        "items" | "prefixItems" => items(value, depth)?,
        "maxContains" => format!("at most {} such items", value),
        "maxItems" => format!("at most {}", count(value, "item")?),
        "minContains" => format!("at least {} such items", value),
        "minItems" => at_least(value, "item")?,
        "uniqueItems" => value.as_bool()?.then(|| "no item comes twice".to_owned())?,

        "additionalProperties" | "unevaluatedProperties" => {
            format!("each further property is {}", told(value, depth)?)
        }
        "dependencies" | "dependentRequired" | "dependentSchemas" => {
            let each = value.as_object()?.iter();
            listed(each, "; ", |(name, then)| match then {
                Value::Array(names) => format!("`{name}` requires {}", named(names)),
                schema => format!("with `{name}` {}", spoken(schema, depth)),
            })?
        }
        "maxProperties" => format!("at most {}", count(value, "property")?),
        "minProperties" => at_least(value, "property")?,
        "patternProperties" => listed(value.as_object()?.iter(), "; ", |(pattern, part)| {
            let pattern = cut(pattern, MOST_EACH);
            format!(
                "each property whose name matches `{pattern}` is {}",
                spoken(part, depth)
            )
        })?,
        "properties" => listed(value.as_object()?.iter(), ", ", |(name, part)| {
            format!("`{}` is {}", cut(name, MOST_EACH), spoken(part, depth))
        })?,
        "propertyNames" => format!("the name of each property is {}", told(value, depth)?),
        "required" => match value.as_array()?.as_slice() {
            [] => return None,
            names => format!("requires {}", named(names)),
        },

        "allOf" => listed(value.as_array()?.iter(), " and ", |part| {
            spoken(part, depth)
        })?,
        "anyOf" => listed(value.as_array()?.iter(), " or ", |part| spoken(part, depth))?,
        "else" => format!("otherwise {}", told(value, depth)?),
        "if" => format!("if {}", spoken(value, depth)),
        "not" => format!("not {}", spoken(value, depth)),
        "oneOf" => {
            let parts = listed(value.as_array()?.iter(), "; ", |part| spoken(part, depth))?;
            format!("exactly one of: {parts}")
        }
        "then" => format!("then {}", told(value, depth)?),
        _ => return None,
    })
}

/// Speaks of a schema, unless it asks nothing.
fn told(schema: &Value, depth: usize) -> Option<String> {
    match schema {
        Value::Object(members) if !admits_all(members) => Some(spoken(schema, depth)),
        _ => None,
    }
}

fn spoken(schema: &Value, depth: usize) -> String {
    match schema {
        Value::Bool(false) => "nothing".to_owned(),
        Value::Object(members) if !admits_all(members) => {
            let said = match depth.checked_sub(1) {
                Some(depth) => inner(members, depth),
                None => members.find("type").and_then(kinds),
            };
            said.unwrap_or_else(|| "a certain value".to_owned())
        }
        _ => "anything".to_owned(),
    }
}

fn inner(members: &Map<String, Value>, depth: usize) -> Option<String> {
    if let Some(only) = members.find("const") {
        return Some(shown(only));
    }
    if let Some(Value::Array(values)) = members.find("enum") {
        return Some(match values.as_slice() {
            [only] => shown(only),
            values => options(values),
        });
    }
    if let Some(Value::String(reference)) = members.find("$ref") {
        return Some(format!("as in `{}`", reference.rsplit('/').next()?));
    }
    let kind = members.find("type").and_then(kinds);
    let names = owned(members, kind.is_some(), depth);
    let rest = members
        .iter()
        .filter(|(keyword, _)| !matches!(keyword.as_str(), "properties" | "required" | "type"))
        .filter(|(keyword, _)| asserts(keyword))
        .filter_map(|(keyword, value)| said(keyword, value, depth));
    let (said, others): (String, Vec<String>) = match (kind, names) {
        (Some(kind), Some(names)) => (format!("{kind} with {names}"), rest.collect()),
        (Some(kind), None) => (kind, rest.collect()),
        (None, Some(names)) => (names, rest.collect()),
        (None, None) => {
            let mut rest = rest;
            (rest.next()?, rest.collect())
        }
    };
    Some(
        std::iter::once(said)
            .chain(others)
            .collect::<Vec<_>>()
            .join(", "),
    )
}

/// The properties a schema speaks of, each with its value if it can have but few.
fn owned(members: &Map<String, Value>, typed: bool, depth: usize) -> Option<String> {
    let mut names: Vec<String> = Vec::new();
    if let Some(Value::Object(properties)) = members.find("properties") {
        for (name, part) in properties.iter().take(LISTED) {
            let name = cut(name, MOST_EACH);
            let fixed = part.find("const").is_some() || part.find("enum").is_some();
            names.push(match (fixed, typed) {
                (true, _) | (_, false) => format!("`{name}` {}", spoken(part, depth)),
                _ => format!("`{name}`"),
            });
        }
    }
    if let Some(Value::Array(required)) = members.find("required") {
        let declared = members.find("properties").and_then(Value::as_object);
        let others = required.iter().filter_map(Value::as_str).take(LISTED);
        names.extend(
            others
                .filter(|name| declared.is_none_or(|declared| !declared.contains_key(*name)))
                .map(|name| format!("`{}`", cut(name, MOST_EACH))),
        );
    }
    if names.is_empty() {
        return None;
    }
    let names = joined(&names);
    Some(if typed || members.has("properties") {
        names
    } else {
        format!("with {names}")
    })
}

fn items(value: &Value, depth: usize) -> Option<String> {
    match value {
        Value::Bool(false) => Some("no items".to_owned()),
        Value::Array(parts) => {
            let parts = listed(parts.iter(), ", ", |part| spoken(part, depth))?;
            Some(format!("the items are, in order: {parts}"))
        }
        _ => Some(format!("each item is {}", told(value, depth)?)),
    }
}

fn kinds(value: &Value) -> Option<String> {
    match value {
        Value::String(kind) => Some(article(kind)),
        Value::Array(kinds) => {
            let kinds: Vec<String> = kinds
                .iter()
                .filter_map(Value::as_str)
                .map(article)
                .collect();
            (!kinds.is_empty()).then(|| kinds.join(" or "))
        }
        _ => None,
    }
}

fn article(kind: &str) -> String {
    match kind {
        "null" => kind.to_owned(),
        "array" | "integer" | "object" => format!("an {kind}"),
        _ => format!("a {kind}"),
    }
}

fn options(values: &[Value]) -> String {
    let listed: Vec<String> = values.iter().take(LISTED).map(shown).collect();
    match (listed.as_slice(), values.len()) {
        ([one], 1) => format!("always {one}"),
        (_, all) if all > LISTED => format!("one of {}, … ({all} in all)", listed.join(", ")),
        _ => format!("one of {}", listed.join(", ")),
    }
}

fn shown(value: &Value) -> String {
    cut_off(value.to_string(), MOST_EACH)
}

fn named(names: &[Value]) -> String {
    let names: Vec<String> = names
        .iter()
        .filter_map(Value::as_str)
        .take(LISTED)
        .map(|name| format!("`{}`", cut(name, MOST_EACH)))
        .collect();
    joined(&names)
}

/// `a`, `a and b`, `a, b and c`.
fn joined(names: &[String]) -> String {
    match names {
        [most @ .., last] if !most.is_empty() => format!("{} and {last}", most.join(", ")),
        _ => names.concat(),
    }
}

fn listed<T>(
    all: impl Iterator<Item = T>,
    between: &str,
    say: impl FnMut(T) -> String,
) -> Option<String> {
    let said: Vec<String> = all.take(LISTED).map(say).collect();
    (!said.is_empty()).then(|| said.join(between))
}

fn at_least(value: &Value, of: &str) -> Option<String> {
    match (value.as_f64()?, of) {
        (0.0, _) => None,
        (1.0, "character" | "item") => Some("not empty".to_owned()),
        _ => Some(format!("at least {}", count(value, of)?)),
    }
}

fn count(value: &Value, of: &str) -> Option<String> {
    let number = value.as_number()?;
    Some(match (number.as_f64()?, of) {
        (1.0, _) => format!("1 {of}"),
        (_, "property") => format!("{number} properties"),
        _ => format!("{number} {of}s"),
    })
}

fn format(name: &str) -> String {
    let known = match name {
        "byte" => "base64 text",
        "date" => "a date such as 2026-11-15",
        "date-time" => "a date and time such as 2026-11-15T08:30:00Z",
        "duration" => "a duration such as PT1H30M",
        "email" | "idn-email" => "an email address",
        "hostname" | "idn-hostname" => "a host name",
        "ipv4" => "an IPv4 address",
        "ipv6" => "an IPv6 address",
        "iri" | "uri" => "an absolute URI such as https://example.com/",
        "iri-reference" | "uri-reference" => "a URI, absolute or relative",
        "json-pointer" => "a JSON pointer such as /a/0",
        "regex" => "a regular expression",
        "relative-json-pointer" => "a relative JSON pointer such as 1/a",
        "time" => "a time such as 08:30:00Z",
        "uri-template" => "a URI template",
        "uuid" => "a UUID",
        other => return format!("in the format `{}`", cut(other, MOST_EACH)),
    };
    known.to_owned()
}

/// The beginning of a text.
pub(crate) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// The same of a text that is not needed any more.
fn cut_off(mut text: String, most: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(most) {
        text.truncate(end);
        text.push('…');
    }
    text
}
