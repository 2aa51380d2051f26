//! Properties, and who of them is required.

use serde_json::json;

use super::{assert_normalises, assert_unchanged, refusal};

#[test]
fn no_parameters_at_all_are_an_empty_object() {
    let none = json!({"type": "object", "properties": {}});
    assert_normalises(json!(null), none.clone(), &[]);
    assert_normalises(json!({}), none.clone(), &[]);
    assert_normalises(json!([]), none.clone(), &["[] read as no parameters"]);
    assert_normalises(json!("  "), none.clone(), &["blank text read as no parameters"]);
    assert_normalises(
        json!({"type": "object", "properties": null, "required": null}),
        none,
        &["`properties: null` read as {}", "`required: null` dropped"],
    );
    assert_unchanged(json!({"type": "object"}));
    assert_unchanged(json!(true));
}

#[test]
fn an_object_that_only_names_its_properties_gets_its_type() {
    assert_normalises(
        json!({"properties": {"a": {"type": "string"}}}),
        json!({"type": "object", "properties": {"a": {"type": "string"}}}),
        &["type \"object\" added: it has properties"],
    );
}

#[test]
fn properties_are_read_from_whatever_they_were_put_in() {
    assert_normalises(
        json!({"type": "object", "properties": {"city": "string", "days": "int", "extra": null, "never": false}}),
        json!({"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "extra": {}, "never": false}}),
        &[
            r#"/properties/city: "string" read as {"type":"string"}"#,
            r#"/properties/days: "int" read as {"type":"integer"}"#,
            "/properties/extra: null read as any value",
        ],
    );
    let list = json!([{"name": "city", "type": "string", "required": true}, {"days": {"type": "integer"}}, "extra"]);
    let after = json!({
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}, "extra": {}},
        "required": ["city"]
    });
    let notes = [
        "a list in `properties` read as an object",
        "/properties/extra: null read as any value",
        "/properties/city: `required: true` read as required by the object",
    ];
    assert_normalises(json!({"type": "object", "properties": list}), after.clone(), &notes);
    let mut of_root = vec!["a list read as the parameters of an object"];
    of_root.extend(notes);
    assert_normalises(list, after, &of_root);
}

#[test]
fn a_property_that_is_no_schema_is_refused() {
    let of = |property| refusal(json!({"type": "object", "properties": {"x": property}}));
    assert_eq!(of(json!("The city.")), "/properties/x: \"The city.\" is no type");
    assert_eq!(of(json!(5)), "/properties/x: a schema is an object or a boolean, not 5");
    assert_eq!(
        of(json!(["string"])),
        "/properties/x: a schema is an object or a boolean, not an array"
    );
    assert_eq!(
        of(json!({"colour": "red", "size": 5})),
        "/properties/x/colour: `colour` is no keyword; a parameter belongs in `properties`"
    );
    assert_eq!(
        refusal(json!({"type": "object", "properties": "city"})),
        "/properties: expected an object of schemas, got \"city\""
    );
    assert_eq!(
        refusal(json!({"properties": [{"type": "string"}]})),
        "/properties/0: a property without a `name`"
    );
    assert_eq!(
        refusal(json!({"properties": ["a", {"name": "a"}]})),
        "/properties/1: `a` is named twice"
    );
}

#[test]
fn parameters_without_properties_around_them_are_found() {
    assert_normalises(
        json!({"city": {"type": "str", "description": "Where."}, "description": {"type": "str"}, "days": "int"}),
        json!({
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "Where."},
                "description": {"type": "string"},
                "days": {"type": "integer"}
            }
        }),
        &[
            "`city` read as a property",
            "`description` read as a property",
            "`days` read as a property",
            "/properties/city: type \"str\" read as \"string\"",
            "/properties/description: type \"str\" read as \"string\"",
            "/properties/days: \"int\" read as {\"type\":\"integer\"}",
        ],
    );
    assert_normalises(
        json!({"type": "object", "id": {"type": "string"}, "required": ["id"]}),
        json!({"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}}),
        &["`id` read as a property"],
    );
    assert_unchanged(
        json!({"type": "object", "additionalProperties": {"type": "string"}, "x-ui": {"type": "string"}}),
    );
    assert_unchanged(json!({"items": {"type": "string"}}));
}

#[test]
fn a_parameter_beside_the_properties_joins_them_if_required_and_else_is_refused() {
    assert_normalises(
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "b": {"type": "string"}, "required": ["a", "b"]}),
        json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": ["a", "b"]}),
        &["`b` read as a property: it is required"],
    );
    assert_eq!(
        refusal(
            json!({"type": "object", "properties": {"a": {"type": "string"}}, "b": {"type": "string"}})
        ),
        "/b: `b` is no keyword; a parameter belongs in `properties`"
    );
    assert_eq!(
        refusal(json!({"type": "object", "city": "The city."})),
        "/city: `city` is no keyword; a parameter belongs in `properties`"
    );
}

