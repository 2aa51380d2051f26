//! Each row of the table is asked in a conversation of its own.

use serde_json::{Value, json};
use toolwright_core::Tool;

use crate::bundles::{assistant, house, library};
use crate::driver::Talk;
use crate::table::{ASSISTANT, Expected, HOUSE, LIBRARY, Row};

/// Asks each question, and tells all that went wrong.
pub(crate) async fn check(bundle: fn() -> Talk, rows: &[Row]) {
    let mut wrong = Vec::new();
    for (question, expected) in rows {
        let turn = bundle().ask(question).await;
        let calls = turn.calls();
        let right = match expected {
            Expected::Calls(expected) => {
                let expected: Vec<(String, Value)> = expected
                    .iter()
                    .map(|(name, arguments)| {
                        ((*name).to_owned(), serde_json::from_str(arguments).unwrap())
                    })
                    .collect();
                calls == expected && !turn.text.contains('?')
            }
            Expected::AsksBack(part) => calls.is_empty() && turn.text.contains(part),
            Expected::Cannot => calls.is_empty() && turn.text.starts_with("I cannot"),
        };
        if !right {
            wrong.push(format!("{question}\n    {calls:?}\n    {}", turn.text));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

#[tokio::test]
async fn the_assistants_questions_are_understood() {
    check(assistant, ASSISTANT).await;
}

#[tokio::test]
async fn the_librarys_questions_are_understood() {
    check(library, LIBRARY).await;
}

#[tokio::test]
async fn the_houses_questions_are_understood() {
    check(house, HOUSE).await;
}

#[tokio::test]
async fn what_strict_modes_require_only_to_be_null_is_not_asked_for() {
    let schema = json!({
        "type": "object",
        "properties": {
            "order": {"type": "string", "description": "The order's number, for example `A-1042`."},
            "reason": {"type": ["string", "null"]},
            "notify": {"anyOf": [{"type": "string"}, {"type": "null"}]},
        },
        "required": ["order", "reason", "notify"],
    });
    let tool = Tool::builder("cancel_order", "Cancels an order.").schema(schema);
    let tool = tool.unwrap().run(|_, _| "cancelled").unwrap();
    let turn = Talk::new(tool).ask("Cancel order A-1042").await;
    let arguments = json!({"order": "A-1042", "reason": null, "notify": null});
    let expected = [("cancel_order".to_owned(), arguments)];
    assert_eq!(turn.calls(), expected, "{}", turn.text);
}

#[tokio::test]
async fn what_the_console_suggests_for_a_new_project_is_understood() {
    let schema = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "description": "Who to greet, for example `Ada`."},
            "times": {"type": "integer", "description": "How often.", "default": 1},
        },
        "required": ["name"],
    });
    let tool = Tool::builder("greet", "Greets a person by name.").schema(schema);
    let tool = tool.unwrap().run(|_, _| "Hello, Ada!").unwrap();
    let turn = Talk::new(tool).ask("Greet a person by name: Ada").await;
    let expected = [("greet".to_owned(), json!({"name": "Ada"}))];
    assert_eq!(turn.calls(), expected, "{}", turn.text);
}
