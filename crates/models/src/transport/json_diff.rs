//! Finds the first difference between two JSON values.

use serde_json::Value;
use toolwright_core::schema::escape_pointer_token;

use super::redactor::REDACTED;
use crate::excerpt::excerpt;

/// Describes the first difference; the order of keys is ignored, and `***` in `recorded` matches any text.
pub(super) fn first_difference(recorded: &Value, sent: &Value) -> Option<String> {
    difference_at("", Some(recorded), Some(sent))
}

fn difference_at(pointer: &str, recorded: Option<&Value>, sent: Option<&Value>) -> Option<String> {
    match (recorded, sent) {
        (Some(Value::Object(recorded)), Some(Value::Object(sent))) => {
            let mut names: Vec<&String> = recorded.keys().collect();
            names.extend(sent.keys().filter(|name| !recorded.contains_key(*name)));
            names.into_iter().find_map(|name| {
                let token = escape_pointer_token(name);
                difference_at(&format!("{pointer}/{token}"), recorded.get(name), sent.get(name))
            })
        }
        (Some(Value::Array(recorded)), Some(Value::Array(sent))) => {
            (0..recorded.len().max(sent.len())).find_map(|index| {
                difference_at(&format!("{pointer}/{index}"), recorded.get(index), sent.get(index))
            })
        }
        (Some(Value::String(recorded)), Some(Value::String(sent)))
            if matches_redacted_text(recorded, sent) =>
        {
            None
        }
        (Some(recorded), Some(sent)) if scalars_equal(recorded, sent) => None,
        (recorded, sent) => {
            let pointer = if pointer.is_empty() { "the root" } else { pointer };
            Some(format!(
                "at {pointer}: recorded {}, sent {}",
                excerpt_of_value(recorded),
                excerpt_of_value(sent)
            ))
        }
    }
}

/// Returns true if `sent` matches `recorded`, of which parts may be redacted.
fn matches_redacted_text(recorded: &str, sent: &str) -> bool {
    let mut parts = recorded.split(REDACTED);
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = sent.strip_prefix(first) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.find(part) {
            Some(found) => rest = rest.get(found + part.len()..).unwrap_or_default(),
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Returns true if two scalars are equal; 1 and 1.0 are.
fn scalars_equal(recorded: &Value, sent: &Value) -> bool {
    recorded == sent || recorded.is_number() && recorded.as_f64() == sent.as_f64()
}

fn excerpt_of_value(value: Option<&Value>) -> String {
    match value {
        Some(value) => format!("`{}`", excerpt(&value.to_string())),
        None => "nothing".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::first_difference;

    #[test]
    fn the_order_of_keys_does_not_count() {
        let recorded = json!({"a": 1, "b": {"c": [1, 2], "d": null}});
        let sent = json!({"b": {"d": null, "c": [1, 2.0]}, "a": 1.0});
        assert_eq!(first_difference(&recorded, &sent), None);
    }

    #[test]
    fn the_first_difference_is_described() {
        let recorded = json!({"model": "m", "messages": [{"content": "a"}, {"content": "b"}]});
        for (sent, expected) in [
            (
                json!({"model": "m", "messages": [{"content": "a"}, {"content": "c"}]}),
                r#"at /messages/1/content: recorded `"b"`, sent `"c"`"#,
            ),
            (
                json!({"model": "m", "messages": [{"content": "a"}]}),
                r#"at /messages/1: recorded `{"content":"b"}`, sent nothing"#,
            ),
            (
                json!({"model": "m", "messages": recorded["messages"], "a/b": 1}),
                "at /a~1b: recorded nothing, sent `1`",
            ),
            (json!([]), r#"at the root: recorded `{"model":"m""#),
        ] {
            let found = first_difference(&recorded, &sent).unwrap();
            assert!(found.starts_with(expected), "{found}");
        }
    }

    #[test]
    fn redacted_text_matches_any_text() {
        let recorded = json!(["***", "Bearer ***!", "plain"]);
        assert_eq!(first_difference(&recorded, &json!(["x", "Bearer abc!", "plain"])), None);
        assert!(first_difference(&recorded, &json!(["x", "Basic abc!", "plain"])).is_some());
        assert!(first_difference(&recorded, &json!(["x", "Bearer abc!", "plain "])).is_some());
    }
}
