//! `#[tool_type]`: arguments and results of the user's types, without serde or schemars in their crate.

use serde_json::Value;
use toolwright::{Tool, json, tool, tool_type};

use crate::call::{call, text};

// Names of the user's that the derives would meet if they did not use the re-exports.
mod serde {}
mod schemars {}

/// One page of items.
#[tool_type]
#[derive(Debug)]
struct Page<T> {
    items: Vec<T>,
    #[serde(default = "first")]
    number: u32,
}

fn first() -> u32 {
    1
}

#[tool_type]
#[derive(Clone, Debug, PartialEq)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Book {
    /// Without the subtitle.
    short_title: String,
    #[schemars(range(min = 1450))]
    year: u16,
    kind: Kind,
    #[serde(skip)]
    shelf: Option<std::time::Instant>,
    sequels: Vec<Book>,
}

/// What a book is about.
#[tool_type]
#[derive(Clone, Debug, PartialEq, ::serde::Serialize)]
#[serde(tag = "type")]
enum Kind {
    /// Made up.
    Novel,
    Biography {
        of: String,
    },
}

#[tool_type(output)]
struct Shelf {
    labels: Vec<&'static str>,
}

#[tool_type]
#[cfg(any())]
struct Absent {
    of: NoSuchType,
}

/// Compiled with the derives that the user wrote.
#[tool_type]
#[derive(::serde::Serialize, ::serde::Deserialize, toolwright::JsonSchema)]
#[serde(rename_all = "UPPERCASE")]
struct Derived {
    #[cfg(any())]
    of: NoSuchType,
    number: u32,
}

#[tool_type(input)]
struct Wanted(#[schemars(length(min = 1))] String);

/// Sorts books.
#[tool]
fn sort(page: Page<Book>) -> Vec<Book> {
    let mut items = page.items;
    items.sort_by_key(|book| book.year);
    items
}

/// Doubles a number.
#[tool]
fn double(mut derived: Derived) -> Derived {
    derived.number *= 2;
    derived
}

/// Names the labels of a shelf.
#[tool]
fn labels(wanted: Wanted) -> Shelf {
    assert_eq!(wanted.0, "poems");
    Shelf { labels: vec!["a", "b"] }
}

fn book(year: u16) -> Value {
    json!({"shortTitle": "T", "year": year, "kind": {"type": "Biography", "of": "A"}, "sequels": []})
}

#[tokio::test]
async fn nested_types_are_read_and_returned() {
    let page = json!({"page": {"items": [book(1999), book(1984)]}});
    let sorted = text(sort::tool(), "sort", page).await;
    assert_eq!(sorted, json!([book(1984), book(1999)]).to_string());
    let doubled = text(double::tool(), "double", json!({"derived": {"NUMBER": 4}})).await;
    assert_eq!(doubled, r#"{"NUMBER":8}"#);
    assert_eq!(
        text(labels::tool(), "labels", json!({"wanted": "poems"})).await,
        r#"{"labels":["a","b"]}"#
    );
    let result = call(sort::tool(), "sort", json!({"page": {"items": [book(1066)]}})).await;
    assert!(result.text().contains("/page/items/0/year"), "{result:?}");
}

#[test]
fn doc_comments_and_attributes_are_in_the_schema() {
    let tool: Tool = sort::tool();
    let schema = tool.spec().input.as_value();
    let book = &schema["$defs"]["Book"]["properties"];
    assert_eq!(book["shortTitle"]["description"], "Without the subtitle.");
    assert_eq!(book["year"]["minimum"], 1450);
    assert_eq!(schema["$defs"]["Kind"]["description"], "What a book is about.");
    let labels = labels::tool();
    assert_eq!(labels.spec().input.as_value()["$defs"]["Wanted"]["minLength"], 1);
}
