//! A definition with everything that providers dislike at once.

use serde_json::{Value, json};

use crate::{Dialect, Schema, Tape, validate_for};

/// As many objects within each other.
fn nested(levels: usize) -> Value {
    (1..levels).fold(
        json!({"type": "object", "properties": {"end": {"type": "string"}}, "additionalProperties": false}),
        |inner, _| json!({"type": "object", "properties": {"in": inner}, "additionalProperties": false}),
    )
}

fn awful() -> Schema {
    let countries: Vec<String> = (0..200).map(|number| format!("country-{number}")).collect();
    let schema = json!({
        "type": "object",
        "properties": {
            "tree": {"$ref": "#/$defs/node"},
            "labels": {"type": "object", "patternProperties": {"^x-": {"type": "string"}}, "additionalProperties": false},
            "tone": {"type": "string", "not": {"pattern": "^rude"}},
            "point": {"type": "array", "prefixItems": [{"type": "number"}, {"type": "string"}], "items": false, "minItems": 2},
            "größe": {"type": "integer", "description": "In centimetres.", "minimum": 0},
            "country": {"type": "string", "enum": countries},
            "deep": nested(29),
        },
        "required": ["größe", "country"],
        "additionalProperties": false,
        "$defs": {
            "node": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
                "required": ["name"],
                "additionalProperties": false,
            },
        },
    });
    Schema::check(schema).unwrap()
}

/// The losses of one property, and of what is in it.
fn losses(schema: &Schema, dialect: Dialect, property: &str) -> Vec<String> {
    let place = format!("/properties/{property}");
    let lowered = schema.lower(dialect).unwrap();
    let all = lowered.losses().iter();
    all.filter(|loss| loss.path.starts_with(&place)).map(ToString::to_string).collect()
}

#[test]
fn an_awful_definition_is_accepted_everywhere() {
    let schema = awful();
    for dialect in Dialect::ALL {
        let lowered = schema.lower(dialect).unwrap();
        let refusals = validate_for(dialect, lowered.schema());
        assert!(refusals.is_empty(), "{dialect}: {refusals:?}");
    }
}

#[test]
fn where_any_schema_is_taken_nothing_is_lost() {
    let schema = awful();
    for dialect in
        [Dialect::OPENAI, Dialect::ANTHROPIC, Dialect::GROQ, Dialect::DEEPSEEK, Dialect::MCP]
    {
        let lowered = schema.lower(dialect).unwrap();
        assert_eq!(lowered.losses(), [], "{dialect}");
        assert_eq!(lowered.schema(), schema.as_value(), "{dialect}");
    }
}

#[test]
fn the_report_names_every_place() {
    let schema = awful();
    for (property, lost) in [
        ("labels", "labels: patternProperties (wider), described as "),
        ("tone", "tone: not (wider), described as "),
        ("point", "point: prefixItems (wider), described as "),
        ("tree", ": $ref (wider), described as \"again as in `node`\""),
    ] {
        for dialect in [
            Dialect::ANTHROPIC_STRICT,
            Dialect::DEEPSEEK_STRICT,
            Dialect::GEMINI_OPENAPI,
            Dialect::OLLAMA,
            Dialect::PORTABLE,
        ] {
            let losses = losses(&schema, dialect, property);
            assert!(losses.iter().any(|loss| loss.contains(lost)), "{dialect}: {losses:#?}");
        }
    }
}

#[test]
fn openai_supports_more_and_loses_less() {
    let schema = awful();
    assert_eq!(losses(&schema, Dialect::OPENAI_STRICT, "tree"), [""; 0]);
    assert_eq!(
        losses(&schema, Dialect::OPENAI_STRICT, "country"),
        [""; 0],
        "two hundred values fit"
    );
    let deep = losses(&schema, Dialect::OPENAI_STRICT, "deep");
    assert_eq!(deep.len(), 1, "{deep:#?}");
    assert!(
        deep[0].contains(&"/properties/in/anyOf/0".repeat(9)) && deep[0].contains("as JSON text"),
        "{deep:#?}"
    );
}

#[test]
fn an_invalid_name_is_renamed_and_restored() {
    let schema = awful();
    for dialect in [Dialect::GEMINI, Dialect::GEMINI_OPENAPI, Dialect::PORTABLE] {
        let lowered = schema.lower(dialect).unwrap();
        let properties = lowered.schema()["properties"].as_object().unwrap();
        assert!(!properties.contains_key("größe"), "{dialect}");
        let mut arguments = json!({"größe": 180, "country": "country-7"});
        lowered.lower_arguments(&mut arguments);
        let sent: Vec<&String> = arguments.as_object().unwrap().keys().collect();
        assert!(sent.iter().all(|name| properties.contains_key(*name)), "{sent:?}");
    }
}

#[test]
fn valid_arguments_go_there_and_back() {
    let schema = awful();
    let deep = (1..29).fold(json!({"end": "here"}), |inner, _| json!({ "in": inner }));
    for arguments in [
        json!({"größe": 180, "country": "country-7"}),
        json!({"größe": 0, "country": "country-199", "tone": "kind", "labels": {}}),
        json!({"größe": 1, "country": "country-0", "labels": {"x-a": "1"}}),
        json!({"größe": 2, "country": "country-1", "point": [1.5, "a"]}),
        json!({"größe": 3, "country": "country-2", "tree": {"name": "a", "children": [{"name": "b"}]}}),
        json!({"größe": 4, "country": "country-3", "deep": deep}),
    ] {
        assert!(schema.is_valid(Tape::from_value(&arguments).root()), "{arguments}");
        for dialect in Dialect::ALL {
            let lowered = schema.lower(dialect).unwrap();
            let mut there = arguments.clone();
            lowered.lower_arguments(&mut there);
            lowered.lift_arguments(&mut there);
            assert_eq!(there, arguments, "{dialect}");
        }
    }
}
