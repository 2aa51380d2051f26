//! What the protocols do alike with JSON: fields are read that may be anything, and added to what there is.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use toolwright_core::schema::{InputLimits, repair};

/// Reads a field, or takes it for missing if it is not what it should be.
pub(crate) fn lenient<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    let raw = <&RawValue>::deserialize(deserializer)?;
    // Raw JSON would be there even for null.
    if raw.get() == "null" {
        return Ok(None);
    }
    Ok(serde_json::from_str(raw.get()).ok())
}

/// The same JSON with whole letters only: half of one, escaped by itself, becomes the mark of what cannot be read.
///
/// Who cuts a text by its UTF-16 sends such halves. JSON may hold them; a text here may not, and would be lost.
pub(crate) fn replace_lone_surrogates(json: &str) -> Cow<'_, str> {
    let unit = |at: usize| {
        let digits = json.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let mut mended = String::new();
    let mut kept = 0;
    let mut from = 0;
    while let Some(place) = json.get(from..).and_then(|rest| rest.find('\\')) {
        let at = from + place;
        from = match (unit(at), unit(at + 6)) {
            (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => at + 12,
            (Some(0xd800..0xe000), _) => {
                mended.push_str(json.get(kept..at).unwrap_or_default());
                mended.push_str("\\ufffd");
                kept = at + 6;
                kept
            }
            _ => at + 2,
        };
    }
    if kept == 0 {
        return Cow::Borrowed(json);
    }
    mended.push_str(json.get(kept..).unwrap_or_default());
    Cow::Owned(mended)
}

/// Adds fields as they are: to objects that are there already, else in place of what is there.
pub(crate) fn merge_objects(into: &mut Map<String, Value>, extra: &Map<String, Value>) {
    for (name, value) in extra {
        match (into.get_mut(name), value) {
            (Some(Value::Object(into)), Value::Object(extra)) => merge_objects(into, extra),
            _ => {
                into.insert(name.clone(), value.clone());
            }
        }
    }
}

/// A number as it was written: 0.7, not the 0.699999988 that is nearest to it in half the bits.
pub(crate) fn number_from_f32(number: f32) -> Option<Value> {
    let wide: f64 = number.to_string().parse().ok()?;
    wide.is_finite().then(|| wide.into())
}

/// Arguments of the past as the object that an API takes them for.
pub(crate) fn arguments_object(arguments: &str) -> Value {
    if arguments.trim().is_empty() {
        return json!({});
    }
    let tidy = repair(arguments, &InputLimits::default()).ok();
    let tidy = tidy.as_ref().map(|repaired| repaired.text.as_str());
    [Some(arguments), tidy]
        .into_iter()
        .flatten()
        .find_map(|text| serde_json::from_str(text).ok().filter(Value::is_object))
        // What cannot be read is still told: the result speaks of it.
        .unwrap_or_else(|| json!({"malformed": arguments}))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{arguments_object, number_from_f32, replace_lone_surrogates};

    #[test]
    fn half_a_letter_becomes_the_mark_of_one() {
        for (json, whole) in [
            (r#""plain""#, r#""plain""#),
            (
                r#""\ud83c\udf0d \n \\ud83c""#,
                r#""\ud83c\udf0d \n \\ud83c""#,
            ),
            (r#""a\ud83c""#, r#""a\ufffd""#),
            (
                r#""\uDF0D\ud83cé\ud83c\ud83c\udf0d""#,
                r#""\ufffd\ufffdé\ufffd\ud83c\udf0d""#,
            ),
            (r#""\ud8"#, r#""\ud8"#),
            (r"\é\", r"\é\"),
        ] {
            assert_eq!(replace_lone_surrogates(json), whole);
        }
    }

    #[test]
    fn numbers_are_written_as_they_were_meant() {
        assert_eq!(number_from_f32(0.7), Some(json!(0.7)));
        assert_eq!(number_from_f32(f32::NAN), None);
        assert_eq!(number_from_f32(f32::INFINITY), None);
    }

    #[test]
    fn arguments_become_an_object_whatever_they_are() {
        assert_eq!(arguments_object(" "), json!({}));
        assert_eq!(arguments_object("{'a': 1,}"), json!({"a": 1}));
        assert_eq!(arguments_object("[1]"), json!({"malformed": "[1]"}));
        assert_eq!(
            arguments_object("{\"a\": "),
            json!({"malformed": "{\"a\": "})
        );
    }
}
