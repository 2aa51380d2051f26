//! The text of a list or an object in, its parts out, unread.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::schemas::INPUT_SCHEMA_KEYS;

/// How deep lists of definitions may be wrapped.
pub(super) const MAX_WRAPPING_DEPTH: usize = 8;

/// More members than these no definition has, and nothing that definitions are wrapped in.
const MAX_MEMBERS: usize = 10_000;

/// Where a list of definitions is found in an object.
const LIST_KEYS: [&str; 5] = [
    "tools",
    "functions",
    "function",
    "functionDeclarations",
    "function_declarations",
];

/// Where an object with such a list is found: answers, requests in a batch, Bedrock's settings.
const WRAPPER_KEYS: [&str; 6] = [
    "result",
    "toolConfig",
    "tool_config",
    "body",
    "params",
    "request",
];

/// The members of an object, as text.
pub(super) type Members<'t> = Vec<(String, &'t RawValue)>;

/// The members that hold lists of definitions; `function` may also hold a single one, and then is part of it.
pub(super) fn definition_lists<'m, 't>(
    members: &'m Members<'t>,
) -> Vec<&'m (String, &'t RawValue)> {
    // A definition may hold such a list too, but then it is not wrapped in this object: it is this object.
    if has_any_key(members, &INPUT_SCHEMA_KEYS) {
        return Vec::new();
    }
    members
        .iter()
        .filter(|(key, value)| is_definition_list(key, value))
        .collect()
}

/// The members that hold objects which hold such lists.
pub(super) fn wrappers<'m, 't>(
    members: &'m Members<'t>,
    depth: usize,
) -> Vec<&'m (String, &'t RawValue)> {
    if depth > MAX_WRAPPING_DEPTH || has_any_key(members, &["name"]) {
        return Vec::new();
    }
    let holds_lists = |value: &RawValue| {
        let inner = self::parse_members(value.get());
        !definition_lists(&inner).is_empty() || !wrappers(&inner, depth + 1).is_empty()
    };
    members
        .iter()
        .filter(|(key, value)| WRAPPER_KEYS.contains(&key.as_str()) && holds_lists(value))
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

/// A key that stands there twice.
pub(super) fn duplicate_key<'m>(members: &'m Members<'_>) -> Option<&'m str> {
    let mut keys: Vec<&str> = members.iter().map(|(key, _)| key.as_str()).collect();
    keys.sort_unstable();
    keys.windows(2)
        .find_map(|pair| (pair.first() == pair.last()).then(|| pair.first().copied())?)
}

/// The members of an object; none of anything else, or if there are absurdly many.
pub(super) fn parse_members(raw: &str) -> Members<'_> {
    serde_json::from_str::<RawObject<'_>>(raw).map_or_else(|_| Vec::new(), |scanned| scanned.0)
}

/// An object of which only the keys are read.
struct RawObject<'t>(Members<'t>);

impl<'t> Deserialize<'t> for RawObject<'t> {
    fn deserialize<D: Deserializer<'t>>(source: D) -> Result<Self, D::Error> {
        struct Keys;

        impl<'t> Visitor<'t> for Keys {
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

        source.deserialize_map(Keys)
    }
}

/// Hands on the elements of a list, one by one and never all at once, until told to stop.
pub(super) fn for_each_element<'t>(raw: &'t str, visit: impl FnMut(usize, &'t RawValue) -> bool) {
    struct Elements<F>(F);

    impl<'t, F: FnMut(usize, &'t RawValue) -> bool> Visitor<'t> for Elements<F> {
        type Value = ();

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list")
        }

        fn visit_seq<S: SeqAccess<'t>>(mut self, mut elements: S) -> Result<(), S::Error> {
            let mut at = 0;
            while let Some(element) = elements.next_element()? {
                if !(self.0)(at, element) {
                    return Err(S::Error::custom("stopped"));
                }
                at += 1;
            }
            Ok(())
        }
    }

    let mut source = serde_json::Deserializer::from_str(raw);
    // The text was scanned before: it is a list, and the only error is that we stop.
    let _ = source.deserialize_seq(Elements(visit));
}
