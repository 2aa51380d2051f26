//! What a model reads of calls that cannot run or do not succeed, and that it goes on.

use toolwright::chat::testing::{FnModel, Reply, ScriptedModel};
use toolwright::chat::{End, Item, Stop};
use toolwright::{Malformed, Outcome, Tool, ToolCall, ToolError};

use crate::scene::{
    Log, assert_whole, builder, chat, ended, failing, kept, logging, look, pay, results, told,
    write,
};

#[tokio::test]
async fn an_unknown_tool_is_told_with_the_names_there_are() {
    let log = Log::default();
    let model = ScriptedModel::new()
        .calls("lok", r#"{"n": 1}"#)
        .calls("look", r#"{"n": 1}"#)
        .says("Found it.");
    let chat = chat(model.clone(), vec![look(&log), write(&log)]);
    let response = chat.prompt().user("Look!").call().await.unwrap();
    assert_eq!(response.text(), "Found it.");
    let result = &results(&model.requests()[1])[0];
    assert_eq!(result.outcome, Outcome::UnknownTool);
    for part in ["`lok`", "did you mean `look`", "look, write"] {
        assert!(result.text().contains(part), "{}", result.text());
    }
}

#[tokio::test]
async fn malformed_arguments_never_run_and_the_model_reads_why() {
    for arguments in [
        "not json",
        "[1]",
        "\"n\"",
        r#"{"n": "many"}"#,
        r#"{"m": 1}"#,
        r#"{"n": 1, "n": 2}"#,
    ] {
        let log = Log::default();
        let model = ScriptedModel::new()
            .calls("write", arguments)
            .says("Sorry.");
        let chat = chat(model.clone(), write(&log));
        let response = chat.prompt().user("Go!").call().await.unwrap();
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
        let model = ScriptedModel::new()
            .calls("write", arguments)
            .says("Again?");
        let chat = chat(model.clone(), write(&log));
        chat.prompt().user("Go!").call().await.unwrap();
        assert!(log.is_empty(), "{arguments} ran");
        assert_eq!(
            results(&model.requests()[1])[0].outcome,
            Outcome::InvalidArguments
        );
    }
}

#[tokio::test]
async fn a_call_that_is_cut_off_before_its_arguments_never_runs() {
    for (stop, runs) in [
        (Stop::Length, false),
        (Stop::Filtered, false),
        (Stop::Calls, true),
    ] {
        let log = Log::default();
        let cut = stop.clone();
        let model = ScriptedModel::new()
            .answers(move |_| {
                let call = |n: &str| Item::call(ToolCall::new("write", n));
                Reply::of(vec![call(r#"{"n": 1}"#), call("")]).stop(cut.clone())
            })
            .says("Again.");
        let chat = chat(model.clone(), write(&log));
        chat.prompt().user("Go!").call().await.unwrap();
        assert_eq!(log.lines().len(), 1 + usize::from(runs), "{stop:?}");
        let told = told(&model);
        assert_eq!(told[1].contains("cut off"), !runs, "{told:?}");
    }
}

#[tokio::test]
async fn arguments_that_must_not_be_malformed_end_the_turn() {
    let log = Log::default();
    let strict = Tool::builder("write", "Writes.").on_malformed(Malformed::Error);
    let model = ScriptedModel::new().calls("write", "{\"n\"");
    let chat = chat(model, logging(strict, &log));
    let (_, response) = ended(chat.prompt().user("Go!").call().await);
    assert!(log.is_empty());
    assert_whole(response.entries());
}

#[tokio::test]
async fn a_tools_error_is_read_by_the_model() {
    let model = ScriptedModel::new().calls("print", "{}").says("No paper.");
    let print = failing("print", || ToolError::failed("out of paper"));
    let chat = chat(model.clone(), print);
    let response = chat.prompt().user("Print!").call().await.unwrap();
    assert_eq!(response.text(), "No paper.");
    assert_eq!(told(&model), ["out of paper"]);
}

#[tokio::test]
async fn a_panic_is_a_failure_like_any_other() {
    let model = ScriptedModel::new()
        .calls_all([("panic", "{}"), ("panic_later", "{}"), ("write", "{}")])
        .says("Oh.");
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
    let response = chat.prompt().user("Go!").call().await.unwrap();
    assert_eq!(response.text(), "Oh.");
    let told = told(&model);
    assert_eq!(told[..2], ["the tool panicked", "the tool panicked"]);
    assert_eq!(log.lines(), ["write "]);
}

#[tokio::test]
async fn a_fatal_error_ends_the_turn_and_nothing_after_it_runs() {
    let log = Log::default();
    let store = std::sync::Arc::default();
    let model = ScriptedModel::new().calls_all([("burn", "{}"), ("write", "{}")]);
    let burn = failing("burn", || ToolError::fatal("the house is on fire"));
    let chat = builder(model.clone(), vec![burn, write(&log)])
        .store(std::sync::Arc::clone(&store))
        .build();
    let ask = chat.prompt().conversation("house").user("Go!");
    let (reason, response) = ended(ask.call().await);
    assert_eq!(reason, "the house is on fire");
    assert!(matches!(response.end(), Some(End::Failed { .. })));
    assert!(log.is_empty(), "the turn was over");
    assert_eq!(model.requests().len(), 1);
    assert_whole(&kept(&store, "house").await);
    let results = response.results();
    assert_eq!(results[1].outcome, Outcome::Cancelled);
}

#[tokio::test]
async fn what_is_refused_is_never_asked_about() {
    let log = Log::default();
    let model = ScriptedModel::new()
        .calls("pay", r#"{"n": "all of it"}"#)
        .says("Sorry.");
    let chat = chat(model, pay(&log));
    let response = chat.prompt().user("Pay!").call().await.unwrap();
    assert!(response.asked().is_empty());
    assert_eq!(response.text(), "Sorry.");
    assert!(log.is_empty());
}

#[tokio::test]
async fn a_model_that_fails_after_a_call_leaves_no_orphan() {
    let log = Log::default();
    let store = std::sync::Arc::default();
    let model = FnModel::new(|request| match request.messages.len() {
        1 => Reply::call(ToolCall::new("write", "{}")),
        _ => Reply::text("I think ")
            .and(Item::call(ToolCall::new("write", "{}")))
            .then_error(toolwright::chat::ModelErrorKind::Network, "the line is cut"),
    });
    let chat = builder(model, write(&log))
        .store(std::sync::Arc::clone(&store))
        .build();
    let ask = chat.prompt().conversation("a").user("Go!");
    let error = ask.call().await.unwrap_err();
    assert_eq!(error.to_string(), "the line is cut");
    assert_eq!(log.lines().len(), 1, "what was not finished is not run");
    assert_whole(&kept(&store, "a").await);
}
