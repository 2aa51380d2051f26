//! OpenAI with strict mode: how large a schema may be.

use serde_json::json;

use crate::provider_rules::tests::*;

#[test]
fn keeps_a_budget() {
    let enumeration = |count: usize, length: usize| {
        let values: Vec<String> = (0..count).map(|number| format!("{number:0length$}")).collect();
        json!({"type": "string", "enum": values})
    };
    let all = |properties: Value| {
        let names: Vec<&String> = properties.as_object().unwrap().keys().collect();
        json!({"type": "object", "required": names, "properties": properties, "additionalProperties": false})
    };
    let text = json!({"type": "string"});
    let list = |inner: Value| json!({"type": "array", "items": inner});
    let deep = |levels| {
        with_definitions(
            closed_object(json!({"$ref": "#/$defs/n"})),
            json!({"n": nested(levels, closed_object)}),
        )
    };
    assert_accepts(
        Dialect::OPENAI_STRICT,
        [
            nested(10, closed_object),
            closed_object(nested(9, list)),
            deep(10),
            all(many_properties(5_000, &text)),
            closed_object(enumeration(1_000, 15)),
            closed_object(enumeration(250, 400)),
            all(many_properties(2, &enumeration(500, 30))),
            closed_object(json!({"type": "string", "const": "é".repeat(119_999)})),
        ],
    );
    let eleventh = "/properties/a".repeat(10);
    let items = format!("/properties/a{}", "/items".repeat(9));
    assert_rejects(
        Dialect::OPENAI_STRICT,
        [
            (nested(11, closed_object), eleventh.as_str(), "no deeper than 10 levels"),
            (nested(20, closed_object), eleventh.as_str(), "no deeper than 10 levels"),
            (closed_object(nested(10, list)), items.as_str(), "no deeper than 10 levels"),
            (deep(11), format!("/$defs/n{eleventh}").as_str(), "no deeper than 10 levels"),
            (all(many_properties(5_001, &text)), "", "5001 properties, and at most 5000"),
            (closed_object(enumeration(1_001, 4)), "", "1001 enum values, and at most 1000"),
            (all(many_properties(4, &enumeration(251, 4))), "", "1004 enum values"),
            (
                closed_object(enumeration(251, 60)),
                "/properties/a",
                "15000 characters, and this one has 15060",
            ),
            (
                closed_object(json!({"type": "string", "const": "é".repeat(120_000)})),
                "",
                "120001 characters",
            ),
            (all(json!({"n".repeat(120_001): text})), "", "120001 characters"),
            (
                with_definitions(closed_object(text.clone()), json!({"n".repeat(120_000): text})),
                "",
                "120001 characters",
            ),
        ],
    );
}
