//! Describes keywords and schemas in English, for descriptions that replace dropped constraints.

use serde_json::Value;

use super::applies_to::{has_no_assertions, is_assertion};
use crate::lower::{JsonObject, KeywordLookup, SchemaCursor, Severity};
use crate::text::english::{count_noun, join_words, truncated, with_article};

/// Longer text is truncated.
const MAX_CHARS: usize = 200;

/// The maximum length of a single value, name or pattern.
const MAX_PART_CHARS: usize = 60;

/// Longer lists are cut.
const MAX_LISTED: usize = 12;

/// How many levels of subschemas are described.
const MAX_DEPTH: usize = 3;

/// A description of a keyword; `None` if it has no effect, or none that a description would help with.
pub(crate) fn describe_keyword(keyword: &str, value: &Value) -> Option<String> {
    keyword_text(keyword, value, MAX_DEPTH).map(|words| truncated(words, MAX_CHARS))
}

/// Reports that a keyword was removed, and describes it if possible.
pub(crate) fn drop_keyword(
    schema: &mut JsonObject,
    cursor: &mut SchemaCursor<'_>,
    keyword: &str,
    value: &Value,
) {
    match describe_keyword(keyword, value) {
        Some(text) => cursor.move_to_description(schema, keyword, text),
        None => cursor.report_loss(keyword, Severity::Wider, None),
    }
}

/// A short description of a schema: `a string`, ``an object with `name` and `age` ``.
pub(crate) fn describe_schema(schema: &Value) -> String {
    truncated(schema_text(schema, MAX_DEPTH), MAX_CHARS)
}

/// The same for the keywords of a schema.
pub(crate) fn describe_object(schema: &JsonObject) -> String {
    truncated(object_text(schema, MAX_DEPTH), MAX_CHARS)
}

/// The values of an enum, the first few if there are many.
pub(crate) fn describe_enum(values: &[Value]) -> String {
    truncated(options_text(values), MAX_CHARS)
}

fn keyword_text(keyword: &str, value: &Value, depth: usize) -> Option<String> {
    Some(match keyword {
        "const" => format!("always {}", value_text(value)),
        "enum" => options_text(value.as_array()?),
        "type" => types_text(value)?,

        "exclusiveMaximum" => format!("less than {value}"),
        "exclusiveMinimum" => format!("greater than {value}"),
        "maximum" => format!("at most {value}"),
        "minimum" => format!("at least {value}"),
        "multipleOf" => format!("a multiple of {value}"),

        "format" => format_text(value.as_str()?),
        "maxLength" => format!("at most {}", count_noun(value.as_number()?, "character")),
        "minLength" => at_least_text(value, "character")?,
        "pattern" => {
            format!("matches the pattern `{}`", truncated(value.as_str()?, MAX_CHARS - 24))
        }

        "additionalItems" | "unevaluatedItems" => match value {
            Value::Bool(false) => "no further items".to_owned(),
            _ => format!("each further item is {}", constraint_text(value, depth)?),
        },
        "contains" => format!("at least one item is {}", schema_text(value, depth)),
        "items" | "prefixItems" => items_text(value, depth)?,
        "maxContains" => format!("at most {} such items", value),
        "maxItems" => format!("at most {}", count_noun(value.as_number()?, "item")),
        "minContains" => format!("at least {} such items", value),
        "minItems" => at_least_text(value, "item")?,
        "uniqueItems" => value.as_bool()?.then(|| "no item comes twice".to_owned())?,

        "additionalProperties" | "unevaluatedProperties" => {
            format!("each further property is {}", constraint_text(value, depth)?)
        }
        "dependencies" | "dependentRequired" | "dependentSchemas" => {
            let each = value.as_object()?.iter();
            join_listed(each, "; ", |(name, then)| match then {
                Value::Array(names) => format!("`{name}` requires {}", names_text(names)),
                schema => format!("with `{name}` {}", schema_text(schema, depth)),
            })?
        }
        "maxProperties" => format!("at most {}", count_noun(value.as_number()?, "property")),
        "minProperties" => at_least_text(value, "property")?,
        "patternProperties" => {
            join_listed(value.as_object()?.iter(), "; ", |(pattern, subschema)| {
                let (pattern, text) = (quoted_name(pattern), schema_text(subschema, depth));
                format!("each property whose name matches {pattern} is {text}")
            })?
        }
        "properties" => join_listed(value.as_object()?.iter(), ", ", |(name, subschema)| {
            format!("{} is {}", quoted_name(name), schema_text(subschema, depth))
        })?,
        "propertyNames" => {
            format!("the name of each property is {}", constraint_text(value, depth)?)
        }
        "required" => match value.as_array()?.as_slice() {
            [] => return None,
            names => format!("requires {}", names_text(names)),
        },

        "allOf" => schemas_text(value, " and ", depth)?,
        "anyOf" => schemas_text(value, " or ", depth)?,
        "else" => format!("otherwise {}", constraint_text(value, depth)?),
        "if" => format!("if {}", schema_text(value, depth)),
        "not" => format!("not {}", schema_text(value, depth)),
        "oneOf" => format!("exactly one of: {}", schemas_text(value, "; ", depth)?),
        "then" => format!("then {}", constraint_text(value, depth)?),
        _ => return None,
    })
}

