//! Items of a response, replayed in the next request.

use serde_json::{Value, json};
use toolwright_chat::{ItemKind, Message};
use toolwright_core::{Outcome, ToolResult};

use super::{input, items, result, step};

const REASONING: &str = r#"{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"gAAAAABo+/=","status":null}"#;
const SEARCH: &str = r#"{"id":"ws_1","type":"web_search_call","status":"completed","action":{"type":"search","query":"tea","queries":["tea"]}}"#;
const CALL: &str = r#"{"id":"fc_1","type":"function_call","status":"completed","arguments":"{\"what\": \"tea\", \"most\": null}","call_id":"call_1","name":"shop_find","namespace":"x"}"#;
const MESSAGE: &str = r#"{"id":"msg_1","type":"message","status":"completed","phase":"commentary","content":[{"type":"output_text","annotations":[{"type":"url_citation","start_index":0,"end_index":1,"url":"https://tea.example","title":"Tea"}],"logprobs":[],"text":"Tea?"}],"role":"assistant"}"#;
const LIST: &str =
    r#"{"id":"mcpl_1","type":"mcp_list_tools","server_label":"wiki","tools":[],"error":null}"#;
const APPROVAL: &str = r#"{"id":"mcpr_1","type":"mcp_approval_request","server_label":"wiki","name":"edit","arguments":"{}"}"#;
const TOOL_SEARCH: &str = r#"{"id":"tsc_1","type":"tool_search_call","execution":"server","call_id":null,"status":"completed","arguments":{"paths":["crm"]}}"#;
const FOUND: &str = r#"{"id":"tso_1","type":"tool_search_output","execution":"server","call_id":null,"status":"completed","tools":[{"type":"namespace","name":"crm","description":"Customers.","tools":[]}]}"#;
const UNKNOWN: &str = r#"{"id":"ho_1","type":"hologram_call","beams":[1.5,{"b":1,"a":2}]}"#;

fn whole(items: &[&str]) -> String {
    let done = items.iter().enumerate().map(|(place, item)| {
        format!(r#"{{"type":"response.output_item.done","output_index":{place},"item":{item}}}"#)
    });
    let mut frames: Vec<String> = done.collect();
    frames.push(r#"{"type":"response.completed","response":{"status":"completed"}}"#.to_owned());
    frames.join("\n")
}

fn values(items: &[&str]) -> Vec<Value> {
    let values = items.iter().map(|item| serde_json::from_str(item).unwrap());
    values.collect()
}

#[test]
fn whole_items_are_kept_byte_for_byte() {
    let sent = [REASONING, SEARCH, CALL, MESSAGE, LIST, APPROVAL, TOOL_SEARCH, FOUND, UNKNOWN];
    let items = items(&whole(&sent));
    let kept: Vec<&str> =
        items.iter().map(|item| item.raw_json("openai_responses").unwrap().get()).collect();
    assert_eq!(kept, sent);
}

#[test]
fn what_was_read_is_written_back_as_it_came_and_then_answered() {
    let sent = [REASONING, SEARCH, CALL, MESSAGE, LIST, APPROVAL, TOOL_SEARCH, FOUND, UNKNOWN];
    let input = input(vec![
        step(items(&whole(&sent))),
        Message::Results(vec![
            result("mcpr_1", ToolResult::success("go on")),
            result("call_1", ToolResult::success("green tea")),
        ]),
    ]);
    let mut expected = values(&sent);
    expected
        .push(json!({"type": "function_call_output", "call_id": "call_1", "output": "green tea"}));
    expected.push(
        json!({"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": true}),
    );
    assert_eq!(input, Value::Array(expected.clone()));
    // Including the order of the fields.
    assert_eq!(input.to_string(), Value::Array(expected).to_string());
}

#[test]
fn a_step_survives_the_journal_unchanged() {
    let items = items(&whole(&[REASONING, CALL]));
    let stored = serde_json::to_string(&items).unwrap();
    let restored = serde_json::from_str(&stored).unwrap();
    assert_eq!(input(vec![step(restored)]), input(vec![step(items)]));
}

#[test]
fn only_a_yes_approves() {
    let answered = |outcome: Option<Outcome>| {
        let results = outcome.map(|outcome| {
            let mut denied = ToolResult::failure("not today");
            denied.outcome = outcome;
            Message::Results(vec![result("mcpr_1", denied)])
        });
        let messages = [step(items(&whole(&[APPROVAL])))].into_iter().chain(results);
        input(messages.collect())[1].take()
    };
    let refused = json!({"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": false, "reason": "not today"});
    for outcome in [Outcome::Denied, Outcome::TimedOut, Outcome::Cancelled] {
        assert_eq!(answered(Some(outcome)), refused);
    }
    assert_eq!(answered(None)["approve"], false);
    assert_eq!(answered(Some(Outcome::Ok))["approve"], true);
}

#[test]
fn reasoning_that_nothing_follows_is_left_out() {
    let input = input(vec![
        step(items(&whole(&[MESSAGE, REASONING, REASONING.replace("rs_1", "rs_2").as_str()]))),
        Message::User(vec![toolwright_core::Content::text("Go on.")]),
    ]);
    assert_eq!(input[0]["type"], "message");
    assert_eq!(input[1]["role"], "user");
    assert_eq!(input.as_array().unwrap().len(), 2);
}

#[test]
fn reasoning_that_only_its_id_stands_for_is_left_out() {
    let bare = r#"{"id":"rs_1","type":"reasoning","summary":[{"type":"summary_text","text":"Hm."}],"encrypted_content":null}"#;
    let open = r#"{"id":"rs_2","type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"Hm."}],"encrypted_content":""}"#;
    let items = items(&whole(&[bare, open, MESSAGE]));
    assert!(matches!(&items[0].kind, ItemKind::Reasoning { text } if text == "Hm."));
    let input = input(vec![step(items)]);
    assert_eq!(input, Value::Array(values(&[open, MESSAGE])));
}
