//! Splits the text of a list or an object into its elements, without parsing them.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::schemas::INPUT_SCHEMA_KEYS;

/// The maximum nesting depth of objects around a list of definitions.
pub(super) const MAX_WRAPPING_DEPTH: usize = 8;

/// The maximum number of members of an object.
const MAX_MEMBERS: usize = 10_000;

/// The keys of lists of definitions.
const LIST_KEYS: [&str; 5] =
    ["tools", "functions", "function", "functionDeclarations", "function_declarations"];

/// The keys of objects that contain such a list: responses, requests in a batch, Bedrock's `toolConfig`.
const WRAPPER_KEYS: [&str; 6] =
    ["result", "toolConfig", "tool_config", "body", "params", "request"];

/// The members of an object, with unparsed values.
pub(super) type Members<'t> = Vec<(String, &'t RawValue)>;

/// Returns the members that are lists of definitions. `function` with an object is not one: it is part of a definition.
pub(super) fn definition_lists<'m, 't>(
    members: &'m Members<'t>,
) -> Vec<&'m (String, &'t RawValue)> {
    // A definition may contain such a list too; then this object is the definition itself.
    if has_any_key(members, &INPUT_SCHEMA_KEYS) {
        return Vec::new();
    }
    members.iter().filter(|(key, value)| is_definition_list(key, value)).collect()
}

/// Returns the members that are objects which contain such lists.
pub(super) fn wrappers<'m, 't>(
    members: &'m Members<'t>,
    depth: usize,
) -> Vec<&'m (String, &'t RawValue)> {
    if depth > MAX_WRAPPING_DEPTH || has_any_key(members, &["name"]) {
        return Vec::new();
    }
    let contains_lists = |value: &RawValue| {
        let inner = self::parse_members(value.get());
        !definition_lists(&inner).is_empty() || !wrappers(&inner, depth + 1).is_empty()
    };
    members
        .iter()
        .filter(|(key, value)| WRAPPER_KEYS.contains(&key.as_str()) && contains_lists(value))
        .collect()
}

fn has_any_key(members: &Members<'_>, keys: &[&str]) -> bool {
    members.iter().any(|(key, _)| keys.contains(&key.as_str()))
}

fn is_definition_list(key: &str, value: &RawValue) -> bool {
    let text = || serde_json::from_str::<String>(value.get()).unwrap_or_default();
    LIST_KEYS.contains(&key)
        && match value.get().as_bytes().first() {
            Some(b'[') => true,
            Some(b'"') => text().trim_start().starts_with('['),
            _ => false,
        }
}

/// Returns a key that occurs twice.
pub(super) fn duplicate_key<'m>(members: &'m Members<'_>) -> Option<&'m str> {
    let mut keys: Vec<&str> = members.iter().map(|(key, _)| key.as_str()).collect();
    keys.sort_unstable();
    keys.windows(2).find_map(|pair| (pair.first() == pair.last()).then(|| pair.first().copied())?)
}

/// Returns the members of an object; empty for other values, or if there are more than [`MAX_MEMBERS`].
pub(super) fn parse_members(raw: &str) -> Members<'_> {
    serde_json::from_str::<RawObject<'_>>(raw).map_or_else(|_| Vec::new(), |object| object.0)
}

/// An object with parsed keys and unparsed values.
struct RawObject<'t>(Members<'t>);

impl<'t> Deserialize<'t> for RawObject<'t> {
    fn deserialize<D: Deserializer<'t>>(source: D) -> Result<Self, D::Error> {
        struct MembersVisitor;

        impl<'t> Visitor<'t> for MembersVisitor {
            type Value = RawObject<'t>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'t>>(self, mut map: M) -> Result<RawObject<'t>, M::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry::<String, &RawValue>()? {
                    members.push(member);
                    if members.len() > MAX_MEMBERS {
                        return Err(M::Error::custom("too many members"));
                    }
                }
                Ok(RawObject(members))
            }
        }

        source.deserialize_map(MembersVisitor)
    }
}

/// Calls `visit` with each element of a list until it returns false; the elements are not collected.
pub(super) fn for_each_element<'t>(raw: &'t str, visit: impl FnMut(usize, &'t RawValue) -> bool) {
    struct ElementsVisitor<F>(F);

    impl<'t, F: FnMut(usize, &'t RawValue) -> bool> Visitor<'t> for ElementsVisitor<F> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list")
        }

        fn visit_seq<S: SeqAccess<'t>>(mut self, mut elements: S) -> Result<(), S::Error> {
            let mut index = 0;
            while let Some(element) = elements.next_element()? {
                if !(self.0)(index, element) {
                    return Err(S::Error::custom("stopped"));
                }
                index += 1;
            }
            Ok(())
        }
    }

    let mut source = serde_json::Deserializer::from_str(raw);
    // The text is known to be a list, so the only error is the stop.
    let _ = source.deserialize_seq(ElementsVisitor(visit));
}
