//! Canonical JSON text: equal values are written as equal text.

use serde_json::Value;

/// Writes a value as JSON with every object's keys sorted, so that equal values have equal text.
///
/// Numbers keep their form: `1` and `1.0` are different.
pub fn canonical_json(value: &Value) -> String {
    let mut sorted = value.clone();
    sorted.sort_all_objects();
    sorted.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_order_of_keys_does_not_show() {
        let one = json!({"b": [{"y": 1, "x": "a\"b"}], "a": null});
        let other = json!({"a": null, "b": [{"x": "a\"b", "y": 1}]});
        assert_eq!(canonical_json(&one), canonical_json(&other));
        assert_eq!(canonical_json(&one), r#"{"a":null,"b":[{"x":"a\"b","y":1}]}"#);
    }

    #[test]
    fn the_order_of_elements_does_show() {
        assert_ne!(canonical_json(&json!([1, 2])), canonical_json(&json!([2, 1])));
    }
}
