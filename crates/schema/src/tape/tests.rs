//! What the tape refuses, and how each reader sees what it keeps.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::json;

use super::*;

fn parse(text: &str) -> Result<Value, ParseError> {
    Tape::parse(text, &InputLimits::default()).map(|tape| tape.to_value())
}

fn strict<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    T::deserialize(Tape::parse(text, &InputLimits::default()).unwrap().root())
        .map_err(|error| error.to_string())
}

fn lenient<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    T::deserialize(Tape::parse(text, &InputLimits::default()).unwrap().root_lenient())
        .map_err(|error| error.to_string())
}

#[test]
fn text_comes_back_as_the_value_it_spells() {
    let text = r#"{"a":[1,-2,2.5,"x\n",true,null,{}],"b":{"c":[]}}"#;
    assert_eq!(parse(text).unwrap().to_string(), text);
    let value = json!({"a": [1, {"b": "c"}], "d": null});
    assert_eq!(Tape::from_value(&value).to_value(), value);
}

#[test]
fn long_text_is_refused_unread() {
    let error = Tape::parse("not json", &InputLimits { bytes: 3, depth: 1 }).unwrap_err();
    assert_eq!(error, ParseError::TooLong { bytes: 8, limit: 3 });
}

#[test]
fn depth_counts_arrays_and_objects() {
    let limits = InputLimits { bytes: 1 << 20, depth: 2 };
    assert!(Tape::parse(r#"[{"a":1},[2]]"#, &limits).is_ok());
    assert_eq!(Tape::parse("[[[]]]", &limits).unwrap_err(), ParseError::TooDeep { limit: 2 });
    assert!(Tape::parse("1", &InputLimits { bytes: 9, depth: 0 }).is_ok());
    let bottomless = "[".repeat(500_000);
    assert!(matches!(parse(&bottomless), Err(ParseError::TooDeep { .. })));
    let vast = InputLimits { bytes: 1 << 20, depth: usize::MAX };
    assert!(matches!(Tape::parse(&bottomless, &vast), Err(ParseError::TooDeep { limit: 126 })));
}

#[test]
fn a_value_is_admitted_only_if_its_text_would_be_parsed() {
    let limits = InputLimits { bytes: 60, depth: 2 };
    for value in [
        json!(null),
        json!({"a": [1, "b"], "c": -2.5}),
        json!([[[]]]),
        json!({"a": {"b": {}}}),
        json!("x".repeat(9)),
        json!("x".repeat(58)),
        json!("x".repeat(59)),
        json!("\u{1}".repeat(9)),
        json!("\u{1}".repeat(10)),
        json!({"\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}\u{1}": 1}),
        json!({"$serde_json::private::Number": "1"}),
    ] {
        let text = value.to_string();
        assert!(!limits.admit(&value) || Tape::parse(&text, &limits).is_ok(), "{text}");
    }
    assert!(limits.admit(&json!({"a": [1]})) && limits.admit(&json!("x".repeat(9))));
}

#[test]
fn a_key_named_twice_is_refused_at_any_depth_and_size() {
    let twice = |text: &str| {
        assert_eq!(parse(text), Err(ParseError::DuplicateKey { key: "a".into() }), "{text}")
    };
    twice(r#"{"a":1,"a":1}"#);
    twice(r#"[{"x":{"a":1,"b":2,"\u0061":3}}]"#);
    let many: String = (0..500).map(|n| format!("\"k{n}\":{n},")).collect();
    twice(&format!("{{\"a\":0,{many}\"a\":1}}"));
    assert!(parse(&format!("{{{many}\"a\":1}}")).is_ok());
    let sixteen: String = (0..15).map(|n| format!("\"k{n}\":{n},")).collect();
    assert!(parse(&format!("{{{sixteen}\"a\":1}}")).is_ok());
    twice(&format!("{{\"a\":0,{sixteen}\"a\":1}}"));
}

#[test]
fn keys_that_serde_json_would_not_read_as_data_are_refused() {
    assert!(matches!(
        parse(r#"{"$serde_json::private::RawValue":"{}"}"#),
        Err(ParseError::ReservedKey { .. })
    ));
}

#[test]
fn syntax_errors_have_a_position_and_truncation_is_distinguished() {
    let error = parse("{\n \"a\": ?}").unwrap_err();
    assert_eq!(error.to_string(), "not JSON: expected value at line 2 column 7");
    assert!(matches!(parse("{\"a\":"), Err(ParseError::Syntax { truncated: true, .. })));
    assert!(matches!(parse("{} x"), Err(ParseError::Syntax { truncated: false, .. })));
    assert!(matches!(parse("1e999"), Err(ParseError::Syntax { .. })));
}

#[derive(Debug, Deserialize, PartialEq)]
struct Trip<'t> {
    to: &'t str,
    days: Option<u8>,
    #[serde(default)]
    stops: Vec<Stop>,
}

#[derive(Debug, Deserialize, PartialEq)]
struct Stop {
    at: String,
}

#[derive(Debug, Deserialize, PartialEq)]
enum Mode {
    Walk,
    Ride(String),
    Drive { seats: u8 },
    Pair(u8, u8),
}

#[test]
fn structs_borrow_from_the_text() {
    let tape = Tape::parse(
        r#"{"to":"Rome","days":null,"stops":[{"at":"Pisa"}]}"#,
        &InputLimits::default(),
    )
    .unwrap();
    let trip = Trip::deserialize(tape.root()).unwrap();
    assert_eq!(trip, Trip { to: "Rome", days: None, stops: vec![Stop { at: "Pisa".into() }] });
}

#[test]
fn errors_say_where_and_never_what() {
    let tape =
        Tape::parse(r#"{"to":"Rome","stops":[{"at":"a"},{"at":7}]}"#, &InputLimits::default())
            .unwrap();
    let error = Trip::deserialize(tape.root()).unwrap_err();
    assert_eq!(error.pointer(), "/stops/1/at");
    assert_eq!(error.message(), "expected a string, got integer");
    assert_eq!(
        strict::<HashMap<String, u8>>(r#"{"a/b":"hunter2"}"#).unwrap_err(),
        "/a~1b: expected u8, got string"
    );
    assert_eq!(strict::<u8>("300").unwrap_err(), "expected u8, got another integer");
}

#[test]
fn an_unknown_field_is_refused_strictly_and_skipped_leniently() {
    assert_eq!(
        strict::<Stop>(r#"{"at":"a","dry_run":true}"#).unwrap_err(),
        "/dry_run: unknown argument"
    );
    assert!(lenient::<Stop>(r#"{"at":"a","dry_run":true}"#).is_ok());
}

#[test]
fn a_struct_is_not_read_from_an_array() {
    assert!(strict::<Stop>(r#"["a"]"#).is_err());
    assert!(lenient::<Stop>(r#"["a"]"#).is_err());
}

#[test]
fn enums_are_read_in_their_one_form() {
    assert_eq!(strict(r#""Walk""#), Ok(Mode::Walk));
    assert_eq!(strict(r#"{"Ride":"bus"}"#), Ok(Mode::Ride("bus".into())));
    assert_eq!(strict(r#"{"Drive":{"seats":2}}"#), Ok(Mode::Drive { seats: 2 }));
    assert_eq!(strict(r#"{"Pair":[1,2]}"#), Ok(Mode::Pair(1, 2)));
    for text in [
        r#"{"Walk":null}"#, r#""Ride""#, r#"{"Drive":[2]}"#, r#"{"Pair":[1,2,3]}"#,
        r#"{"Ride":"a","Walk":null}"#, "0", r#"{"Drive":{"seats":2,"x":1}}"#,
    ] {
        assert!(strict::<Mode>(text).is_err(), "{text}");
    }
}

#[test]
fn tuples_take_exactly_their_length() {
    assert_eq!(strict("[1,2]"), Ok((1u8, 2u8)));
    assert!(strict::<(u8, u8)>("[1,2,3]").is_err());
    assert!(strict::<(u8, u8)>("[1]").is_err());
}

#[test]
fn integers_are_not_taken_from_floats_nor_text() {
    assert!(strict::<u8>("1.0").is_err());
    assert!(strict::<u8>("\"1\"").is_err());
    assert!(strict::<String>("1").is_err());
    assert_eq!(strict("1"), Ok(1.0f64));
    assert_eq!(strict("-1"), Ok(-1i128));
}

#[test]
fn map_keys_may_spell_numbers_but_only_plainly() {
    assert_eq!(
        strict(r#"{"1":"a","2":"b"}"#),
        Ok(BTreeMap::from([(1u32, "a".to_owned()), (2, "b".to_owned())]))
    );
    assert!(strict::<BTreeMap<u32, String>>(r#"{"01":"a"}"#).is_err());
    assert!(strict::<BTreeMap<u32, String>>(r#"{"+1":"a"}"#).is_err());
    assert_eq!(strict(r#"{"true":1}"#), Ok(BTreeMap::from([(true, 1u8)])));
}

#[test]
fn what_serde_would_read_out_of_our_sight_is_refused_strictly() {
    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "only whether it is read matters")]
    struct Flat {
        name: String,
        #[serde(flatten)]
        stop: Stop,
    }
    #[derive(Debug, Deserialize)]
    #[serde(untagged)]
    #[expect(dead_code, reason = "only whether it is read matters")]
    enum Either {
        Stop(Stop),
        Nothing,
    }
    assert!(strict::<Flat>(r#"{"name":"a","at":"b"}"#).is_err());
    assert!(lenient::<Flat>(r#"{"name":"a","at":"b"}"#).is_ok());
    assert!(strict::<Either>(r#"{"at":"b"}"#).is_err());
    assert!(lenient::<Either>(r#"{"at":"b"}"#).is_ok());
    assert!(strict::<Value>(r#"{"at":"b"}"#).is_err());
    assert_eq!(lenient::<Value>(r#"{"at":["b"]}"#), Ok(json!({"at": ["b"]})));
}

#[test]
fn scalars_are_read_from_text_as_from_a_tape_or_not_at_all() {
    #[derive(Debug, Deserialize, PartialEq)]
    struct Scalars {
        #[serde(default)]
        a: Option<i64>,
        #[serde(default)]
        b: Option<String>,
        #[serde(default)]
        c: Option<f32>,
        #[serde(default)]
        d: Option<Option<bool>>,
        #[serde(default)]
        e: Option<char>,
    }
    // A derived visitor, as one that rejects unknown and repeated keys.
    struct Visit;
    impl<'t> serde::de::Visitor<'t> for Visit {
        type Value = Scalars;
        fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("scalars")
        }
        fn visit_map<A: serde::de::MapAccess<'t>>(self, map: A) -> Result<Scalars, A::Error> {
            Scalars::deserialize(serde::de::value::MapAccessDeserializer::new(map))
        }
    }
    let limits = InputLimits { bytes: 200, depth: 1 };
    let read = |text: &str| read_scalar_members(text, &limits, Visit);
    for text in [
        r#"{"a": 1, "b": "x", "c": 0.1, "d": true, "e": "é"}"#,
        r#" {"a": -9223372036854775808, "c": 1e300} "#,
        r#"{"a": 9223372036854775808}"#,
        r#"{"a": 1.0}"#,
        r#"{"a": "1"}"#,
        r#"{"a": null, "d": null}"#,
        r#"{"b": "\u0041\n", "c": 16777217}"#,
        r#"{"b": "\ud800"}"#,
        r#"{"a": 1, "a": 1}"#,
        r#"{"a": [1]}"#,
        r#"{"a": {"b": 1}}"#,
        r#"{"a": 1} x"#,
        r#"{"a": 1"#,
        r#"{"a": -0}"#,
        r#"{"e": "ab"}"#,
        "{}",
        "[]",
        "[1]",
        "null",
        "",
    ] {
        let from_tape = Tape::parse(text, &limits).ok();
        let from_tape = from_tape.and_then(|tape| Scalars::deserialize(tape.root()).ok());
        assert_eq!(read(text), from_tape, "{text}");
    }
    let long = format!(r#"{{"b": "{}"}}"#, "x".repeat(200));
    assert_eq!(read(&long), None);
    assert_eq!(read_scalar_members("{}", &InputLimits { bytes: 9, depth: 0 }, Visit), None);
}
