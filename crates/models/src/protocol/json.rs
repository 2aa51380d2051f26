//! JSON helpers of all protocols: lenient parsing, merging, repair.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use toolwright_core::schema::{InputLimits, repair};

pub(crate) type JsonObject = Map<String, Value>;

/// Deserializes a field; the default if its value has another type, so that one odd field does not fail the frame.
pub(crate) fn lenient<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    let raw = <&RawValue>::deserialize(deserializer)?;
    Ok(serde_json::from_str(raw.get()).unwrap_or_default())
}

/// Defines structs of a vendor's JSON, visible to its protocol: every field is [`lenient`] and may be missing, unknown fields
/// are ignored.
macro_rules! lenient_structs {
    ($($(#[$attribute:meta])* struct $name:ident $(<$lifetime:lifetime>)? {
        $($(#[$field_attribute:meta])* $field:ident: $type:ty,)*
    })*) => {$(
        #[derive(Debug, Default, serde::Deserialize)]
        #[serde(default)]
        $(#[$attribute])*
        pub(super) struct $name $(<$lifetime>)? {
            $(
                $(#[$field_attribute])*
                #[serde(deserialize_with = "crate::protocol::json::lenient")]
                pub(super) $field: $type,
            )*
        }
    )*};
}
pub(crate) use lenient_structs;

/// Replaces a count of tokens, if a later frame has it.
pub(crate) fn replace_count(count: &mut Option<u64>, later: Option<u64>) {
    *count = later.or(*count);
}

/// Replaces escaped lone surrogates by `\ufffd`.
///
/// A server that splits a text by UTF-16 code units sends such halves. JSON allows them, but a `String` cannot hold them, and
/// the whole frame would fail to parse.
pub(crate) fn replace_lone_surrogates(json: &str) -> Cow<'_, str> {
    let unit = |at: usize| {
        let digits = json.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let mut replaced = String::new();
    let mut copied = 0;
    let mut from = 0;
    while let Some(offset) = json.get(from..).and_then(|rest| rest.find('\\')) {
        let at = from + offset;
        from = match (unit(at), unit(at + 6)) {
            (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => at + 12,
            (Some(0xd800..0xe000), _) => {
                replaced.push_str(json.get(copied..at).unwrap_or_default());
                replaced.push_str("\\ufffd");
                copied = at + 6;
                copied
            }
            _ => at + 2,
        };
    }
    if copied == 0 {
        return Cow::Borrowed(json);
    }
    replaced.push_str(json.get(copied..).unwrap_or_default());
    Cow::Owned(replaced)
}

/// An object with these fields, without those that are null.
pub(crate) fn object<const N: usize>(fields: [(&str, Value); N]) -> JsonObject {
    let fields = fields.into_iter().filter(|(_, value)| !value.is_null());
    fields.map(|(name, value)| (name.to_owned(), value)).collect()
}

/// A value; null, which [`object`] leaves out, if it is empty.
pub(crate) fn unless_empty(value: impl Into<Value>) -> Value {
    Some(value.into()).filter(|value| !is_empty(value)).unwrap_or_default()
}

pub(crate) fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

/// Merges `extra` into `into`: objects are merged recursively, other values replaced.
pub(crate) fn merge_objects(into: &mut JsonObject, extra: &JsonObject) {
    for (name, value) in extra {
        match (into.get_mut(name), value) {
            (Some(Value::Object(into)), Value::Object(extra)) => merge_objects(into, extra),
            _ => {
                into.insert(name.clone(), value.clone());
            }
        }
    }
}

/// Converts an `f32` by its shortest decimal form: 0.7, not 0.699999988; null if it is missing or not finite.
pub(crate) fn number(number: Option<f32>) -> Value {
    let wide = number.and_then(|number| number.to_string().parse::<f64>().ok());
    wide.filter(|wide| wide.is_finite()).into()
}

/// Parses the arguments of an earlier call, repaired if necessary, into the object that an API requires.
pub(crate) fn arguments_object(arguments: &str) -> Value {
    if arguments.trim().is_empty() {
        return json!({});
    }
    let repaired = repair(arguments, &InputLimits::default()).ok();
    let repaired = repaired.as_ref().map(|repair| repair.text.as_str());
    [Some(arguments), repaired]
        .into_iter()
        .flatten()
        .find_map(|text| serde_json::from_str(text).ok().filter(Value::is_object))
        // The model still needs to see what it sent: the call's result refers to it.
        .unwrap_or_else(|| json!({"malformed": arguments}))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{arguments_object, number, replace_lone_surrogates};

    #[test]
    fn a_lone_surrogate_becomes_a_replacement_character() {
        for (json, replaced) in [
            (r#""plain""#, r#""plain""#),
            (r#""\ud83c\udf0d \n \\ud83c""#, r#""\ud83c\udf0d \n \\ud83c""#),
            (r#""a\ud83c""#, r#""a\ufffd""#),
            (r#""\uDF0D\ud83cé\ud83c\ud83c\udf0d""#, r#""\ufffd\ufffdé\ufffd\ud83c\udf0d""#),
            (r#""\ud8"#, r#""\ud8"#),
            (r"\é\", r"\é\"),
        ] {
            assert_eq!(replace_lone_surrogates(json), replaced);
        }
    }

    #[test]
    fn numbers_are_written_as_they_were_meant() {
        assert_eq!(number(Some(0.7)), json!(0.7));
        assert_eq!(number(Some(f32::NAN)), json!(null));
        assert_eq!(number(Some(f32::INFINITY)), json!(null));
    }

    #[test]
    fn arguments_become_an_object_whatever_they_are() {
        assert_eq!(arguments_object(" "), json!({}));
        assert_eq!(arguments_object("{'a': 1,}"), json!({"a": 1}));
        assert_eq!(arguments_object("[1]"), json!({"malformed": "[1]"}));
        assert_eq!(arguments_object("{\"a\": "), json!({"malformed": "{\"a\": "}));
    }
}
