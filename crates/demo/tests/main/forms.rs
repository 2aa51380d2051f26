//! Answers in a form: JSON where the values are known, plain words where they are not.

use serde_json::{Value, json};
use toolwright_chat::ResponseFormat;
use toolwright_core::schema::Schema;

use crate::bundles::{assistant, library};
use crate::driver::Talk;

async fn answered(mut talk: Talk, schema: Value, question: &str) -> String {
    talk.form = Some(ResponseFormat::new("answer", Schema::check(schema).unwrap()));
    talk.ask(question).await.text
}

#[tokio::test]
async fn results_fill_a_form() {
    let schema = json!({
        "type": "object",
        "properties": {
            "city": {"type": "string"},
            "celsius": {"type": "number"},
            "humidity": {"type": "integer", "description": "In percent."},
            "wind": {"type": "number"}
        },
        "required": ["city", "celsius", "humidity"]
    });
    let text = answered(assistant(), schema, "What is the weather in Tokyo?").await;
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value, json!({"city": "Tokyo", "celsius": 22, "humidity": 90}));
}

#[tokio::test]
async fn fields_of_structured_results_fill_a_form() {
    let schema = json!({
        "type": "object",
        "properties": {"title": {"type": "string"}, "author": {"type": "string"}},
        "required": ["title", "author"]
    });
    let question = "Look up ISBN 978-0-441-17271-9";
    let text = answered(library(), schema, question).await;
    let value: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(value, json!({"title": "Dune", "author": "Frank Herbert"}));
}

#[tokio::test]
async fn what_nobody_said_is_not_made_up() {
    let schema = json!({
        "type": "object",
        "properties": {"pressure": {"type": "number", "default": 1013, "examples": [1013]}},
        "required": ["pressure"]
    });
    let question = "What is the weather in Tokyo?";
    let mut closed = schema;
    closed["properties"]["pressure"] = json!({"type": "number", "minimum": 900});
    let text = answered(assistant(), closed, question).await;
    assert!(text.starts_with("I cannot answer in the form"), "{text}");
    assert!(text.contains("rule-based"), "{text}");
}
