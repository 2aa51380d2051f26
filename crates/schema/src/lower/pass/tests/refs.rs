//! References that are inlined, kept or cut off, and unused definitions.

use serde_json::{Map, Value, json};

use super::{assert_losses_reported, assert_pass, pass_error, run_pass};
use crate::{
    Dialect,
    lower::pass::refs::{inline, keep_local, keep_recursive, remove_unused_definitions},
};

/// As many definitions, each of which refers to all of them.
fn dense(count: usize) -> Value {
    let all: Map<String, Value> = (0..count)
        .map(|to| (format!("p{to}"), json!({"$ref": format!("#/$defs/d{to}")})))
        .collect();
    let each: Map<String, Value> = (0..count)
        .map(|name| (format!("d{name}"), json!({"type": "object", "properties": all})))
        .collect();
    json!({"type": "object", "properties": {"start": {"$ref": "#/$defs/d0"}}, "$defs": each})
}

#[test]
fn a_reference_is_replaced_by_what_it_means() {
    for (before, after) in [
        (
            json!({"properties": {"a": {"$ref": "#/$defs/word"}}, "$defs": {"word": {"type": "string"}}}),
            json!({"properties": {"a": {"type": "string"}}}),
        ),
        (
            json!({"properties": {"a": {"$ref": "#/definitions/word"}}, "definitions": {"word": {"type": "string"}}}),
            json!({"properties": {"a": {"type": "string"}}}),
        ),
        (
            json!({"items": {"$ref": "#/$defs/a~1b~0c%20d"}, "$defs": {"a/b~c d": {"type": "null"}}}),
            json!({"items": {"type": "null"}}),
        ),
        (
            json!({"properties": {"a": {"type": "string"}, "b": {"$ref": "#/properties/a"}}}),
            json!({"properties": {"a": {"type": "string"}, "b": {"type": "string"}}}),
        ),
        (
            json!({"anyOf": [{"type": "string"}, {"items": {"$ref": "#/anyOf/0"}}]}),
            json!({"anyOf": [{"type": "string"}, {"items": {"type": "string"}}]}),
        ),
        (
            json!({"items": {"$ref": "#word"}, "$defs": {"w": {"$anchor": "word", "type": "string"}}}),
            json!({"items": {"type": "string"}}),
        ),
        (
            json!({"items": {"$ref": "urn:word"}, "$defs": {"w": {"$id": "urn:word", "type": "string"}}}),
            json!({"items": {"type": "string"}}),
        ),
        // Within a resource, `#` is the resource.
        (
            json!({"items": {"$ref": "urn:list"}, "$defs": {
                "word": {"type": "null"},
                "list": {"$id": "urn:list", "items": {"$ref": "#/$defs/word"}, "$defs": {"word": {"type": "string"}}},
            }}),
            json!({"items": {"items": {"type": "string"}}}),
        ),
        (
            json!({"items": {"$dynamicRef": "#word"}, "$defs": {"w": {"$dynamicAnchor": "word", "type": "string"}}}),
            json!({"items": {"type": "string"}}),
        ),
        (
            json!({"items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"type": "string"}}}),
            json!({"items": {"type": "string"}}),
        ),
        (
            json!({"items": {"$ref": "#/$defs/none"}, "$defs": {"none": false}}),
            json!({"items": {"not": {}}}),
        ),
        // Names of properties are no keywords, and neither is data.
        (
            json!({"properties": {"$ref": {"$ref": "#/$defs/word"}}, "default": {"$ref": "x"}, "$defs": {"word": {"type": "string"}}}),
            json!({"properties": {"$ref": {"type": "string"}}, "default": {"$ref": "x"}}),
        ),
    ] {
        assert_pass(inline, Dialect::PORTABLE, before.clone(), after.clone(), &[]);
        assert_pass(keep_recursive, Dialect::OPENAI_STRICT, before, after, &[]);
    }
}

#[test]
fn annotations_beside_a_reference_move_to_its_target() {
    assert_pass(
        inline,
        Dialect::PORTABLE,
        json!({"items": {"$ref": "#/$defs/word", "description": "A city."}, "$defs": {"word": {"type": "string", "description": "A word."}}}),
        json!({"items": {"type": "string", "description": "A city."}}),
        &[],
    );
}

#[test]
fn what_is_asked_beside_a_reference_is_asked_as_well() {
    for (before, after) in [
        (
            json!({"items": {"$ref": "#/$defs/word", "minLength": 2}, "$defs": {"word": {"type": "string"}}}),
            json!({"items": {"minLength": 2, "allOf": [{"type": "string"}]}}),
        ),
        (
            json!({"items": {"$ref": "#/$defs/word", "allOf": [{"minLength": 2}]}, "$defs": {"word": {"type": "string"}}}),
            json!({"items": {"allOf": [{"type": "string"}, {"minLength": 2}]}}),
        ),
        (
            json!({"$ref": "#/$defs/base", "unevaluatedProperties": false, "$defs": {"base": {"properties": {"a": {}}}}}),
            json!({"unevaluatedProperties": false, "allOf": [{"properties": {"a": {}}}]}),
        ),
    ] {
        assert_pass(inline, Dialect::PORTABLE, before, after, &[]);
    }
}

#[test]
fn a_recursion_is_shown_twice_and_then_open() {
    let node = |next: Value| json!({"type": "object", "properties": {"next": next}});
    assert_pass(
        inline,
        Dialect::PORTABLE,
        json!({"properties": {"list": {"$ref": "#/$defs/node"}}, "$defs": {"node": node(json!({"$ref": "#/$defs/node"}))}}),
        json!({"properties": {"list": node(node(node(json!({"type": "object", "description": "Again as in `node`"}))))}}),
        &[
            "/properties/list/properties/next/properties/next/properties/next: $ref (wider), described as \"again as in `node`\"",
        ],
    );
}

#[test]
fn a_root_that_contains_itself_is_cut_under_the_name_of_root() {
    let (after, losses) = run_pass(
        inline,
        Dialect::PORTABLE,
        json!({"type": "object", "properties": {"in": {"$ref": "#"}}}),
    );
    assert_eq!(
        losses,
        [format!(
            "{}: $ref (wider), described as \"again as in `root`\"",
            "/properties/in".repeat(4)
        )]
    );
    assert_eq!(
        after.pointer(&"/properties/in".repeat(4)),
        Some(&json!({"type": "object", "description": "Again as in `root`"}))
    );
}

#[test]
fn where_references_are_followed_a_recursion_stays() {
    for (before, after) in [
        (
            json!({"properties": {"list": {"$ref": "#/definitions/my node"}}, "definitions": {"my node": {"type": "object", "properties": {"next": {"$ref": "#/definitions/my node"}}}}}),
            json!({"properties": {"list": {"$ref": "#/$defs/my_node"}}, "$defs": {"my_node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/my_node"}}}}}),
        ),
        // Two that contain each other.
        (
            json!({"items": {"$ref": "#/$defs/even"}, "$defs": {
                "even": {"properties": {"odd": {"$ref": "#/$defs/odd"}}},
                "odd": {"properties": {"even": {"$ref": "#/$defs/even"}, "word": {"$ref": "#/$defs/word"}}},
                "word": {"type": "string"},
            }}),
            json!({"items": {"$ref": "#/$defs/even"}, "$defs": {
                "odd": {"properties": {"even": {"$ref": "#/$defs/even"}, "word": {"type": "string"}}},
                "even": {"properties": {"odd": {"$ref": "#/$defs/odd"}}},
            }}),
        ),
        // Two of the same name.
        (
            json!({"prefixItems": [{"$ref": "#/$defs/a b"}, {"$ref": "#/$defs/a_b"}], "$defs": {
                "a b": {"items": {"$ref": "#/$defs/a b"}},
                "a_b": {"not": {"$ref": "#/$defs/a_b"}},
            }}),
            json!({"prefixItems": [{"$ref": "#/$defs/a_b"}, {"$ref": "#/$defs/a_b_2"}], "$defs": {
                "a_b": {"items": {"$ref": "#/$defs/a_b"}},
                "a_b_2": {"not": {"$ref": "#/$defs/a_b_2"}},
            }}),
        ),
        // A reference that stays keeps no siblings.
        (
            json!({"items": {"$ref": "#/$defs/node", "description": "First."}, "$defs": {"node": {"items": {"$ref": "#/$defs/node"}}}}),
            json!({"items": {"description": "First.", "anyOf": [{"$ref": "#/$defs/node"}]}, "$defs": {"node": {"items": {"$ref": "#/$defs/node"}}}}),
        ),
        (
            json!({"items": {"$ref": "#/$defs/node", "maxItems": 3}, "$defs": {"node": {"items": {"$ref": "#/$defs/node"}}}}),
            json!({"items": {"maxItems": 3, "allOf": [{"$ref": "#/$defs/node"}]}, "$defs": {"node": {"items": {"$ref": "#/$defs/node"}}}}),
        ),
        (
            json!({"items": {"$dynamicRef": "#node"}, "$defs": {"n": {"$dynamicAnchor": "node", "items": {"$dynamicRef": "#node"}}}}),
            json!({"items": {"$ref": "#/$defs/node"}, "$defs": {"node": {"items": {"$ref": "#/$defs/node"}}}}),
        ),
        // The root contains itself, and is also a definition then.
        (
            json!({"type": "object", "properties": {"in": {"$ref": "#"}}}),
            json!({"type": "object", "properties": {"in": {"$ref": "#/$defs/root"}}, "$defs": {"root": {"type": "object", "properties": {"in": {"$ref": "#/$defs/root"}}}}}),
        ),
    ] {
        assert_pass(keep_recursive, Dialect::OPENAI_STRICT, before, after, &[]);
    }
}

