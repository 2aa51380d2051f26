//! What strict modes have in common.

use serde_json::json;

use super::*;

const STRICT: [Dialect; 3] =
    [Dialect::OPENAI_STRICT, Dialect::ANTHROPIC_STRICT, Dialect::DEEPSEEK_STRICT];

#[test]
fn the_root_is_plain() {
    for dialect in STRICT {
        let mut schema = closed_object(json!({"type": "null"}));
        schema["anyOf"] = json!([closed_object(json!({"type": "null"}))]);
        assert_rejects(dialect, [(schema, "", "`anyOf` is not accepted at the root")]);
        let mut schema = closed_object(json!({"type": "null"}));
        schema.as_object_mut().unwrap().remove("type");
        assert_rejects(dialect, [(schema, "", "must have `type: \"object\"`")]);
    }
}

#[test]
fn definitions_stand_at_the_root() {
    for dialect in STRICT {
        let inner = with_definitions(
            closed_object(json!({"type": "null"})),
            json!({"n": {"type": "null"}}),
        );
        assert_rejects(
            dialect,
            [(closed_object(inner), "/properties/a", "`$defs` is accepted only at the root")],
        );
    }
}

#[test]
fn only_properties_are_required() {
    for dialect in STRICT {
        let mut schema = closed_object(json!({"type": "null"}));
        schema["required"] = json!(["a", "b"]);
        assert_rejects(dialect, [(schema, "", "names `b`, which is no property")]);
    }
}

#[test]
fn schemas_are_objects() {
    for dialect in STRICT {
        let list = closed_object(json!({"type": "array", "items": true}));
        assert_rejects(
            dialect,
            [
                (closed_object(json!(true)), "/properties/a", "must be a JSON object"),
                (list, "/properties/a/items", "must be a JSON object"),
            ],
        );
    }
}

#[test]
fn objects_say_that_they_have_no_properties() {
    let silent = json!({"type": "object", "additionalProperties": false});
    assert_accepts(Dialect::ANTHROPIC_STRICT, [silent.clone()]);
    for dialect in [Dialect::OPENAI_STRICT, Dialect::DEEPSEEK_STRICT] {
        assert_rejects(dialect, [(silent.clone(), "", "an object must have `properties`")]);
    }
}
