//! The results that a model reads of calls that cannot run or fail, after which the turn continues.

use toolwright::chat::{Item, StopReason, TurnEnd};
use toolwright::testing::{FnModel, ModelReply, ScriptedModel};
use toolwright::{OnMalformed, Outcome, Tool, ToolCall, ToolError};

use crate::support::{
    Log, assert_complete, builder, chat, ended, failing_tool, last_result_texts, logging_tool, pay,
    read_tool, results, stored_entries, write,
};

#[tokio::test]
async fn the_result_of_an_unknown_tool_lists_the_known_names() {
    let log = Log::default();
    let model = ScriptedModel::new()
        .calls("lok", r#"{"n": 1}"#)
        .calls("look", r#"{"n": 1}"#)
        .replies("Found it.");
    let chat = chat(model.clone(), vec![read_tool(&log), write(&log)]);
    let response = chat.message().user("Look!").call().await.unwrap();
    assert_eq!(response.text(), "Found it.");
    let result = &results(&model.requests()[1])[0];
    assert_eq!(result.outcome, Outcome::UnknownTool);
    for part in ["`lok`", "did you mean `look`", "look, write"] {
        assert!(result.text().contains(part), "{}", result.text());
    }
}

#[tokio::test]
async fn malformed_arguments_never_run_and_the_model_reads_why() {
    for arguments in
        ["not json", "[1]", "\"n\"", r#"{"n": "many"}"#, r#"{"m": 1}"#, r#"{"n": 1, "n": 2}"#]
    {
        let log = Log::default();
        let model = ScriptedModel::new().calls("write", arguments).replies("Sorry.");
        let chat = chat(model.clone(), write(&log));
        let response = chat.message().user("Go!").call().await.unwrap();
        assert_eq!(response.text(), "Sorry.");
        assert!(log.is_empty(), "{arguments} ran");
        let result = &results(&model.requests()[1])[0];
        assert_eq!(result.outcome, Outcome::InvalidArguments, "{arguments}");
        assert!(!result.text().is_empty());
    }
}

#[tokio::test]
async fn truncated_arguments_never_run() {
    for arguments in ["{", r#"{"n"#, r#"{"n":"#, r#"{"n": 1"#, r#"{"n": 1,"#] {
        let log = Log::default();
        let model = ScriptedModel::new().calls("write", arguments).replies("Again?");
        let chat = chat(model.clone(), write(&log));
        chat.message().user("Go!").call().await.unwrap();
        assert!(log.is_empty(), "{arguments} ran");
        assert_eq!(results(&model.requests()[1])[0].outcome, Outcome::InvalidArguments);
    }
}

#[tokio::test]
async fn a_call_that_is_cut_off_before_its_arguments_never_runs() {
    for (stop, runs) in
        [(StopReason::Length, false), (StopReason::Filtered, false), (StopReason::Calls, true)]
    {
        let log = Log::default();
        let cut = stop.clone();
        let model = ScriptedModel::new()
            .replies_with(move |_| {
                let call = |n: &str| Item::call(ToolCall::new("write", n));
                ModelReply::from_items(vec![call(r#"{"n": 1}"#), call("")]).stop(cut.clone())
            })
            .replies("Again.");
        let chat = chat(model.clone(), write(&log));
        chat.message().user("Go!").call().await.unwrap();
        assert_eq!(log.lines().len(), 1 + usize::from(runs), "{stop:?}");
        let texts = last_result_texts(&model);
        assert_eq!(texts[1].contains("cut off"), !runs, "{texts:?}");
    }
}

#[tokio::test]
async fn arguments_that_must_not_be_malformed_end_the_turn() {
    let log = Log::default();
    let strict = Tool::builder("write", "Writes.").on_malformed(OnMalformed::Error);
    let model = ScriptedModel::new().calls("write", "{\"n\"");
    let chat = chat(model, logging_tool(strict, &log));
    let (_, response) = ended(chat.message().user("Go!").call().await);
    assert!(log.is_empty());
    assert_complete(response.entries());
}

#[tokio::test]
async fn a_tools_error_is_read_by_the_model() {
    let model = ScriptedModel::new().calls("print", "{}").replies("No paper.");
    let print = failing_tool("print", || ToolError::failed("out of paper"));
    let chat = chat(model.clone(), print);
    let response = chat.message().user("Print!").call().await.unwrap();
    assert_eq!(response.text(), "No paper.");
    assert_eq!(last_result_texts(&model), ["out of paper"]);
}

#[tokio::test]
async fn a_panic_is_a_failure_like_any_other() {
    let model = ScriptedModel::new()
        .calls_all([("panic", "{}"), ("panic_later", "{}"), ("write", "{}")])
        .replies("Oh.");
    let log = Log::default();
    let boom = |_, _| -> String { panic!("the secret plan") };
    let tools = vec![
        Tool::builder("panic", "Panics.").run(boom).unwrap(),
        Tool::builder("panic_later", "Panics.")
            .run_async(move |args, cx| async move { boom(args, cx) })
            .unwrap(),
        write(&log),
    ];
    let chat = chat(model.clone(), tools);
    let response = chat.message().user("Go!").call().await.unwrap();
    assert_eq!(response.text(), "Oh.");
    let texts = last_result_texts(&model);
    assert_eq!(texts[..2], ["the tool panicked", "the tool panicked"]);
    assert_eq!(log.lines(), ["write "]);
}

#[tokio::test]
async fn a_fatal_error_ends_the_turn_and_nothing_after_it_runs() {
    let log = Log::default();
    let store = std::sync::Arc::default();
    let model = ScriptedModel::new().calls_all([("burn", "{}"), ("write", "{}")]);
    let burn = failing_tool("burn", || ToolError::fatal("the house is on fire"));
    let chat = builder(model.clone(), vec![burn, write(&log)])
        .store(std::sync::Arc::clone(&store))
        .build();
    let ask = chat.message().conversation("house").user("Go!");
    let (reason, response) = ended(ask.call().await);
    assert_eq!(reason, "the house is on fire");
    assert!(matches!(response.end(), Some(TurnEnd::Failed { .. })));
    assert!(log.is_empty(), "the turn was over");
    assert_eq!(model.requests().len(), 1);
    assert_complete(&stored_entries(&store, "house").await);
    let results = response.results();
    assert_eq!(results[1].outcome, Outcome::Cancelled);
}

#[tokio::test]
async fn what_is_refused_is_never_asked_about() {
    let log = Log::default();
    let model = ScriptedModel::new().calls("pay", r#"{"n": "all of it"}"#).replies("Sorry.");
    let chat = chat(model, pay(&log));
    let response = chat.message().user("Pay!").call().await.unwrap();
    assert!(response.pending_approvals().is_empty());
    assert_eq!(response.text(), "Sorry.");
    assert!(log.is_empty());
}

#[tokio::test]
async fn a_model_that_fails_after_a_call_leaves_no_orphan() {
    let log = Log::default();
    let store = std::sync::Arc::default();
    let model = FnModel::new(|request| match request.messages.len() {
        1 => ModelReply::call(ToolCall::new("write", "{}")),
        _ => ModelReply::text("I think ")
            .with_item(Item::call(ToolCall::new("write", "{}")))
            .then_error(toolwright::chat::ModelErrorKind::Network, "the line is cut"),
    });
    let chat = builder(model, write(&log)).store(std::sync::Arc::clone(&store)).build();
    let ask = chat.message().conversation("a").user("Go!");
    let error = ask.call().await.unwrap_err();
    assert_eq!(error.to_string(), "the line is cut");
    assert_eq!(log.lines().len(), 1, "what was not finished is not run");
    assert_complete(&stored_entries(&store, "a").await);
}
