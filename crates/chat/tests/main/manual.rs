//! Calls that the caller runs.

use serde_json::value::RawValue;
use toolwright::chat::{ChatError, ChatEvent, Item, Message, TurnLimits};
use toolwright::testing::{ModelReply, ScriptedModel};
use toolwright::{Invoker, Outcome, ToolCall, ToolResult};

use crate::support::{
    Log, assert_complete, chat, ended, events, last_result_texts, pay, registry, results, write,
};

fn model() -> ScriptedModel {
    ScriptedModel::new()
        .calls_all([("write", r#"{"n": 1}"#), ("pay", r#"{"n": 2}"#)])
        .replies("Done.")
}

fn result(call: &ToolCall, text: &str) -> ToolResult {
    let mut result = ToolResult::success(text);
    result.call_id = call.id.clone();
    result
}

#[tokio::test]
async fn nothing_runs_and_the_caller_has_the_calls() {
    let log = Log::default();
    let tools = || vec![write(&log), pay(&log)];
    let model = model();
    let chat = chat(model.clone(), tools());
    let paused = chat.message().manual_calls().user("Go!").call().await.unwrap();
    assert!(log.is_empty());
    assert!(paused.has_calls() && paused.pending_approvals().is_empty() && paused.end().is_none());
    let names: Vec<&str> = paused.calls().iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["write", "pay"]);
    // An invoker of the caller decides itself which calls need approval.
    let invoker = Invoker::new(registry(tools())).unwrap();
    let results = invoker.invoke_all(paused.calls()).await;
    let response = paused.submit_results(results).call().await.unwrap();
    assert_eq!(response.text(), "Done.");
    assert!(!response.has_calls());
    assert_eq!(log.lines(), ["write 1"]);
    assert!(last_result_texts(&model)[1].contains("denied"));
}

#[tokio::test]
async fn a_call_without_a_result_was_not_run() {
    for some in [true, false] {
        let log = Log::default();
        let model = model();
        let chat = chat(model.clone(), vec![write(&log), pay(&log)]);
        let paused = chat.message().manual_calls().user("Go!").call().await.unwrap();
        let submitted = match some {
            true => vec![result(&paused.calls()[1], "paid")],
            false => Vec::new(),
        };
        let response = paused.submit_results(submitted).call().await.unwrap();
        assert_complete(response.entries());
        let results_read = results(&model.requests()[1]);
        assert_eq!(results_read[0].outcome, Outcome::Denied);
        assert_eq!(results_read[0].text(), "the call was not run");
        assert_eq!(results_read[1].is_error(), !some);
        assert_eq!(results_read[1].tool.as_str(), "pay");
    }
}

#[tokio::test]
async fn a_result_without_an_open_call_is_rejected_and_so_are_all() {
    let log = Log::default();
    let model = model();
    let chat = chat(model.clone(), vec![write(&log), pay(&log)]);
    let paused = chat.message().manual_calls().user("Go!").call().await.unwrap();
    let good = result(&paused.calls()[0], "written");
    let stray = result(&ToolCall::new("write", "{}").with_id("elsewhere"), "");
    for (submitted, message) in [
        (vec![good.clone(), stray], "does not wait for a result"),
        (vec![good.clone(), good.clone()], "two results"),
    ] {
        let error = paused.clone().submit_results(submitted).call().await.unwrap_err();
        assert!(matches!(error, ChatError::Rejected { .. }), "{error}");
        assert!(error.to_string().contains(message), "{error}");
    }
    assert_eq!(model.requests().len(), 1);
    paused.clone().submit_results(vec![good.clone()]).call().await.unwrap();
    let again = paused.submit_results(vec![good]).call().await.unwrap_err();
    assert!(again.to_string().contains("does not wait"), "{again}");
}

#[tokio::test]
async fn the_providers_json_is_sent_again() {
    let log = Log::default();
    let raw = r#"{"signature":  "abc", "n": 1.50}"#;
    let model = ScriptedModel::new()
        .replies_with(move |_| {
            let json = RawValue::from_string(raw.to_owned()).unwrap();
            let call = Item::call(ToolCall::new("write", "{}"));
            ModelReply::from_items(vec![call.with_raw("wire", json)])
        })
        .replies("Done.");
    let chat = chat(model.clone(), write(&log));
    let request = chat.message().conversation("room").manual_calls().user("Go!");
    let paused = request.call().await.unwrap();
    let submitted = vec![result(&paused.calls()[0], "written")];
    paused.submit_results(submitted).call().await.unwrap();
    let requests = model.requests();
    let Message::Step(step) = &requests[1].messages[1] else { panic!("the step comes second") };
    assert_eq!(step.items[0].raw_json("wire").unwrap().get(), raw);
}

#[tokio::test]
async fn limits_count_all_the_same() {
    let log = Log::default();
    let script = (0..9).fold(ScriptedModel::new(), |it, _| it.calls("write", "{}"));
    let mut paused = {
        let chat = chat(script, write(&log));
        let limits = TurnLimits::default();
        chat.message().manual_calls().limits(limits).user("Go!").call().await
    };
    let mut rounds = 0;
    while let Ok(response) = paused {
        rounds += 1;
        let submitted = response.calls().iter().map(|call| result(call, "done"));
        let submitted = submitted.collect();
        paused = response.submit_results(submitted).call().await;
    }
    let (reason, response) = ended(paused);
    assert_eq!(reason, "the same call was asked for 7 times");
    assert_eq!(rounds, 3, "then the calls are refused");
    assert_complete(response.entries());
}

#[tokio::test]
async fn the_stream_ends_with_the_calls_it_waits_for() {
    let log = Log::default();
    let chat = chat(model(), vec![write(&log), pay(&log)]);
    let (events, _) = events(chat.message().manual_calls().user("Go!").stream()).await;
    match events.last().unwrap() {
        ChatEvent::TurnPaused { calls } => {
            let calls: Vec<&str> = calls.iter().map(|call| call.as_str()).collect();
            assert_eq!(calls, ["call_0_0", "call_0_1"]);
        }
        other => panic!("{other:?}"),
    }
}
