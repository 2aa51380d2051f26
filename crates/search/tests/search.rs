//! Ranking of tools against questions.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

use serde_json::json;
use toolwright_core::Tool;
use toolwright_search::{Index, Term, stem};

fn tool(name: &str, description: &str) -> Tool {
    let schema = json!({"type": "object", "properties": {
        "room": {"enum": ["kitchen", "bedroom"], "description": "The room, for example `attic`."}
    }});
    let builder = Tool::builder(name, description).schema(schema).unwrap();
    builder.run(|_, _| "done").unwrap()
}

fn index() -> Index {
    let tools = [
        tool("set_thermostat", "Sets the temperature of a room, in Celsius."),
        tool("switch_light", "Turns the light of a room on or off."),
        tool("create_ticket", "Opens a support ticket."),
    ];
    tools.iter().map(Tool::spec).collect()
}

fn best(question: &str) -> Option<usize> {
    index().search(question, 5).first().map(|found| found.tool)
}

#[test]
fn names_descriptions_synonyms_and_misspellings_are_found() {
    for (question, tool) in [
        ("the thermostat please", 0),
        ("make it warmer", 0),
        ("turn on the lamp", 1),
        ("report a problem to support", 2),
        ("a new tikcet", 2),
        ("22 C", 0),
    ] {
        assert_eq!(best(question), Some(tool), "{question}");
    }
}

#[test]
fn a_question_about_something_else_matches_nothing() {
    assert_eq!(best("who painted the attic?"), None);
    assert_eq!(best(""), None);
}

#[test]
fn tools_of_equal_score_keep_their_order() {
    let tools: Vec<Tool> = (0..50).map(|_| tool("same_thing", "The same.")).collect();
    let index: Index = tools.iter().map(Tool::spec).collect();
    let found = index.search("the same thing in the kitchen", 50);
    assert!(found.iter().map(|found| found.tool).eq(0..50));
}

#[test]
fn a_match_reports_its_words_and_those_of_the_action() {
    let terms = ["light", "kitchen"].into_iter().enumerate();
    let terms: Vec<Term> =
        terms.map(|(token, word)| Term { stem: stem(word), token, fuzzy: true }).collect();
    let found = index().score(&terms, 1);
    assert_eq!((found.tokens, found.action_tokens), (vec![0, 1], vec![0]));
}

#[test]
fn a_tool_can_be_added_later() {
    let mut index = index();
    assert!(index.search("pay it back", 5).is_empty());
    let added = index.add(tool("issue_refund", "Pays an order back.").spec());
    assert_eq!(index.search("pay it back", 5)[0].tool, added);
    assert_eq!(index.search("Issue_Refund!", 5)[0].tool, added);
}
