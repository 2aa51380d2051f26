//! The text of a list or an object in, its parts out, unread.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::input::SCHEMAS;

/// How deep lists of definitions may be wrapped.
pub(super) const DEEPEST: usize = 8;

/// More members than these no definition has, and nothing that definitions are wrapped in.
const MOST_MEMBERS: usize = 10_000;

/// Where a list of definitions is found in an object.
const LISTS: [&str; 5] = [
    "tools",
    "functions",
    "function",
    "functionDeclarations",
    "function_declarations",
];

/// Where an object with such a list is found: answers, requests in a batch, Bedrock's settings.
const WRAPPERS: [&str; 6] = [
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
pub(super) fn lists<'m, 't>(members: &'m Members<'t>) -> Vec<&'m (String, &'t RawValue)> {
    // A definition may hold such a list too, but then it is not wrapped in this object: it is this object.
    if has(members, &SCHEMAS) {
        return Vec::new();
    }
    members
        .iter()
        .filter(|(key, value)| is_list(key, value))
        .collect()
}

/// The members that hold objects which hold such lists.
pub(super) fn wrappers<'m, 't>(
    members: &'m Members<'t>,
    depth: usize,
) -> Vec<&'m (String, &'t RawValue)> {
    if depth > DEEPEST || has(members, &["name"]) {
        return Vec::new();
    }
    let holds_lists = |value: &RawValue| {
        let inner = self::members(value.get());
        !lists(&inner).is_empty() || !wrappers(&inner, depth + 1).is_empty()
    };
    members
        .iter()
        .filter(|(key, value)| WRAPPERS.contains(&key.as_str()) && holds_lists(value))
        .collect()
}

fn has(members: &Members<'_>, keys: &[&str]) -> bool {
    members.iter().any(|(key, _)| keys.contains(&key.as_str()))
}

fn is_list(key: &str, value: &RawValue) -> bool {
    let text = || serde_json::from_str::<String>(value.get()).unwrap_or_default();
    LISTS.contains(&key)
        && match value.get().as_bytes().first() {
            Some(b'[') => true,
            Some(b'"') => text().trim_start().starts_with('['),
            _ => false,
        }
}

/// A key that stands there twice.
pub(super) fn doubled<'m>(members: &'m Members<'_>) -> Option<&'m str> {
    let mut keys: Vec<&str> = members.iter().map(|(key, _)| key.as_str()).collect();
    keys.sort_unstable();
    keys.windows(2)
        .find_map(|pair| (pair.first() == pair.last()).then(|| pair.first().copied())?)
}

/// The members of an object; none of anything else, or if there are absurdly many.
pub(super) fn members(raw: &str) -> Members<'_> {
    serde_json::from_str::<Scanned<'_>>(raw).map_or_else(|_| Vec::new(), |scanned| scanned.0)
}

/// An object of which only the keys are read.
struct Scanned<'t>(Members<'t>);

impl<'t> Deserialize<'t> for Scanned<'t> {
    fn deserialize<D: Deserializer<'t>>(source: D) -> Result<Self, D::Error> {
        struct Keys;

        impl<'t> Visitor<'t> for Keys {
            type Value = Scanned<'t>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'t>>(self, mut map: M) -> Result<Scanned<'t>, M::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry::<String, &RawValue>()? {
                    members.push(member);
                    if members.len() > MOST_MEMBERS {
                        return Err(M::Error::custom("too many members"));
                    }
                }
                Ok(Scanned(members))
            }
        }

        source.deserialize_map(Keys)
    }
}

/// Hands on the elements of a list, one by one and never all at once, until told to stop.
pub(super) fn each<'t>(raw: &'t str, visit: impl FnMut(usize, &'t RawValue) -> bool) {
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
