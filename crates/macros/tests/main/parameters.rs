//! Required and optional parameters, by their type and `#[param]`.

use std::collections::HashMap;
use std::path::PathBuf;

use serde_json::{Value, json};
use toolwright::{Outcome, tool};

use crate::call::{call, published, required, text};

/// Takes one of each.
#[tool]
fn one_of_each(
    zebra: String,
    /// May be left out.
    apple: Option<u32>,
    #[param(required)] mango: Option<bool>,
    #[param(name = "kebab-case", description = "Renamed.")] banana: f64,
    words: Vec<String>,
    counts: HashMap<String, u8>,
    path: PathBuf,
    pair: (i8, char),
    anything: Value,
) -> String {
    format!(
        "{zebra} {apple:?} {mango:?} {banana} {words:?} {counts:?} {path:?} {pair:?} {anything}"
    )
}

fn all() -> Value {
    json!({
        "zebra": "z",
        "apple": 1,
        "mango": true,
        "kebab-case": 0.5,
        "words": ["a"],
        "counts": {"b": 2},
        "path": "/c",
        "pair": [3, "d"],
        "anything": [null],
    })
}

/// The arguments with one changed; `None` leaves it out.
fn with(name: &str, value: Option<Value>) -> Value {
    let mut arguments = all();
    let object = arguments.as_object_mut().unwrap();
    match value {
        Some(value) => object.insert(name.to_owned(), value),
        None => object.shift_remove(name),
    };
    arguments
}

#[tokio::test]
async fn every_kind_of_argument_arrives() {
    let text = text(one_of_each::tool(), "one_of_each", all()).await;
    assert_eq!(text, r#"z Some(1) Some(true) 0.5 ["a"] {"b": 2} "/c" (3, 'd') [null]"#);
}

#[test]
fn parameters_keep_the_order_they_were_written_in() {
    let params = one_of_each::tool().params().into_iter();
    let names: Vec<String> = params.map(|param| param.name).collect();
    let written =
        ["zebra", "apple", "mango", "kebab-case", "words", "counts", "path", "pair", "anything"];
    assert_eq!(names, written);
}

#[test]
fn all_but_plain_options_must_be_sent() {
    let names = required(&one_of_each::tool());
    assert!(!names.contains(&"apple".to_owned()));
    assert!(names.contains(&"mango".to_owned()));
    assert_eq!(names.len(), 8);
}

#[tokio::test]
async fn an_option_may_be_left_out_or_null() {
    for value in [None, Some(Value::Null)] {
        let arguments = with("apple", value);
        let text = text(one_of_each::tool(), "one_of_each", arguments).await;
        assert!(text.starts_with("z None Some(true)"), "{text}");
    }
}

#[tokio::test]
async fn a_required_option_must_be_sent_but_may_be_null() {
    let null = with("mango", Some(Value::Null));
    let text = text(one_of_each::tool(), "one_of_each", null).await;
    assert!(text.starts_with("z Some(1) None"), "{text}");
    let absent = call(one_of_each::tool(), "one_of_each", with("mango", None)).await;
    assert_eq!(absent.outcome, Outcome::InvalidArguments);
    assert!(absent.text().contains("mango"), "{}", absent.text());
}

#[tokio::test]
async fn missing_invalid_and_unknown_arguments_are_rejected_by_name() {
    for (name, value) in
        [("zebra", None), ("words", Some(json!({"no": "list"}))), ("zebrra", Some(json!("z")))]
    {
        let result = call(one_of_each::tool(), "one_of_each", with(name, value)).await;
        assert_eq!(result.outcome, Outcome::InvalidArguments, "{name}");
        assert!(result.text().contains(name), "{}", result.text());
    }
}

#[test]
fn types_are_published_as_their_schema() {
    let tool = one_of_each::tool();
    assert_eq!(published(&tool, "zebra"), json!({"type": "string"}));
    let words = json!({"type": "array", "items": {"type": "string"}});
    assert_eq!(published(&tool, "words"), words);
    assert_eq!(published(&tool, "kebab-case")["type"], "number");
    assert_eq!(published(&tool, "kebab-case")["description"], "Renamed.");
    assert_eq!(published(&tool, "apple")["description"], "May be left out.");
}
