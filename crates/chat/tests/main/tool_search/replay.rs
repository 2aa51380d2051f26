//! What the journal has of a search and of a call through `call_tool`, and what requests have of it later.

use serde_json::value::RawValue;
use toolwright::chat::{Entry, HistoryWindow};

use super::*;

const RAW: &str =
    r#"{"type":"tool_use",  "name":"call_tool","input":{"name":"write","arguments":{"n":1.0}}}"#;

/// A reply that calls `write` through `call_tool`, with the provider's JSON.
fn calls_with_raw(_: &ModelRequest) -> ModelReply {
    let call = ToolCall::new("call_tool", r#"{"name":"write","arguments":{"n":1.0}}"#);
    let json = RawValue::from_string(RAW.to_owned()).unwrap();
    ModelReply::from_items(vec![Item::call(call.with_id("toolu_7")).with_raw("wire", json)])
}

#[tokio::test]
async fn the_journal_has_the_named_tool_and_requests_have_what_the_model_sent() {
    let log = Log::default();
    let store = Arc::new(MemoryStore::new());
    let model = searches("writes").replies_with(calls_with_raw).replies("Done.").replies("Bye.");
    let chat = searching(model.clone(), vec![write(&log)]).store(Arc::clone(&store)).build();
    let turn = |text: &str| chat.message().conversation("room").user(text);
    turn("Write!").call().await.unwrap();
    assert_eq!(log.lines(), ["write 1"]);

    let entries = stored_entries(&store, "room").await;
    let mut steps = entries.iter().filter_map(|entry| match &entry.body {
        EntryBody::Step { step, calls, .. } => Some((step, calls)),
        _ => None,
    });
    let (step, calls) = steps.nth(1).unwrap();
    assert_eq!((calls[0].tool.as_str(), calls[0].call.as_str()), ("write", "toolu_7"));
    assert_eq!(step.calls().next().unwrap().arguments.as_str(), r#"{"n":1.0}"#);
    assert_eq!(step.items[0].sent_as.as_ref().unwrap().name, "call_tool");

    // In the same turn, and in the next one.
    turn("Bye!").call().await.unwrap();
    for request in &model.requests()[2..] {
        let (Message::Step(step), Message::Results(results)) =
            (&request.messages[3], &request.messages[4])
        else {
            panic!("the call and its result")
        };
        let item = &step.items[0];
        let ItemKind::Call { call } = &item.kind else { panic!("a call") };
        assert_eq!((call.name.as_str(), call.id.as_str()), ("call_tool", "toolu_7"));
        assert_eq!(call.arguments.as_str(), r#"{"name":"write","arguments":{"n":1.0}}"#);
        assert_eq!(item.raw_json("wire").unwrap().get(), RAW);
        assert_eq!(results[0].tool, "call_tool");
        assert_eq!((results[0].call_id.as_str(), &*results[0].text()), ("toolu_7", "write 1"));
    }
}

#[tokio::test]
async fn what_was_found_is_known_after_a_restart() {
    let log = Log::default();
    let store = Arc::new(MemoryStore::new());
    let turn = async |model: &ScriptedModel| {
        let chat = searching(model.clone(), vec![write(&log)]).store(Arc::clone(&store)).build();
        chat.message().conversation("room").user("Write!").call().await.unwrap();
    };
    turn(&searches("writes").replies("Found.")).await;
    turn(
        &ScriptedModel::new().calls("call_tool", naming("write", json!({"n": 4}))).replies("Done."),
    )
    .await;
    assert_eq!(log.lines(), ["write 4"]);
}

#[tokio::test]
async fn a_turn_that_died_in_a_call_goes_on_with_the_named_tool() {
    let log = Log::default();
    let died = Arc::new(MemoryStore::new());
    let script = searches("engine")
        .calls("call_tool", naming("inspect_engine", json!({"n": 1})))
        .replies("Seen.");
    let tools = || vec![inspect(&log), write(&log)];
    let chat = searching(script, tools()).store(Arc::clone(&died)).build();
    chat.message().conversation("room").user("Look!").call().await.unwrap();
    let all = stored_entries(&died, "room").await;
    for length in 1..all.len() {
        let store = Arc::new(MemoryStore::new());
        let stored: Vec<Entry> = all[..length].to_vec();
        store_entries(&store, "room", &stored).await;
        let model = FnModel::new(|request| match request.messages.len() {
            1 => ModelReply::call(ToolCall::new("search_tools", r#"{"query": "engine"}"#)),
            3 => ModelReply::call(ToolCall::new(
                "call_tool",
                naming("inspect_engine", json!({"n": 1})),
            )),
            _ => ModelReply::text("Seen."),
        });
        let chat = searching(model, tools()).store(Arc::clone(&store)).build();
        let response = chat.resume("room").call().await.unwrap();
        assert_eq!(response.text(), "Seen.", "after {length} entries");
        let tools: Vec<String> =
            response.results().iter().map(|result| result.tool.to_string()).collect();
        assert_eq!(tools, ["search_tools", "inspect_engine"], "after {length} entries");
        assert_eq!(response.results()[1].text(), "inspect_engine 1");
        assert_complete(response.entries());
    }
}

#[tokio::test]
async fn a_tool_that_has_changed_since_it_was_found_is_searched_again() {
    let log = Log::default();
    let store = Arc::new(MemoryStore::new());
    let model = searches("writes")
        .replies("Found.")
        .calls("call_tool", naming("write", json!({"n": 4})))
        .calls("search_tools", r#"{"query": "writes"}"#)
        .calls("call_tool", naming("write", json!({"n": 5})))
        .replies("Done.");
    let turn = async |tool: Tool| {
        let chat = searching(model.clone(), vec![tool]).store(Arc::clone(&store)).build();
        chat.message().conversation("room").user("Write!").call().await.unwrap()
    };
    turn(write(&log)).await;
    let changed = Tool::builder("write", "Writes, and sends a letter.");
    let response = turn(logging_tool(changed, &log)).await;
    let rejected = &response.results()[0];
    assert_eq!((rejected.tool.as_str(), rejected.outcome), ("call_tool", Outcome::UnknownTool));
    assert!(rejected.text().contains("has changed since it was found: search again"));
    assert_eq!(log.lines(), ["write 5"]);
}

#[tokio::test]
async fn what_has_left_the_window_is_searched_again() {
    let log = Log::default();
    let store = Arc::new(MemoryStore::new());
    let turn = async |model: &ScriptedModel| {
        let window = HistoryWindow::all().messages(1);
        let chat = searching(model.clone(), vec![write(&log)]).store(Arc::clone(&store));
        let chat = chat.window(window).build();
        chat.message().conversation("room").user("Write!").call().await.unwrap();
    };
    turn(&searches("writes").replies("Found.")).await;
    turn(&ScriptedModel::new().replies("Hm.")).await;
    let model =
        ScriptedModel::new().calls("call_tool", naming("write", json!({"n": 4}))).replies("No.");
    turn(&model).await;
    assert!(log.is_empty());
    assert!(last_result_texts(&model)[0].contains("no search has found a tool `write`"));
}
