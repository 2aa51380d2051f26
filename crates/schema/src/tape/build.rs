//! Builds the items of a tape from text or from a value.

use std::{borrow::Cow, collections::HashSet, fmt};

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};

use super::{InputLimits, Item, Node, ParseError, buffer_pool};

/// Up to this many members, comparing all pairs of keys is cheaper than hashing them.
const MAX_PAIRWISE_KEYS: usize = 16;

/// serde_json itself fails at the next level, with a less specific error.
pub(super) const MAX_DEPTH: usize = 126;

/// serde_json gives keys with this prefix a special meaning when it reads a `Value`: the tool would receive something other
/// than what the validator saw.
const RESERVED_KEY_PREFIX: &str = "$serde_json::private::";

pub(super) fn from_text<'t>(
    text: &'t str,
    limits: &InputLimits,
) -> Result<Vec<Item<'t>>, ParseError> {
    let limit = limits.bytes.min(u32::MAX as usize);
    if text.len() > limit {
        return Err(ParseError::TooLong { bytes: text.len(), limit });
    }
    let depth = limits.depth.min(MAX_DEPTH);
    let mut builder = Builder {
        items: buffer_pool::acquire(),
        max_depth: depth,
        remaining_depth: depth,
        rejection: None,
    };
    let mut source = serde_json::Deserializer::from_str(text);
    let read = PushValue(&mut builder).deserialize(&mut source);
    match read.and_then(|()| source.end()) {
        Ok(()) => Ok(builder.items),
        Err(error) => Err(builder.rejection.unwrap_or_else(|| syntax_error(&error))),
    }
}

fn syntax_error(error: &serde_json::Error) -> ParseError {
    let (line, column) = (error.line(), error.column());
    let whole = error.to_string();
    let position = format!(" at line {line} column {column}");
    let message = whole.strip_suffix(&position).unwrap_or(&whole).to_owned();
    ParseError::Syntax { message, line, column, truncated: error.is_eof() }
}

struct Builder<'t> {
    items: Vec<Item<'t>>,
    max_depth: usize,
    remaining_depth: usize,
    /// A rejection by the builder: serde_json's error can only carry text.
    rejection: Option<ParseError>,
}

impl<'t> Builder<'t> {
    fn push<E>(&mut self, item: Item<'t>) -> Result<(), E> {
        self.items.push(item);
        Ok(())
    }

    /// Adds a key, and returns its bit for the duplicate check.
    fn key<E: Error>(&mut self, key: Cow<'t, str>) -> Result<u64, E> {
        if key.starts_with(RESERVED_KEY_PREFIX) {
            return Err(self.reject(ParseError::ReservedKey { key: key.into_owned() }));
        }
        let mark = key_bit(&key);
        self.items.push(Item::Text(key));
        Ok(mark)
    }

    fn open_container<E: Error>(&mut self) -> Result<usize, E> {
        match self.remaining_depth.checked_sub(1) {
            Some(left) => self.remaining_depth = left,
            None => return Err(self.reject(ParseError::TooDeep { limit: self.max_depth })),
        }
        let at = self.items.len();
        self.items.push(Item::Null);
        Ok(at)
    }

    fn close_container(&mut self, at: usize, item: Item<'t>) {
        self.remaining_depth += 1;
        if let Some(slot) = self.items.get_mut(at) {
            *slot = item;
        }
    }

    fn reject<E: Error>(&mut self, fault: ParseError) -> E {
        self.rejection = Some(fault);
        E::custom("refused")
    }
}

struct PushValue<'b, 't>(&'b mut Builder<'t>);

impl<'t> DeserializeSeed<'t> for PushValue<'_, 't> {
    type Value = ();

    fn deserialize<D: Deserializer<'t>>(self, source: D) -> Result<(), D::Error> {
        source.deserialize_any(self)
    }
}

struct PushKey<'b, 't>(&'b mut Builder<'t>);

impl<'t> DeserializeSeed<'t> for PushKey<'_, 't> {
    type Value = u64;

    fn deserialize<D: Deserializer<'t>>(self, source: D) -> Result<u64, D::Error> {
        source.deserialize_str(self)
    }
}

impl<'t> Visitor<'t> for PushKey<'_, 't> {
    type Value = u64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a key")
    }

    fn visit_borrowed_str<E: Error>(self, key: &'t str) -> Result<u64, E> {
        self.0.key(Cow::Borrowed(key))
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<u64, E> {
        self.0.key(Cow::Owned(key.to_owned()))
    }
}

