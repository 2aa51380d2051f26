//! The keyword `type`, in whatever words it is said.

use serde_json::{Map, Value};

use super::{
    Members, Outcome, Walker,
    expression::Type,
    parse,
    wish::Wish,
    words::{self, is_own},
};
use crate::{SchemaError, nearest};

/// Says the type of a schema in JSON Schema's own words; returns what the word says of being required.
pub(super) fn mend(walker: &mut Walker, members: &mut Members) -> Outcome<Option<Wish>> {
    let given = match members.get("type") {
        None => return Ok(None),
        Some(Value::String(word)) if is_own(word) => return Ok(None),
        Some(Value::Array(words)) if are_own(words) => return Ok(None),
        Some(given) => given.clone(),
    };
    let (meant, wish) = match &given {
        Value::Null => (Map::new(), None),
        Value::String(word) if word.trim().is_empty() => (Map::new(), None),
        // The options say which values are meant.
        Value::String(word)
            if word.eq_ignore_ascii_case("enum") && members.contains_key("enum") =>
        {
            (Map::new(), None)
        }
        Value::String(word) => {
            let (meant, wish) = read(walker, word, "type")?;
            (meant.schema(), wish)
        }
        Value::Array(words) => (several(walker, words)?, None),
        other => {
            let message = format!(
                "a type is a word or a list of words, not {}",
                walker.show(other)
            );
            return Err(walker.error_at("type", message));
        }
    };
    walker.note(format!("type {given} read as {}", shown(&meant)));
    apply(walker, members, meant)?;
    Ok(wish)
}

/// A schema that is nothing but a type word, or a flag in quotes.
pub(super) fn word_alone(walker: &mut Walker, text: &str) -> Outcome<(Value, Option<Wish>)> {
    let flag = match text {
        "true" => Some(true),
        "false" => Some(false),
        _ => None,
    };
    if let Some(flag) = flag {
        walker.note(format!("\"{flag}\" read as {flag}"));
        return Ok((Value::Bool(flag), None));
    }
    let (word, wish) = Wish::split(text);
    let meant = parse::read(word).map_err(|piece| no_type(walker, &piece, walker.error("")))?;
    let schema = Value::Object(meant.schema());
    walker.note(format!("{} read as {schema}", Value::from(text)));
    Ok((schema, wish))
}

/// Whether a text names a type in any language.
pub(super) fn is_type(text: &str) -> bool {
    parse::read(Wish::split(text).0).is_ok()
}

fn are_own(given: &[Value]) -> bool {
    let own = |(at, word): (usize, &Value)| {
        word.as_str().is_some_and(is_own) && !given.iter().take(at).any(|before| before == word)
    };
    // Distinct words are seven at most: nothing longer is compared with itself.
    (1..=7).contains(&given.len()) && given.iter().enumerate().all(own)
}

fn read(walker: &Walker, text: &str, keyword: &str) -> Outcome<(Type, Option<Wish>)> {
    let (word, wish) = Wish::split(text);
    let meant =
        parse::read(word).map_err(|piece| no_type(walker, &piece, walker.error_at(keyword, "")))?;
    Ok((meant, wish))
}

fn several(walker: &Walker, given: &[Value]) -> Outcome<Map<String, Value>> {
    let mut branches = Vec::new();
    for word in given {
        branches.push(match word {
            Value::Null => Type::Plain(words::Kind::Null),
            Value::String(word) => read(walker, word, "type")?.0,
            other => {
                let message = format!("a type is a word, not {}", walker.show(other));
                return Err(walker.error_at("type", message));
            }
        });
    }
    Ok(match branches.as_slice() {
        [] => Map::new(),
        _ => Type::Union(branches).schema(),
    })
}

fn no_type(walker: &Walker, piece: &str, place: SchemaError) -> SchemaError {
    // In prose a type word is found by chance only.
    let known = match piece.trim().contains(' ') {
        true => Vec::new(),
        false => nearest(piece, words::all(), 1),
    };
    let hint = match known.first() {
        Some(word) => format!("; did you mean `{word}`?"),
        None => String::new(),
    };
    let shown = walker.show(&Value::from(piece));
    SchemaError::new(place.pointer(), format!("{shown} is no type{hint}"))
}

fn shown(meant: &Map<String, Value>) -> String {
    match (meant.len(), meant.get("type")) {
        (0, _) => "any value".to_owned(),
        (1, Some(word)) => word.to_string(),
        _ => Value::Object(meant.clone()).to_string(),
    }
}

/// Puts what the type word said beside what the schema says itself.
fn apply(walker: &Walker, members: &mut Members, meant: Map<String, Value>) -> Outcome {
    if !meant.contains_key("type") {
        members.shift_remove("type");
    }
    for (keyword, value) in meant {
        let own = members.get_mut(&keyword).filter(|_| keyword != "type");
        let agrees = match (own, &value) {
            (None, _) => {
                members.insert(keyword, value);
                continue;
            }
            (Some(own), value) if own == value => true,
            (Some(Value::Object(own)), Value::Object(said)) => agree(own, said),
            (Some(_), _) => keyword == "minItems",
        };
        if !agrees {
            let message = format!("says otherwise than the type, which means {value}");
            return Err(walker.error_at(&keyword, message));
        }
    }
    Ok(())
}

/// Whether the schema of an element agrees with what the type word says of it; one without a type takes it over.
fn agree(own: &mut Members, said: &Members) -> bool {
    match own.get("type") {
        None => {
            for (keyword, value) in said {
                own.entry(keyword.as_str()).or_insert_with(|| value.clone());
            }
            true
        }
        Some(Value::String(word)) => parse::read(Wish::split(word).0)
            .is_ok_and(|own| own.schema().get("type") == said.get("type")),
        Some(own) => Some(own) == said.get("type"),
    }
}
