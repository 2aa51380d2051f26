//! Normalises the keyword `type`.

use serde_json::Value;

use crate::normalise::{
    JsonObject, NormaliseResult, Normaliser,
    required_flag::RequiredFlag,
    type_expression::TypeExpression,
    type_names::{self, is_json_schema_type},
    type_parser,
};
use crate::{SchemaError, did_you_mean};

/// Converts `type` to the names of JSON Schema; returns the required flag that its text contains.
pub(crate) fn normalise_type(
    normaliser: &mut Normaliser,
    members: &mut JsonObject,
) -> NormaliseResult<Option<RequiredFlag>> {
    let given = match members.get("type") {
        None => return Ok(None),
        Some(Value::String(word)) if is_json_schema_type(word) => return Ok(None),
        Some(Value::Array(words)) if are_json_schema_types(words) => return Ok(None),
        Some(given) => given.clone(),
    };
    let (parsed, flag) = match &given {
        Value::Null => (JsonObject::new(), None),
        Value::String(word) if word.trim().is_empty() => (JsonObject::new(), None),
        // The options determine the type.
        Value::String(word)
            if word.eq_ignore_ascii_case("enum") && members.contains_key("enum") =>
        {
            (JsonObject::new(), None)
        }
        Value::String(word) => {
            let (parsed, flag) = parse_type(normaliser, word, normaliser.error_at("type", ""))?;
            (parsed.into_schema(), flag)
        }
        Value::Array(words) => (parse_type_list(normaliser, words)?, None),
        other => {
            let message =
                format!("a type is a word or a list of words, not {}", normaliser.excerpt(other));
            return Err(normaliser.error_at("type", message));
        }
    };
    normaliser.add_fix(format!("type {given} read as {}", describe_type(&parsed)));
    apply_type(normaliser, members, parsed)?;
    Ok(flag)
}

/// The schema for a text that is only a type name, or a boolean in quotes.
pub(crate) fn schema_from_type_name(
    normaliser: &mut Normaliser,
    text: &str,
) -> NormaliseResult<(Value, Option<RequiredFlag>)> {
    if let Ok(flag) = text.parse::<bool>() {
        normaliser.add_fix(format!("\"{flag}\" read as {flag}"));
        return Ok((Value::Bool(flag), None));
    }
    let (parsed, flag) = parse_type(normaliser, text, normaliser.error(""))?;
    let schema = Value::Object(parsed.into_schema());
    normaliser.add_fix(format!("{} read as {schema}", Value::from(text)));
    Ok((schema, flag))
}

/// Returns true if a text is a type of any supported language.
pub(crate) fn is_type_expression(text: &str) -> bool {
    type_parser::parse_type(RequiredFlag::split_type_text(text).0).is_ok()
}

fn are_json_schema_types(given: &[Value]) -> bool {
    let own = |(at, word): (usize, &Value)| {
        word.as_str().is_some_and(is_json_schema_type)
            && !given.iter().take(at).any(|before| before == word)
    };
    // There are seven distinct names at most, so longer lists need no check.
    (1..=7).contains(&given.len()) && given.iter().enumerate().all(own)
}

/// Parses a type; an error gets the path of `location`.
fn parse_type(
    normaliser: &Normaliser,
    text: &str,
    location: SchemaError,
) -> NormaliseResult<(TypeExpression, Option<RequiredFlag>)> {
    let (word, flag) = RequiredFlag::split_type_text(text);
    let parsed = type_parser::parse_type(word)
        .map_err(|piece| unknown_type_error(normaliser, &piece, &location))?;
    Ok((parsed, flag))
}

fn parse_type_list(normaliser: &Normaliser, given: &[Value]) -> NormaliseResult<JsonObject> {
    let mut branches = Vec::new();
    for word in given {
        branches.push(match word {
            Value::Null => TypeExpression::Plain("null"),
            Value::String(word) => parse_type(normaliser, word, normaliser.error_at("type", ""))?.0,
            other => {
                let message = format!("a type is a word, not {}", normaliser.excerpt(other));
                return Err(normaliser.error_at("type", message));
            }
        });
    }
    Ok(match branches.as_slice() {
        [] => JsonObject::new(),
        _ => TypeExpression::Union(branches).into_schema(),
    })
}

fn unknown_type_error(normaliser: &Normaliser, piece: &str, location: &SchemaError) -> SchemaError {
    // In prose a type name occurs only by chance.
    let hint = match piece.trim().contains(' ') {
        true => None,
        false => did_you_mean(piece, type_names::all_names()),
    };
    let hint = hint.map_or_else(String::new, |hint| format!("; {hint}"));
    let shown = normaliser.excerpt(&Value::from(piece));
    SchemaError::new(location.pointer(), format!("{shown} is no type{hint}"))
}

fn describe_type(parsed: &JsonObject) -> String {
    match (parsed.len(), parsed.get("type")) {
        (0, _) => "any value".to_owned(),
        (1, Some(word)) => word.to_string(),
        _ => Value::Object(parsed.clone()).to_string(),
    }
}

/// Merges the schema of the type text into the schema.
fn apply_type(
    normaliser: &Normaliser,
    members: &mut JsonObject,
    parsed: JsonObject,
) -> NormaliseResult {
    if !parsed.contains_key("type") {
        members.shift_remove("type");
    }
    for (keyword, value) in parsed {
        let own = members.get_mut(&keyword).filter(|_| keyword != "type");
        let agrees = match (own, &value) {
            (None, _) => {
                members.insert(keyword, value);
                continue;
            }
            (Some(own), value) if own == value => true,
            (Some(Value::Object(own)), Value::Object(named)) => merge_element_type(own, named),
            (Some(_), _) => keyword == "minItems",
        };
        if !agrees {
            let message = format!("conflicts with the type, which means {value}");
            return Err(normaliser.error_at(&keyword, message));
        }
    }
    Ok(())
}

/// Returns true if the schema of the elements agrees with the type text; one without a type takes it over.
fn merge_element_type(own: &mut JsonObject, named: &JsonObject) -> bool {
    match own.get("type") {
        None => {
            for (keyword, value) in named {
                own.entry(keyword.as_str()).or_insert_with(|| value.clone());
            }
            true
        }
        Some(Value::String(word)) => type_parser::parse_type(RequiredFlag::split_type_text(word).0)
            .is_ok_and(|own| own.into_schema().get("type") == named.get("type")),
        Some(own) => Some(own) == named.get("type"),
    }
}