#[test]
fn what_cannot_be_resolved_admits_everything_and_is_reported() {
    for reference in [
        json!({"$ref": "#/$defs/missing"}),
        json!({"$ref": "https://example.com/schema"}),
        json!({"$ref": "#nowhere"}),
        json!({"$ref": "#/type"}),
        json!({"$ref": "#/%zz"}),
        json!({"$dynamicRef": "#nowhere"}),
    ] {
        let before = json!({"type": "object", "properties": {"a": reference}});
        let after = json!({"type": "object", "properties": {"a": {}}});
        for pass in [inline, keep_recursive] {
            assert_pass(
                pass,
                Dialect::PORTABLE,
                before.clone(),
                after.clone(),
                &["/properties/a: $ref (wider)"],
            );
        }
    }
}

#[test]
fn of_two_resources_with_one_name_none_is_meant() {
    let (after, losses) = run_pass(
        inline,
        Dialect::PORTABLE,
        json!({"items": {"$ref": "urn:x"}, "$defs": {"a": {"$id": "urn:x", "type": "string"}, "b": {"$id": "urn:x", "type": "null"}}}),
    );
    assert_eq!(after, json!({"items": {}}));
    assert_eq!(losses, ["/items: $ref (wider)"]);
}

#[test]
fn paths_stay_where_any_schema_is_taken() {
    for schema in [
        json!({"type": "object", "properties": {"a": {"$ref": "#/definitions/x"}}, "definitions": {"x": {"$ref": "#/properties/b"}}}),
        json!({"type": "object", "properties": {"a": {"$ref": "#"}}}),
        json!({"type": "object", "properties": {"a": {"$ref": "#/$defs/x%20y", "minLength": 1}}, "$defs": {"x y": {}}}),
        json!({"$id": "urn:root", "type": "object", "properties": {"a": {"$ref": "#/$defs/x"}}, "$defs": {"x": {}}}),
        json!({"$ref": "#/$defs/x", "required": ["a"], "$defs": {"x": {"type": "object"}}}),
        json!({"anyOf": [{"$ref": "#/$defs/x"}], "$defs": {"x": {"type": "object"}}}),
    ] {
        assert_pass(keep_local, Dialect::OPENAI, schema.clone(), schema, &[]);
    }
}