#[test]
fn wrapping_that_says_nothing_is_opened() {
    let after =
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]});
    assert_normalises(
        json!({"type": "object", "properties": {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}}),
        after.clone(),
        &["`properties` read as the object it holds"],
    );
    assert_normalises(
        json!({"type": "object", "properties": {"a": {"type": "string"}, "required": ["a"]}}),
        after.clone(),
        &["`required` stood in `properties`: read as the list of the object"],
    );
    assert_normalises(json!(after.to_string()), after.clone(), &["text read as the JSON it holds"]);
    assert_normalises(
        json!([{"name": "a", "in": "query", "required": true, "schema": {"type": "string"}}]),
        after,
        &[
            "a list read as the parameters of an object",
            "a list in `properties` read as an object",
            "/properties/a: `schema` read as the schema itself",
            "/properties/a: `required: true` read as required by the object",
        ],
    );
}

#[test]
fn required_becomes_a_list_of_names() {
    let of = |required| json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}, "required": required});
    assert_normalises(of(json!("a")), of(json!(["a"])), &["`required: \"a\"` read as [\"a\"]"]);
    assert_normalises(
        of(json!("a, b")),
        of(json!(["a", "b"])),
        &["`required: \"a, b\"` read as [\"a\",\"b\"]"],
    );
    assert_normalises(
        of(json!({"a": true, "b": false})),
        of(json!(["a"])),
        &["`required: {\"a\":true,\"b\":false}` read as [\"a\"]"],
    );
    assert_normalises(
        of(json!(["a", "a"])),
        of(json!(["a"])),
        &["`required: [\"a\",\"a\"]` read as [\"a\"]"],
    );
    assert_unchanged(of(json!([])));
    assert_unchanged(of(json!(["elsewhere"])));
    assert_eq!(refusal(of(json!(5))), "/required: expected a list of names, got 5");
    assert_eq!(refusal(of(json!(["a", 5]))), "/required: expected a list of names, but 5 is none");
}

#[test]
fn what_a_property_says_of_itself_goes_into_the_list() {
    assert_normalises(
        json!({"type": "object", "properties": {
            "a": {"type": "string", "required": true},
            "b": {"type": "string", "required": false},
            "c": {"type": "string", "optional": "True"},
            "d": {"type": "string", "optional": false},
            "e": {"type": "string", "optional": true}
        }, "required": ["e"]}),
        json!({"type": "object", "properties": {
            "a": {"type": "string"}, "b": {"type": "string"}, "c": {"type": "string"}, "d": {"type": "string"}, "e": {"type": "string"}
        }, "required": ["a", "d"]}),
        &[
            "/properties/a: `required: true` read as required by the object",
            "/properties/b: `required: false` read as not required",
            "/properties/c: `optional: \"True\"` read as not required",
            "/properties/d: `optional: false` read as required by the object",
            "/properties/e: `optional: true` read as not required, though the object requires it",
        ],
    );
    assert_normalises(
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "optional": ["a"]}),
        json!({"type": "object", "properties": {"a": {"type": "string"}}}),
        &["`optional` dropped: what is not `required` is optional"],
    );
    assert_normalises(
        json!({"type": "object", "required": true, "additionalProperties": {"type": "string", "optional": true}}),
        json!({"type": "object", "additionalProperties": {"type": "string"}}),
        &[
            "/additionalProperties: `optional: true` dropped: it is no property",
            "`required: true` dropped: it is no property",
        ],
    );
    assert_eq!(
        refusal(json!({"properties": {"a": {"required": true, "optional": true}}})),
        "/properties/a: `optional: true` contradicts `required: true`"
    );
    assert_eq!(
        refusal(json!({"properties": {"a": {}}, "required": ["a"], "optional": ["a"]})),
        "/optional: \"a\" is `required` too"
    );
}
