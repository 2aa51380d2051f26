//! Schemas that all hold at once, as one.

use serde_json::{Value, json};

use crate::lower::pass::tests::{assert_losses_reported, assert_pass, run_pass};
use crate::{Dialect, lower::pass::all_of::run};

/// What two parts, and what stands beside them, come to without a loss.
fn joined(subschemas: Value, after: Value) {
    assert_pass(run, Dialect::OPENAI_STRICT, json!({ "allOf": subschemas }), after, &[]);
}

#[test]
fn types_are_what_both_admit() {
    for (subschemas, after) in [
        (json!([{"type": "integer"}, {"type": "number"}]), json!({"type": "integer"})),
        (json!([{"type": "number"}, {"type": "integer"}]), json!({"type": "integer"})),
        (
            json!([{"type": ["string", "null"]}, {"type": ["null", "integer"]}]),
            json!({"type": "null"}),
        ),
        (
            json!([{"type": ["string", "number"]}, {"type": ["integer", "string", "null"]}]),
            json!({"type": ["string", "integer"]}),
        ),
        (json!([{"type": "string"}, {"minimum": 1}]), json!({"type": "string", "minimum": 1})),
        (json!([{"type": "string"}, {"type": "integer"}]), json!({"not": {}})),
    ] {
        joined(subschemas, after);
    }
}

#[test]
fn of_two_bounds_the_tighter_holds() {
    for (subschemas, after) in [
        (
            json!([{"minimum": 1, "maximum": 9}, {"minimum": 2, "maximum": 10}]),
            json!({"minimum": 2, "maximum": 9}),
        ),
        (
            json!([{"minLength": 3}, {"minLength": 1, "maxLength": 5}, {"maxLength": 4}]),
            json!({"minLength": 3, "maxLength": 4}),
        ),
        (
            json!([{"minimum": 1}, {"exclusiveMinimum": 1}]),
            json!({"minimum": 1, "exclusiveMinimum": 1}),
        ),
        (json!([{"multipleOf": 4}, {"multipleOf": 6}]), json!({"multipleOf": 12})),
        (
            json!([{"uniqueItems": false}, {"uniqueItems": true, "minItems": 1}, {"minItems": 0}]),
            json!({"uniqueItems": true, "minItems": 1}),
        ),
        (
            json!([{"maximum": 9007199254740993u64}, {"maximum": 9007199254740992u64}]),
            json!({"maximum": 9007199254740992u64}),
        ),
    ] {
        joined(subschemas, after);
    }
}

#[test]
fn of_two_lists_what_both_list_holds() {
    for (subschemas, after) in [
        (json!([{"enum": ["a", "b", 1]}, {"enum": [1, "b", "c"]}]), json!({"enum": ["b", 1]})),
        (json!([{"enum": [1, 2]}, {"enum": [1.0]}]), json!({"enum": [1]})),
        (json!([{"enum": ["a"]}, {"enum": ["b"]}]), json!({"not": {}})),
        (json!([{"const": 1}, {"const": 1.0}]), json!({"const": 1})),
        (json!([{"const": 1}, {"const": 2}]), json!({"not": {}})),
        (
            json!([{"description": "A thing.", "required": ["a", "b"]}, {"required": ["b", "c"]}]),
            json!({"description": "A thing.", "required": ["a", "b", "c"]}),
        ),
    ] {
        joined(subschemas, after);
    }
}