#[test]
fn what_is_more_than_a_path_is_written_out_even_there() {
    for (before, after) in [
        (
            json!({"type": "object", "properties": {"a": {"$ref": "#x"}}, "$defs": {"x": {"$anchor": "x", "type": "string"}}}),
            json!({"type": "object", "properties": {"a": {"type": "string"}}}),
        ),
        (
            json!({"type": "object", "properties": {"a": {"$dynamicRef": "#x"}}, "$defs": {"x": {"$dynamicAnchor": "x", "type": "string"}}}),
            json!({"type": "object", "properties": {"a": {"type": "string"}}}),
        ),
        (
            json!({"type": "object", "properties": {"a": {"$id": "urn:a", "items": {"$ref": "#/$defs/x"}, "$defs": {"x": {"type": "string"}}}}}),
            json!({"type": "object", "properties": {"a": {"items": {"type": "string"}}}}),
        ),
        // These roots will change, so that a path through them would lead elsewhere.
        (
            json!({"anyOf": [{"required": ["a"]}], "properties": {"a": {"type": "string"}, "b": {"$ref": "#/properties/a"}}}),
            json!({"anyOf": [{"required": ["a"]}], "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}),
        ),
        (
            json!({"anyOf": [{"$ref": "#/$defs/a~1b"}], "$defs": {"a/b": {"required": ["a"]}}}),
            json!({"anyOf": [{"required": ["a"]}]}),
        ),
        (
            json!({"allOf": [{"$ref": "#/$defs/x", "required": ["a"]}], "$defs": {"x": {"type": "object"}}}),
            json!({"allOf": [{"required": ["a"], "allOf": [{"type": "object"}]}]}),
        ),
        (
            json!({"allOf": [{"$ref": "#/definitions/x"}], "definitions": {"x": {"type": "object"}}}),
            json!({"allOf": [{"type": "object"}]}),
        ),
    ] {
        assert_pass(keep_local, Dialect::OPENAI, before, after, &[]);
    }
}

#[test]
fn definitions_that_nothing_leads_to_go() {
    for (before, after) in [
        (json!({"type": "object", "$defs": {"a": {"type": "string"}}}), json!({"type": "object"})),
        (
            json!({"items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"items": {"$ref": "#/$defs/b"}}, "b": {}, "c": {"items": {"$ref": "#/$defs/c"}}}}),
            json!({"items": {"$ref": "#/$defs/a"}, "$defs": {"a": {"items": {"$ref": "#/$defs/b"}}, "b": {}}}),
        ),
        (json!({"items": {}}), json!({"items": {}})),
        (json!(true), json!(true)),
    ] {
        assert_pass(remove_unused_definitions, Dialect::OPENAI_STRICT, before, after, &[]);
    }
}

#[test]
fn dense_recursion_stays_small() {
    for count in [3, 12, 60] {
        let (after, losses) = run_pass(inline, Dialect::PORTABLE, dense(count));
        let size = after.to_string().len();
        assert!(size < 400_000, "{count}: {size}");
        assert!(!losses.is_empty());
        let (after, losses) = run_pass(keep_recursive, Dialect::OPENAI_STRICT, dense(count));
        assert_eq!(after["$defs"].as_object().map(Map::len), Some(count));
        assert!(losses.is_empty());
    }
}

#[test]
fn what_would_fill_a_library_is_refused() {
    let mut definitions = Map::new();
    for level in 0..40 {
        let next = json!({"$ref": format!("#/$defs/d{}", level + 1)});
        definitions.insert(format!("d{level}"), json!({"properties": {"a": next, "b": next}}));
    }
    definitions.insert("d40".to_owned(), json!({"type": "string"}));
    let bomb = json!({"properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": definitions});
    for pass in [inline, keep_recursive] {
        assert_eq!(
            pass_error(pass, Dialect::OPENAI_STRICT, bomb.clone()).to_string(),
            "the schema, its references written out, has more than 20000 parts"
        );
    }
}

#[test]
fn the_verdict_is_as_reported() {
    let schemas = [
        json!({"properties": {"a": {"$ref": "#/$defs/node"}}, "$defs": {"node": {"type": "object", "properties": {"a": {"$ref": "#/$defs/node"}}, "additionalProperties": false}}}),
        json!({"$ref": "#/$defs/a", "required": ["b"], "$defs": {"a": {"type": "object", "required": ["a"]}}}),
        json!({"not": {"$ref": "#/$defs/a"}, "$defs": {"a": {"type": "object", "properties": {"a": {"$ref": "#/$defs/a"}}, "additionalProperties": false}}}),
        json!({"$ref": "#/$defs/a", "unevaluatedProperties": false, "$defs": {"a": {"properties": {"a": {"$ref": "#"}}}}}),
        json!({"anyOf": [{"$ref": "#/$defs/a", "required": ["b"]}, {"type": "null"}], "$defs": {"a": {"required": ["a"]}}}),
        json!({"allOf": [{"$ref": "#/$defs/a~1b", "required": ["b"]}], "$defs": {"a/b": {"required": ["a"]}}}),
    ];
    let deep = |levels| (0..levels).fold(json!({"x": 1}), |inner, _| json!({"a": inner}));
    let values = [
        json!(null),
        json!({}),
        json!({"a": 1}),
        json!({"a": {}}),
        json!({"b": 1}),
        json!({"a": 1, "b": 1}),
        json!({"a": {}, "b": {}}),
        deep(1),
        deep(2),
        deep(3),
        deep(4),
        deep(5),
        deep(6),
    ];
    for pass in [inline, keep_recursive, keep_local] {
        assert_losses_reported(pass, Dialect::OPENAI, &schemas, &values);
    }
}
