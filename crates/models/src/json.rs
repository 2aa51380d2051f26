//! What the protocols do alike with JSON: fields are read that may be anything, and added to what there is.

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use toolwright_core::schema::{Limits, repair};

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

/// Adds fields as they are: to objects that are there already, else in place of what is there.
pub(crate) fn merge(into: &mut Map<String, Value>, extra: &Map<String, Value>) {
    for (name, value) in extra {
        match (into.get_mut(name), value) {
            (Some(Value::Object(into)), Value::Object(extra)) => merge(into, extra),
            _ => {
                into.insert(name.clone(), value.clone());
            }
        }
    }
}

/// A number as it was written: 0.7, not the 0.699999988 that is nearest to it in half the bits.
pub(crate) fn number(number: f32) -> Option<Value> {
    let wide: f64 = number.to_string().parse().ok()?;
    wide.is_finite().then(|| wide.into())
}

/// Arguments of the past as the object that an API takes them for.
pub(crate) fn object(arguments: &str) -> Value {
    if arguments.trim().is_empty() {
        return json!({});
    }
    let tidy = repair(arguments, &Limits::default()).ok();
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

    use super::{number, object};

    #[test]
    fn numbers_are_written_as_they_were_meant() {
        assert_eq!(number(0.7), Some(json!(0.7)));
        assert_eq!(number(f32::NAN), None);
        assert_eq!(number(f32::INFINITY), None);
    }

    #[test]
    fn arguments_become_an_object_whatever_they_are() {
        assert_eq!(object(" "), json!({}));
        assert_eq!(object("{'a': 1,}"), json!({"a": 1}));
        assert_eq!(object("[1]"), json!({"malformed": "[1]"}));
        assert_eq!(object("{\"a\": "), json!({"malformed": "{\"a\": "}));
    }
}