#[test]
fn properties_come_together() {
    for (subschemas, after) in [
        (
            json!([{"type": "object", "properties": {"a": {"type": "string"}}}, {"type": "object", "properties": {"b": {}, "a": {"minLength": 1}}}]),
            json!({"type": "object", "properties": {"a": {"type": "string", "minLength": 1}, "b": {}}}),
        ),
        // A closed one admits nothing that it does not list.
        (
            json!([{"properties": {"a": {}}, "additionalProperties": false}, {"properties": {"a": {"type": "string"}, "b": {}}}]),
            json!({"properties": {"a": {"type": "string"}, "b": {"not": {}}}, "additionalProperties": false}),
        ),
        (
            json!([{"properties": {"a": {}}}, {"additionalProperties": {"type": "string"}}]),
            json!({"properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "string"}}),
        ),
        (
            json!([{"patternProperties": {"^a": {"type": "string"}}}, {"patternProperties": {"^a": {"minLength": 1}, "^b": {}}}]),
            json!({"patternProperties": {"^a": {"minLength": 1, "type": "string"}, "^b": {}}}),
        ),
        (
            json!([{"dependentRequired": {"a": ["b"]}}, {"dependentRequired": {"b": ["c"]}}]),
            json!({"dependentRequired": {"a": ["b"], "b": ["c"]}}),
        ),
        (
            json!([{"propertyNames": {"minLength": 1}}, {"propertyNames": {"maxLength": 5}}]),
            json!({"propertyNames": {"minLength": 1, "maxLength": 5}}),
        ),
    ] {
        joined(subschemas, after);
    }
}

#[test]
fn elements_come_together() {
    for (subschemas, after) in [
        (
            json!([{"items": {"type": "string"}}, {"items": {"minLength": 1}}]),
            json!({"items": {"type": "string", "minLength": 1}}),
        ),
        (
            json!([{"prefixItems": [{"minLength": 1}, {}]}, {"items": {"type": "string"}}]),
            json!({"prefixItems": [{"minLength": 1, "type": "string"}, {"type": "string"}], "items": {"type": "string"}}),
        ),
        (
            json!([{"prefixItems": [{"type": "string"}], "items": false}, {"prefixItems": [{}, {"type": "integer"}]}]),
            json!({"prefixItems": [{"type": "string"}, {"not": {}}], "items": false}),
        ),
        (
            json!([{"prefixItems": [{"type": "string"}]}, {"prefixItems": [{"minLength": 1}, {"type": "null"}]}]),
            json!({"prefixItems": [{"type": "string", "minLength": 1}, {"type": "null"}]}),
        ),
    ] {
        joined(subschemas, after);
    }
}

#[test]
fn alternatives_multiply() {
    joined(
        json!([{"anyOf": [{"type": "string"}, {"type": "integer"}]}, {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}]}]),
        json!({"anyOf": [{"type": "integer", "minimum": 1}]}),
    );
    joined(
        json!([{"not": {"const": 1}}, {"not": {"const": 2}}]),
        json!({"not": {"anyOf": [{"const": 1}, {"const": 2}]}}),
    );
}

#[test]
fn what_stands_beside_is_part_of_it() {
    assert_pass(
        run,
        Dialect::OPENAI_STRICT,
        json!({"description": "Outer.", "minimum": 2, "allOf": [{"type": "integer", "description": "Inner."}, {}, {"allOf": [{"maximum": 5}]}]}),
        json!({"description": "Outer. Inner.", "minimum": 2, "type": "integer", "maximum": 5}),
        &[],
    );
    assert_pass(
        run,
        Dialect::OPENAI_STRICT,
        json!({"description": "Outer.", "title": "T", "allOf": [{"type": "integer", "description": "Inner."}]}),
        json!({"type": "integer", "description": "Outer.", "title": "T"}),
        &[],
    );
}

#[test]
fn what_one_keyword_cannot_say_is_described() {
    for (subschemas, after, loss) in [
        (
            json!([{"type": "string", "pattern": "^a"}, {"pattern": "b$"}]),
            json!({"type": "string", "pattern": "^a", "description": "Matches the pattern `b$`"}),
            "/: pattern (wider), described as \"matches the pattern `b$`\"",
        ),
        (
            json!([{"multipleOf": 0.5}, {"multipleOf": 0.3}]),
            json!({"multipleOf": 0.5, "description": "A multiple of 0.3"}),
            "/: multipleOf (wider), described as \"a multiple of 0.3\"",
        ),
        (
            json!([{"format": "uri"}, {"format": "email"}]),
            json!({"format": "uri", "description": "An email address"}),
            "/: format (wider), described as \"an email address\"",
        ),
        (
            json!([{"contains": {"const": 1}}, {"contains": {"const": 2}}]),
            json!({"contains": {"const": 1}, "description": "At least one item is 2"}),
            "/: contains (wider), described as \"at least one item is 2\"",
        ),
    ] {
        assert_pass(run, Dialect::OPENAI_STRICT, json!({ "allOf": subschemas }), after, &[loss]);
    }
}