impl<'t> Visitor<'t> for PushValue<'_, 't> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        self.0.push(Item::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<(), E> {
        self.0.push(Item::Bool(flag))
    }

    fn visit_u64<E>(self, number: u64) -> Result<(), E> {
        self.0.push(Item::Number(number.into()))
    }

    fn visit_i64<E>(self, number: i64) -> Result<(), E> {
        self.0.push(Item::Number(number.into()))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        let number = Number::from_f64(number).ok_or_else(|| E::custom("number out of range"))?;
        self.0.push(Item::Number(number))
    }

    fn visit_borrowed_str<E>(self, text: &'t str) -> Result<(), E> {
        self.0.push(Item::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        self.0.push(Item::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'t>>(self, mut elements: A) -> Result<(), A::Error> {
        let at = self.0.open_container()?;
        let mut len = 0;
        while elements.next_element_seed(PushValue(self.0))?.is_some() {
            len += 1;
        }
        let end = self.0.items.len() as u32;
        self.0.close_container(at, Item::Array { len, end });
        Ok(())
    }

    fn visit_map<A: MapAccess<'t>>(self, mut members: A) -> Result<(), A::Error> {
        let at = self.0.open_container()?;
        let (mut len, mut marks, mut suspect) = (0, 0, false);
        while let Some(mark) = members.next_key_seed(PushKey(self.0))? {
            members.next_value_seed(PushValue(self.0))?;
            suspect |= marks & mark != 0;
            marks |= mark;
            len += 1;
        }
        let end = self.0.items.len() as u32;
        self.0.close_container(at, Item::Object { len, end });
        let object = Node { items: &self.0.items, index: at as u32, deny_unknown_fields: true };
        match suspect.then(|| duplicate_key(object)).flatten() {
            None => Ok(()),
            Some(key) => Err(self.0.reject(ParseError::DuplicateKey { key })),
        }
    }
}

/// One bit of 64: equal keys have the same bit, different keys rarely do.
fn key_bit(key: &str) -> u64 {
    match key.as_bytes() {
        [first, .., last] => {
            let spread =
                first.wrapping_mul(5) ^ last.wrapping_mul(3) ^ (key.len() as u8).wrapping_mul(11);
            1 << (spread & 63)
        }
        [only] => 1 << (only & 63),
        [] => 1,
    }
}

fn duplicate_key(object: Node<'_>) -> Option<String> {
    let keys = || object.members().map(|(key, _)| key);
    let twice = if object.len() <= MAX_PAIRWISE_KEYS {
        let repeats = |(count, key): &(usize, &str)| keys().take(*count).any(|other| other == *key);
        keys().enumerate().find(repeats).map(|(_, key)| key)
    } else {
        let mut seen = HashSet::with_capacity(object.len());
        keys().find(|key| !seen.insert(*key))
    };
    twice.map(str::to_owned)
}

/// Subtracts the most bytes that the text of a value can have; `None` if they are too many, or the value is too deep.
pub(super) fn fits(value: &Value, depth: usize, remaining_bytes: &mut usize) -> Option<()> {
    /// A control character is written as `\u0000`.
    const MAX_ESCAPED_BYTES: usize = 6;
    let text_len = |text: &str| text.len().saturating_mul(MAX_ESCAPED_BYTES).saturating_add(2);
    let own_bytes = match value {
        Value::Null | Value::Bool(_) => "false".len(),
        Value::Number(_) => "-1.2345678901234567e-300".len(),
        Value::String(text) => text_len(text),
        // A pair of brackets, and a comma and a colon for each child.
        Value::Array(elements) => 2 + elements.len(),
        Value::Object(members) => 2 + 2 * members.len(),
    };
    *remaining_bytes = remaining_bytes.checked_sub(own_bytes)?;
    match value {
        Value::Array(elements) => {
            let depth = depth.checked_sub(1)?;
            elements.iter().try_for_each(|element| fits(element, depth, remaining_bytes))
        }
        Value::Object(members) => {
            let depth = depth.checked_sub(1)?;
            members.iter().try_for_each(|(key, member)| {
                if key.starts_with(RESERVED_KEY_PREFIX) {
                    return None;
                }
                *remaining_bytes = remaining_bytes.checked_sub(text_len(key))?;
                fits(member, depth, remaining_bytes)
            })
        }
        _ => Some(()),
    }
}

pub(super) fn from_value(value: &Value) -> Vec<Item<'_>> {
    let mut items = buffer_pool::acquire();
    push_value(value, &mut items);
    items
}

fn push_value<'t>(value: &'t Value, items: &mut Vec<Item<'t>>) {
    match value {
        Value::Null => items.push(Item::Null),
        Value::Bool(flag) => items.push(Item::Bool(*flag)),
        Value::Number(number) => items.push(Item::Number(number.clone())),
        Value::String(text) => items.push(Item::Text(Cow::Borrowed(text))),
        Value::Array(elements) => {
            let (at, len) = (items.len(), elements.len() as u32);
            items.push(Item::Array { len, end: 0 });
            elements.iter().for_each(|element| push_value(element, items));
            set_end(items, at);
        }
        Value::Object(members) => {
            let (at, len) = (items.len(), members.len() as u32);
            items.push(Item::Object { len, end: 0 });
            for (key, member) in members {
                items.push(Item::Text(Cow::Borrowed(key)));
                push_value(member, items);
            }
            set_end(items, at);
        }
    }
}

/// Completes a container after its children.
fn set_end(items: &mut [Item<'_>], at: usize) {
    let len = items.len() as u32;
    if let Some(Item::Array { end, .. } | Item::Object { end, .. }) = items.get_mut(at) {
        *end = len;
    }
}
