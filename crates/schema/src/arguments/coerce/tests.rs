//! What is read differently, and what never is.

use serde_json::json;

use super::*;

fn coerced(schema: Value, mut value: Value) -> (Value, Vec<String>) {
    let notes = coerce(&mut value, &Schema::check(schema).unwrap());
    (value, notes.iter().map(Coercion::to_string).collect())
}

fn assert_coerces(kind: Value, sent: Value, meant: Value) {
    let (value, notes) = coerced(json!({"properties": {"a": kind}}), json!({"a": sent}));
    assert_eq!(value.to_string(), json!({"a": meant}).to_string(), "{notes:?}");
    assert_eq!(notes.is_empty(), sent == meant);
}

fn assert_unchanged(kind: Value, sent: Value) {
    assert_coerces(kind, sent.clone(), sent);
}

#[test]
fn scalars_are_read_as_the_kind_that_is_wanted() {
    assert_coerces(json!({"type": "integer"}), json!("5"), json!(5));
    assert_coerces(json!({"type": "integer"}), json!("-5"), json!(-5));
    assert_coerces(json!({"type": "number"}), json!("1.5"), json!(1.5));
    assert_coerces(json!({"type": "boolean"}), json!("true"), json!(true));
    assert_coerces(json!({"type": "string"}), json!(5), json!("5"));
    assert_coerces(json!({"type": "string"}), json!(true), json!("true"));
    assert_coerces(json!({"type": ["integer", "null"]}), json!("5"), json!(5));
    assert_coerces(json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}), json!("5"), json!(5));
}

#[test]
fn a_whole_number_loses_its_empty_fraction() {
    assert_coerces(json!({"type": "integer"}), json!(5.0), json!(5));
    assert_coerces(json!({"type": "integer"}), json!("5.0"), json!(5));
    assert_unchanged(json!({"type": "number"}), json!(5.0));
    assert_unchanged(json!({"type": "integer"}), json!(5.5));
    assert_unchanged(json!({"type": "integer"}), json!(-0.0));
    assert_unchanged(json!({"type": "integer"}), json!(1e300));
}

#[test]
fn what_would_lose_something_stays() {
    for text in [
        "007", "+7", " 7", "7 ", "1e3", "123456789012345678901234567890", "NaN", "", "0x10",
        "1_000", "-0",
    ] {
        assert_unchanged(json!({"type": "number"}), json!(text));
    }
    assert_unchanged(json!({"type": "boolean"}), json!("yes"));
    assert_unchanged(json!({"type": "boolean"}), json!("True"));
    assert_unchanged(json!({"type": "boolean"}), json!(1));
    assert_unchanged(json!({"type": "string"}), json!(null));
    assert_unchanged(json!({"type": "string"}), json!(1e300));
}

#[test]
fn a_reading_that_breaks_another_rule_is_not_taken() {
    assert_unchanged(json!({"type": "integer", "maximum": 3}), json!("5"));
    assert_unchanged(json!({"type": "array", "minItems": 2}), json!("x"));
}

#[test]
fn a_valid_value_stays_even_if_it_looks_like_another() {
    assert_unchanged(json!({"type": "string"}), json!("5"));
    assert_unchanged(json!({"type": ["string", "integer"]}), json!("5"));
    assert_unchanged(json!(true), json!("5"));
}

#[test]
fn two_readings_that_fit_are_a_guess_and_not_taken() {
    assert_unchanged(
        json!({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "integer"}}]}),
        json!(5),
    );
}

#[test]
fn a_lone_element_becomes_an_array() {
    let strings = json!({"type": "array", "items": {"type": "string"}});
    assert_coerces(strings.clone(), json!("x"), json!(["x"]));
    assert_coerces(strings, json!(["x", 1]), json!(["x", "1"]));
    assert_coerces(json!({"type": "array", "items": {"type": "integer"}}), json!("5"), json!([5]));
    assert_coerces(
        json!({"type": "array", "items": {"type": "object"}}),
        json!({"k": 1}),
        json!([{"k": 1}]),
    );
    assert_unchanged(json!({"type": "array", "items": {"type": "array"}}), json!("x"));
}

#[test]
fn enum_members_get_their_letter_case() {
    assert_coerces(json!({"enum": ["C", "F"]}), json!("c"), json!("C"));
    assert_coerces(
        json!({"oneOf": [{"const": "Celsius"}, {"const": "Fahrenheit"}]}),
        json!("celsius"),
        json!("Celsius"),
    );
    assert_unchanged(json!({"enum": ["a", "A"]}), json!("b"));
    assert_unchanged(json!({"enum": ["ab", "aB"]}), json!("AB"));
}

#[test]
fn text_that_holds_the_wanted_object_becomes_it() {
    let place =
        json!({"type": "object", "properties": {"zip": {"type": "integer"}}, "required": ["zip"]});
    assert_coerces(place.clone(), json!("{\"zip\": \"5\"}"), json!({"zip": 5}));
    assert_coerces(json!({"type": "array"}), json!("[1, 2]"), json!([1, 2]));
    assert_unchanged(place.clone(), json!("{\"zip\": "));
    assert_unchanged(place, json!("{\"zip\": 1, \"zip\": 2}"));
}

#[test]
fn every_depth_and_reference_is_reached() {
    let schema = json!({
        "properties": {
            "list": {"type": "array", "items": {"$ref": "#/$defs/N"}},
            "pair": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}]},
            "map": {"type": "object", "additionalProperties": {"type": "boolean"}},
            "maybe": {"anyOf": [{"$ref": "#/$defs/O"}, {"type": "null"}]},
            "a/b ~": {"type": "integer"}
        },
        "$defs": {"N": {"type": "integer"}, "O": {"type": "object", "properties": {"n": {"$ref": "#/$defs/N"}}}}
    });
    let sent = json!({"list": ["1", 2], "pair": ["1", 2], "map": {"x": "true"}, "maybe": {"n": "3"}, "a/b ~": "4"});
    let (value, notes) = coerced(schema, sent);
    assert_eq!(
        value,
        json!({"list": [1, 2], "pair": [1, "2"], "map": {"x": true}, "maybe": {"n": 3}, "a/b ~": 4})
    );
    assert_eq!(notes.len(), 6);
    assert_eq!(notes[0], "/list/0: \"1\" read as 1");
}

#[test]
fn notes_hide_secrets() {
    let (_, notes) =
        coerced(json!({"properties": {"api_key": {"type": "string"}}}), json!({"api_key": 12345}));
    assert_eq!(notes, ["/api_key: \"***\" read as \"***\""]);
}

#[test]
fn endless_schemas_end() {
    let (value, _) = coerced(json!({"type": "array", "items": {"$ref": "#"}}), json!("[[\"x\"]]"));
    assert_eq!(value, json!("[[\"x\"]]"));
}