#[test]
fn where_all_of_is_understood_what_cannot_be_joined_stays_apart() {
    let schema = json!({"allOf": [{"pattern": "^a"}, {"pattern": "b$"}]});
    assert_pass(run, Dialect::MISTRAL, schema.clone(), schema, &[]);
    assert_pass(
        run,
        Dialect::MISTRAL,
        json!({"allOf": [{"pattern": "^a"}, {"minLength": 1}]}),
        json!({"pattern": "^a", "minLength": 1}),
        &[],
    );
}

#[test]
fn what_is_left_over_is_settled_when_all_has_come_together() {
    for (before, after) in [
        (
            json!({"allOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}], "unevaluatedProperties": false}),
            json!({"properties": {"a": {}, "b": {}}, "additionalProperties": false}),
        ),
        (
            json!({"allOf": [{"prefixItems": [{}]}], "unevaluatedItems": {"type": "string"}}),
            json!({"prefixItems": [{}], "items": {"type": "string"}}),
        ),
        // What is additional has been evaluated.
        (
            json!({"properties": {"a": {}}, "additionalProperties": {"type": "string"}, "unevaluatedProperties": false}),
            json!({"properties": {"a": {}}, "additionalProperties": {"type": "string"}}),
        ),
        // Disjoint by a discriminator, so each alternative can be closed.
        (
            json!({
                "type": "object",
                "description": "A payment.",
                "properties": {"id": {}},
                "oneOf": [
                    {"properties": {"kind": {"const": "card"}, "number": {}}, "required": ["kind"]},
                    {"properties": {"kind": {"const": "cash"}}, "required": ["kind"]},
                ],
                "unevaluatedProperties": false,
            }),
            json!({
                "description": "A payment.",
                "oneOf": [
                    {"properties": {"kind": {"const": "card"}, "number": {}, "id": {}}, "required": ["kind"], "type": "object", "additionalProperties": false},
                    {"properties": {"kind": {"const": "cash"}, "id": {}}, "required": ["kind"], "type": "object", "additionalProperties": false},
                ],
            }),
        ),
    ] {
        assert_pass(run, Dialect::OPENAI_STRICT, before, after, &[]);
    }
}

#[test]
fn what_several_alternatives_may_evaluate_is_not_settled_here() {
    for schema in [
        json!({"anyOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}], "unevaluatedProperties": false}),
        json!({"oneOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}}], "unevaluatedProperties": false}),
        json!({"if": {"required": ["a"]}, "unevaluatedProperties": false}),
        json!({"contains": {"const": 1}, "unevaluatedItems": false}),
    ] {
        assert_pass(run, Dialect::OPENAI_STRICT, schema.clone(), schema, &[]);
    }
}

#[test]
fn references_that_stay_are_opened() {
    let definitions =
        json!({"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}});
    assert_pass(
        run,
        Dialect::OPENAI_STRICT,
        json!({"properties": {"a": {"minProperties": 1, "allOf": [{"$ref": "#/$defs/node"}]}}, "$defs": definitions}),
        json!({"properties": {"a": {"minProperties": 1, "type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}}, "$defs": definitions}),
        &[],
    );
    // Beside nothing there is nothing to open.
    assert_pass(
        run,
        Dialect::OPENAI_STRICT,
        json!({"properties": {"a": {"description": "It.", "allOf": [{"$ref": "#/$defs/node"}]}}, "$defs": definitions}),
        json!({"properties": {"a": {"description": "It.", "anyOf": [{"$ref": "#/$defs/node"}]}}, "$defs": definitions}),
        &[],
    );
}

#[test]
fn a_reference_that_leads_nowhere_is_reported_where_it_is_joined() {
    let (after, losses) = run_pass(
        run,
        Dialect::OPENAI_STRICT,
        json!({"type": "object", "allOf": [{"$ref": "#/$defs/circle"}], "$defs": {"circle": {"$ref": "#/$defs/circle"}}}),
    );
    assert_eq!(after["type"], "object");
    assert_eq!(losses.len(), 1, "{losses:?}");
}

#[test]
fn names_are_no_keywords() {
    let schema = json!({"properties": {"allOf": {"type": "array"}, "unevaluatedProperties": {}}});
    assert_pass(run, Dialect::OPENAI_STRICT, schema.clone(), schema, &[]);
}

#[test]
fn the_verdict_is_as_reported() {
    let schemas = [
        json!({"allOf": [{"type": ["integer", "string"]}, {"type": ["number", "null"]}, {"minimum": 1.5}]}),
        json!({"allOf": [{"enum": [1, 2, "a"]}, {"enum": [1.0, "a"]}]}),
        json!({"allOf": [{"properties": {"a": {"type": "string"}}, "additionalProperties": false}, {"required": ["b"]}]}),
        json!({"allOf": [{"properties": {"a": {}}, "additionalProperties": false}, {"properties": {"a": {}, "b": {}}}]}),
        json!({"allOf": [{"prefixItems": [{"type": "string"}], "items": false}, {"items": {"minLength": 1}}]}),
        json!({"allOf": [{"items": {"type": "string"}}, {"prefixItems": [{"const": "a"}], "items": {"const": "b"}}]}),
        json!({"allOf": [{"patternProperties": {"^a": {"type": "string"}}, "additionalProperties": false}, {"properties": {"b": {}}}]}),
        json!({"allOf": [{"patternProperties": {"^a": {"type": "string"}}}, {"properties": {"a": {"minLength": 1}}}]}),
        json!({"allOf": [{"pattern": "^a"}, {"pattern": "b$"}]}),
        json!({"allOf": [{"properties": {"a": {}}, "unevaluatedProperties": false}, {"properties": {"b": {}}}]}),
        json!({"allOf": [{"properties": {"a": {}}}, {"anyOf": [{"properties": {"b": {}}, "required": ["b"]}, {}]}], "unevaluatedProperties": false}),
        json!({"oneOf": [{"properties": {"a": {}}}, {"properties": {"b": {}}, "required": ["b"]}], "unevaluatedProperties": false}),
        json!({"oneOf": [{"type": "object", "properties": {"a": {"const": 1}}, "required": ["a"]}, {"type": "object", "properties": {"a": {"const": "x"}, "b": {}}, "required": ["a"]}], "unevaluatedProperties": false}),
        json!({"allOf": [{"if": {"required": ["a"]}, "then": {"required": ["b"]}}, {"if": {"required": ["b"]}, "then": {"required": ["a"]}}]}),
        json!({"allOf": [{"anyOf": [{"type": "string"}, {"required": ["a"]}]}, {"anyOf": [{"minLength": 2}, {"required": ["b"]}]}]}),
        json!({"allOf": [{"contains": {"type": "string"}}, {"contains": {"type": "integer"}, "maxContains": 1}]}),
        json!({"allOf": [{"prefixItems": [{}]}, {"contains": {"type": "string"}}], "unevaluatedItems": false}),
    ];
    let values = [
        json!(null),
        json!(1),
        json!(2),
        json!(1.5),
        json!("a"),
        json!("ab"),
        json!("b"),
        json!({}),
        json!({"a": 1}),
        json!({"a": "x"}),
        json!({"a": ""}),
        json!({"b": 1}),
        json!({"a": 1, "b": 1}),
        json!({"a": "x", "b": 1}),
        json!({"c": 1}),
        json!([]),
        json!(["a"]),
        json!([""]),
        json!(["b"]),
        json!(["a", "b"]),
        json!(["a", 1]),
        json!(["a", 1, 2]),
        json!([1]),
    ];
    for dialect in [Dialect::OPENAI_STRICT, Dialect::MISTRAL] {
        assert_losses_reported(run, dialect, &schemas, &values);
    }
}