/// Describes a schema; `None` if every value is valid.
fn constraint_text(schema: &Value, depth: usize) -> Option<String> {
    let constrains = schema.as_object().is_some_and(|members| !has_no_assertions(members));
    constrains.then(|| schema_text(schema, depth))
}

fn schema_text(schema: &Value, depth: usize) -> String {
    match schema {
        Value::Bool(false) => "nothing".to_owned(),
        Value::Object(members) => object_text(members, depth),
        _ => "anything".to_owned(),
    }
}

fn object_text(members: &JsonObject, depth: usize) -> String {
    if has_no_assertions(members) {
        return "anything".to_owned();
    }
    let text = match depth.checked_sub(1) {
        Some(depth) => members_text(members, depth),
        None => members.keyword("type").and_then(types_text),
    };
    text.unwrap_or_else(|| "a certain value".to_owned())
}

fn members_text(members: &JsonObject, depth: usize) -> Option<String> {
    if let Some(only) = members.keyword("const") {
        return Some(value_text(only));
    }
    match members.list("enum") {
        Some([only]) => return Some(value_text(only)),
        Some(values) => return Some(options_text(values)),
        None => {}
    }
    if let Some(Value::String(reference)) = members.keyword("$ref") {
        return Some(format!("as in `{}`", reference.rsplit('/').next()?));
    }
    let json_type = members.keyword("type").and_then(types_text);
    let names = properties_text(members, json_type.is_some(), depth);
    let rest = members
        .iter()
        .filter(|(keyword, _)| !matches!(keyword.as_str(), "properties" | "required" | "type"))
        .filter(|(keyword, _)| is_assertion(keyword))
        .filter_map(|(keyword, value)| keyword_text(keyword, value, depth));
    let first = match (json_type, names) {
        (Some(json_type), Some(names)) => Some(format!("{json_type} with {names}")),
        (json_type, names) => json_type.or(names),
    };
    let all: Vec<String> = first.into_iter().chain(rest).collect();
    (!all.is_empty()).then(|| all.join(", "))
}

/// The declared properties, each with its value if there are only a few possible ones.
fn properties_text(members: &JsonObject, typed: bool, depth: usize) -> Option<String> {
    let mut names: Vec<String> = Vec::new();
    let declared = members.object("properties");
    for (name, subschema) in declared.into_iter().flatten().take(MAX_LISTED) {
        let name = quoted_name(name);
        names.push(match !typed || subschema.has_any_keyword(&["const", "enum"]) {
            true => format!("{name} {}", schema_text(subschema, depth)),
            false => name,
        });
    }
    let required = members.required_names().take(MAX_LISTED);
    let others =
        required.filter(|name| declared.is_none_or(|declared| !declared.contains_key(*name)));
    names.extend(others.map(quoted_name));
    if names.is_empty() {
        return None;
    }
    let names = join_words(&names, "and");
    Some(if typed || members.has_keyword("properties") { names } else { format!("with {names}") })
}

fn items_text(value: &Value, depth: usize) -> Option<String> {
    match value {
        Value::Bool(false) => Some("no items".to_owned()),
        Value::Array(_) => {
            Some(format!("the items are, in order: {}", schemas_text(value, ", ", depth)?))
        }
        _ => Some(format!("each item is {}", constraint_text(value, depth)?)),
    }
}

fn types_text(value: &Value) -> Option<String> {
    match value {
        Value::String(json_type) => Some(with_article(json_type)),
        Value::Array(types) => {
            let types: Vec<String> =
                types.iter().filter_map(Value::as_str).map(with_article).collect();
            (!types.is_empty()).then(|| types.join(" or "))
        }
        _ => None,
    }
}

fn options_text(values: &[Value]) -> String {
    let listed: Vec<String> = values.iter().take(MAX_LISTED).map(value_text).collect();
    match (listed.as_slice(), values.len()) {
        ([one], 1) => format!("always {one}"),
        (_, all) if all > MAX_LISTED => format!("one of {}, … ({all} in all)", listed.join(", ")),
        _ => format!("one of {}", listed.join(", ")),
    }
}

fn value_text(value: &Value) -> String {
    truncated(value.to_string(), MAX_PART_CHARS)
}

fn names_text(names: &[Value]) -> String {
    let names = names.iter().filter_map(Value::as_str).take(MAX_LISTED);
    join_words(&names.map(quoted_name).collect::<Vec<_>>(), "and")
}

fn quoted_name(name: &str) -> String {
    format!("`{}`", truncated(name, MAX_PART_CHARS))
}

/// Describes the schemas of a list.
fn schemas_text(list: &Value, between: &str, depth: usize) -> Option<String> {
    join_listed(list.as_array()?.iter(), between, |schema| schema_text(schema, depth))
}

fn join_listed<T>(
    all: impl Iterator<Item = T>,
    between: &str,
    describe: impl FnMut(T) -> String,
) -> Option<String> {
    let text: Vec<String> = all.take(MAX_LISTED).map(describe).collect();
    (!text.is_empty()).then(|| text.join(between))
}

fn at_least_text(value: &Value, of: &str) -> Option<String> {
    match (value.as_f64()?, of) {
        (0.0, _) => None,
        (1.0, "character" | "item") => Some("not empty".to_owned()),
        _ => Some(format!("at least {}", count_noun(value.as_number()?, of))),
    }
}

fn format_text(name: &str) -> String {
    let description = match name {
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
        other => return format!("in the format `{}`", truncated(other, MAX_PART_CHARS)),
    };
    description.to_owned()
}
