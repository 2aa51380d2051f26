//! Whatever it is given, it answers.

use serde_json::json;

use super::*;

#[test]
fn a_root_that_is_no_object_is_refused_everywhere() {
    let rows = [
        json!(null),
        json!(true),
        json!(false),
        json!(5),
        json!("object"),
        json!([]),
        json!([{"type": "object"}]),
        json!({}),
    ];
    for dialect in Dialect::ALL {
        for schema in &rows {
            let refusals = validate_for(dialect, schema);
            assert!(
                refusals.iter().any(|refusal| refusal.path.is_empty()),
                "{} takes {schema}",
                dialect.name()
            );
        }
    }
}

#[test]
fn a_description_is_text_everywhere() {
    for dialect in Dialect::ALL {
        let refusals =
            validate_for(dialect, &closed_object(json!({"type": "string", "description": ["d"]})));
        let reported = refusals.iter().any(|refusal| refusal.path.starts_with("/properties/a"));
        assert!(reported, "{} {refusals:?}", dialect.name());
    }
}

#[test]
fn depth_is_bounded() {
    let deep = (0..100_000).fold(json!({}), |inner, _| Value::Array(vec![inner]));
    let too_deep = nested(64, open_object);
    // The list of values is the 128th container.
    let choice = json!({"type": "string", "enum": ["a"]});
    let just_right = (0..63).fold(choice, |inner, _| open_object(inner));
    for dialect in Dialect::ALL {
        for schema in [&deep, &too_deep] {
            let refusals = validate_for(dialect, schema);
            assert_eq!(refusals.len(), 1);
            assert_eq!(refusals[0].to_string(), "root: a schema may not be deeper than 128");
        }
    }
    assert_accepts(Dialect::MCP, [just_right.clone()]);
    assert_accepts(Dialect::PORTABLE, [just_right]);
    // Dropping recurses too, and is not what is tested here.
    std::mem::forget(deep);
}

#[test]
fn size_is_bounded() {
    // The root, its type and its properties are values too.
    let of = |count: usize| json!({"type": "object", "properties": many_properties(count - 3, &json!({}))});
    let large = of(100_001);
    for dialect in Dialect::ALL {
        let refusals = validate_for(dialect, &large);
        assert_eq!(refusals.len(), 1);
        assert_eq!(refusals[0].rule, "a schema may have no more than 100000 values");
    }
    assert_accepts(Dialect::MCP, [of(100_000)]);
}

#[test]
fn the_list_of_refusals_is_bounded() {
    let wrong = json!({"type": "object", "properties": many_properties(500, &json!({"type": 5, "oneOf": 5}))});
    for dialect in Dialect::ALL {
        let refusals = validate_for(dialect, &wrong);
        assert!(!refusals.is_empty() && refusals.len() <= 100, "{}", dialect.name());
    }
}

#[test]
fn rules_do_not_repeat_long_text() {
    let long = "x".repeat(10_000);
    let schema = json!({"type": "object", "properties": {"a": {long.clone(): 1, "$ref": long, "format": long}}});
    for dialect in Dialect::ALL {
        for refusal in validate_for(dialect, &schema) {
            assert!(refusal.rule.len() < 300, "{refusal}");
        }
    }
}

#[test]
fn many_definitions_in_a_row_are_followed() {
    let count = 10_000;
    let link = |number: usize| json!({"$ref": format!("#/$defs/d{}", (number + 1) % count)});
    let ring: serde_json::Map<String, Value> =
        (0..count).map(|number| (format!("d{number}"), link(number))).collect();
    let refusals = validate_for(
        Dialect::ANTHROPIC_STRICT,
        &with_definitions(closed_object(json!({"$ref": "#/$defs/d0"})), ring.into()),
    );
    assert_eq!(refusals.len(), 1);
    assert!(refusals[0].rule.contains("recursive"));
}
