//! Arguments in, those that the schema knows out, where the tool ignores the others.

use serde_json::{Map, Value};
use toolwright_schema::redact;

/// How many subschemas are looked at for the names of arguments; schemas may come from strangers.
const MAX_VISITS: usize = 64;

/// Leaves out what the schema does not know, and notes it.
pub(super) fn drop_unknown(sent: &mut Map<String, Value>, input: &Value, notes: &mut Vec<String>) {
    let mut known = KnownProperties {
        names: Vec::new(),
        forbids_others: false,
        allows_others: false,
    };
    known.collect(input, input, &mut { MAX_VISITS });
    if known.allows_others || !known.forbids_others {
        return;
    }
    sent.retain(|name, _| {
        let keep = known.names.contains(&name.as_str());
        if !keep {
            let shown: String = name.chars().take(64).collect();
            notes.push(redact(&format!("/{shown}: unknown argument ignored")).into_owned());
        }
        keep
    });
}

/// What a schema says about which arguments there are.
struct KnownProperties<'s> {
    names: Vec<&'s str>,
    /// Whether it refuses others.
    forbids_others: bool,
    /// Whether it takes others.
    allows_others: bool,
}

impl<'s> KnownProperties<'s> {
    /// Looks at a schema and at all it is composed of.
    fn collect(&mut self, root: &'s Value, schema: &'s Value, visits: &mut usize) {
        let (Some(object), Some(left)) = (schema.as_object(), visits.checked_sub(1)) else {
            return;
        };
        *visits = left;
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
                    parts
                        .iter()
                        .for_each(|part| self.collect(root, part, visits));
                }
                ("$ref", Value::String(name)) => {
                    let target = name.strip_prefix('#').and_then(|path| root.pointer(path));
                    target
                        .into_iter()
                        .for_each(|it| self.collect(root, it, visits));
                }
                _ => {}
            }
        }
    }
}
