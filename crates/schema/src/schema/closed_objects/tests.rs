//! Whatever serde writes stays valid after closing, and what it would skip does not.

use std::collections::BTreeMap;

use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::*;
use crate::{Schema, Tape};

fn closed<T: JsonSchema>() -> Schema {
    let mut schema = schema_for!(T).to_value();
    close_objects(&mut schema);
    Schema::check(schema).expect("a schema made from a type")
}

fn admits(schema: &Schema, value: &Value) -> bool {
    schema.is_valid(Tape::from_value(value).root())
}

/// Each value must stay valid after closing; the same with an extra key, inserted at each pointer, must be rejected.
fn assert_closed<T: JsonSchema + Serialize>(values: &[T], places: &[&[&str]]) {
    let schema = closed::<T>();
    for (value, places) in values.iter().zip(places) {
        let value = serde_json::to_value(value).unwrap();
        assert!(admits(&schema, &value), "{value} refused by {schema:?}");
        for place in *places {
            let mut extra = value.clone();
            extra.pointer_mut(place).unwrap()["never_heard_of"] = json!(1);
            assert!(!admits(&schema, &extra), "{extra} admitted by {schema:?}");
        }
    }
}

#[derive(Serialize, Deserialize, JsonSchema, Clone)]
struct Place {
    city: String,
    zip: Option<u32>,
}

fn place() -> Place {
    Place { city: "Rome".into(), zip: None }
}

#[derive(Serialize, JsonSchema)]
struct Nested {
    one: Place,
    many: Vec<Place>,
    maybe: Option<Place>,
    by_name: BTreeMap<String, Place>,
}

#[test]
fn structs_close_at_every_depth() {
    let value = Nested {
        one: place(),
        many: vec![place()],
        maybe: Some(place()),
        by_name: [("a".into(), place())].into(),
    };
    assert_closed(&[value], &[&["", "/one", "/many/0", "/maybe", "/by_name/a"]]);
}

#[derive(Serialize, JsonSchema)]
enum External {
    Unit,
    Newtype(Place),
    Tuple(Place, u8),
    Fields { at: Place },
}

#[test]
fn externally_tagged_enums_close() {
    assert_closed(
        &[
            External::Unit,
            External::Newtype(place()),
            External::Tuple(place(), 1),
            External::Fields { at: place() },
        ],
        &[&[], &["", "/Newtype"], &["/Tuple/0"], &["/Fields", "/Fields/at"]],
    );
}

#[derive(Serialize, JsonSchema)]
#[serde(tag = "kind")]
enum Internal {
    Unit,
    Newtype(Place),
    Fields { at: Place },
}

#[test]
fn internally_tagged_enums_close_around_what_they_hold() {
    assert_closed(
        &[Internal::Unit, Internal::Newtype(place()), Internal::Fields { at: place() }],
        &[&[""], &[""], &["", "/at"]],
    );
}

#[derive(Serialize, JsonSchema)]
#[serde(tag = "kind", content = "data")]
enum Adjacent {
    Unit,
    Newtype(Place),
    Fields { at: Place },
}

#[test]
fn adjacently_tagged_enums_close() {
    assert_closed(
        &[Adjacent::Unit, Adjacent::Newtype(place()), Adjacent::Fields { at: place() }],
        &[&[""], &["", "/data"], &["", "/data", "/data/at"]],
    );
}

#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
enum Untagged {
    Text(String),
    Place(Place),
}

#[test]
fn untagged_enums_close() {
    assert_closed(&[Untagged::Text("a".into()), Untagged::Place(place())], &[&[], &[""]]);
}

#[derive(Serialize, JsonSchema)]
struct Flat {
    name: String,
    #[serde(flatten)]
    place: Place,
}

#[derive(Serialize, JsonSchema)]
struct FlatTagged {
    name: String,
    #[serde(flatten)]
    what: Internal,
    beside: Place,
}

#[derive(Serialize, JsonSchema)]
struct FlatTwice {
    #[serde(flatten)]
    what: Internal,
    #[serde(flatten)]
    how: External,
}

#[test]
fn flattened_structs_and_enums_close_as_one() {
    assert_closed(&[Flat { name: "a".into(), place: place() }], &[&[""]]);
    for what in [Internal::Unit, Internal::Newtype(place()), Internal::Fields { at: place() }] {
        assert_closed(
            &[FlatTagged { name: "a".into(), what, beside: place() }],
            &[&["", "/beside"]],
        );
    }
    assert_closed(
        &[FlatTwice { what: Internal::Newtype(place()), how: External::Fields { at: place() } }],
        &[&["", "/Fields"]],
    );
}

#[derive(Serialize, JsonSchema)]
struct FlatMap {
    name: String,
    #[serde(flatten)]
    rest: BTreeMap<String, Value>,
}

#[derive(Serialize, JsonSchema)]
struct FlatTaggedMap {
    #[serde(flatten)]
    what: Internal,
    #[serde(flatten)]
    rest: BTreeMap<String, u8>,
}

#[test]
fn a_flattened_map_stays_open() {
    let rest = BTreeMap::from([("anything".to_owned(), json!({"at": "all"}))]);
    assert_closed(&[FlatMap { name: "a".into(), rest }], &[&[]]);
    for what in [Internal::Unit, Internal::Newtype(place()), Internal::Fields { at: place() }] {
        assert_closed(
            &[FlatTaggedMap { what, rest: BTreeMap::from([("more".to_owned(), 1)]) }],
            &[&[]],
        );
    }
}

#[derive(Serialize, JsonSchema)]
struct Tree {
    value: u8,
    children: Vec<Tree>,
}

#[test]
fn recursive_structs_close() {
    let leaf = Tree { value: 1, children: vec![] };
    assert_closed(&[Tree { value: 2, children: vec![leaf] }], &[&["", "/children/0"]]);
}

#[test]
fn closing_twice_changes_nothing_more() {
    let mut once = schema_for!(FlatTagged).to_value();
    close_objects(&mut once);
    let mut twice = once.clone();
    close_objects(&mut twice);
    assert_eq!(once, twice);
}

#[test]
fn an_open_object_without_properties_stays_open() {
    let mut schema =
        json!({"type": "object", "allOf": [{"minProperties": 1}, {"maxProperties": 3}]});
    let before = schema.clone();
    close_objects(&mut schema);
    assert_eq!(schema, before);
}
