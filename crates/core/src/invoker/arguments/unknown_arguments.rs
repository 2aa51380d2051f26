//! Drops unknown arguments, for tools with [`UnknownArguments::Ignore`](crate::UnknownArguments::Ignore).

use serde_json::{Map, Value};
use toolwright_schema::redact;

/// The limit of visited subschemas; a schema may come from an untrusted source.
const MAX_VISITS: usize = 64;

/// Drops arguments that the schema does not define, with a note for each.
pub(super) fn drop_unknown(
    arguments: &mut Map<String, Value>,
    input: &Value,
    notes: &mut Vec<String>,
) {
    let mut known =
        KnownProperties { names: Vec::new(), forbids_others: false, allows_others: false };
    known.collect(input, input, &mut { MAX_VISITS });
    if known.allows_others || !known.forbids_others {
        return;
    }
    arguments.retain(|name, _| {
        let keep = known.names.contains(&name.as_str());
        if !keep {
            let shown: String = name.chars().take(64).collect();
            notes.push(redact(&format!("/{shown}: unknown argument ignored")).into_owned());
        }
        keep
    });
}

/// The properties that a schema defines.
struct KnownProperties<'s> {
    names: Vec<&'s str>,
    /// Whether a part of the schema forbids other properties.
    forbids_others: bool,
    /// Whether a part of the schema allows other properties.
    allows_others: bool,
}

impl<'s> KnownProperties<'s> {
    /// Visits a schema and the schemas it is composed of.
    fn collect(&mut self, root: &'s Value, schema: &'s Value, visits: &mut usize) {
        let (Some(object), Some(remaining)) = (schema.as_object(), visits.checked_sub(1)) else {
            return;
        };
        *visits = remaining;
        for (keyword, value) in object {
            match (keyword.as_str(), value) {
                ("properties", Value::Object(properties)) => {
                    self.names.extend(properties.keys().map(String::as_str));
                }
                ("additionalProperties" | "unevaluatedProperties", Value::Bool(false)) => {
                    self.forbids_others = true;
                }
                ("additionalProperties" | "unevaluatedProperties" | "patternProperties", _) => {
                    self.allows_others = true;
                }
                ("allOf" | "anyOf" | "oneOf", Value::Array(parts)) => {
                    parts.iter().for_each(|part| self.collect(root, part, visits));
                }
                ("$ref", Value::String(name)) => {
                    let target = name.strip_prefix('#').and_then(|path| root.pointer(path));
                    target.into_iter().for_each(|target| self.collect(root, target, visits));
                }
                _ => {}
            }
        }
    }
}
