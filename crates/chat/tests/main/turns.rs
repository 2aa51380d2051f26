//! Turns: from a message to its answer, with calls in between.

use futures::stream;
use toolwright::chat::{ChatError, ChatEvent, Item, Message, ToolChoice, TurnEnd};
use toolwright::testing::{FnModel, ModelReply, ScriptedModel};
use toolwright::{Tool, ToolCall, Updates, tool};

use crate::support::{
    Log, assert_complete, chat, constant_tool, events, last_result_texts, none, read_tool, results,
    write,
};

#[tokio::test]
async fn a_question_without_tools_is_answered() {
    let chat = chat(ScriptedModel::new().replies("Hello, Ada."), none());
    let response = chat.message().user("Hello!").call().await.unwrap();
    assert_eq!(response.text(), "Hello, Ada.");
    assert_eq!(response.end(), Some(&TurnEnd::Answered));
    assert!(response.results().is_empty() && !response.has_calls());
}

#[tokio::test]
async fn a_request_without_a_message_is_an_error() {
    let model = ScriptedModel::new();
    let chat = chat(model.clone(), none());
    for ask in [
        chat.message(),
        chat.message().conversation("new"),
        chat.resume("new"),
        chat.submit_approvals("new", Vec::new()),
    ] {
        let error = ask.call().await.unwrap_err();
        assert!(matches!(error, ChatError::NoInput), "{error}");
    }
    assert!(model.requests().is_empty());
}

#[tokio::test]
async fn a_call_runs_and_its_result_is_answered_with() {
    let log = Log::default();
    let model = ScriptedModel::new().calls("look", r#"{"n": 1}"#).replies("Seen.");
    let chat = chat(model.clone(), read_tool(&log));
    let response = chat.message().user("Look!").call().await.unwrap();
    assert_eq!(response.text(), "Seen.");
    assert_eq!(log.lines(), ["look 1"]);
    assert_eq!(last_result_texts(&model), ["look 1"]);
    assert_eq!(response.steps().count(), 2);
    let messages = &model.requests()[1].messages;
    assert!(matches!(
        messages.as_slice(),
        [Message::User(_), Message::Step(_), Message::Results(_)]
    ));
}

#[tokio::test]
async fn call_after_call_runs_until_the_model_answers() {
    let log = Log::default();
    let script = (1..=5)
        .fold(ScriptedModel::new(), |script, n| script.calls("write", format!(r#"{{"n": {n}}}"#)));
    let model = script.replies("Done.");
    let chat = chat(model.clone(), write(&log));
    let response = chat.message().user("Go!").call().await.unwrap();
    assert_eq!(log.lines(), ["write 1", "write 2", "write 3", "write 4", "write 5"]);
    assert_eq!(response.results().len(), 5);
    assert_eq!(model.requests()[5].messages.len(), 11);
}

#[tokio::test]
async fn a_conversation_goes_on_where_it_was() {
    let model = ScriptedModel::new().replies("One.").replies("Two.").replies("New.");
    let chat = chat(model.clone(), none());
    for question in ["First?", "Second?"] {
        let ask = chat.message().conversation("room").user(question);
        assert_eq!(ask.call().await.unwrap().conversation(), "room");
    }
    chat.message().user("Third?").call().await.unwrap();
    let requests = model.requests();
    assert_eq!(requests[1].messages.len(), 3);
    assert_eq!(requests[2].messages.len(), 1, "nothing is kept unasked");
}

#[tokio::test]
async fn two_messages_in_one_request_are_one_turn() {
    let model = ScriptedModel::new().replies("Old.").replies("Both.");
    let chat = chat(model.clone(), none());
    let ask = || chat.message().conversation("room");
    ask().user("Before.").call().await.unwrap();
    let ask = ask().user("A?").assistant("A it is.").user("B?");
    let response = ask.call().await.unwrap();
    assert_eq!(model.requests()[1].messages.len(), 5);
    // Three messages, a step, an end.
    assert_eq!(response.entries().len(), 5);
}

/// Counts to three.
#[tool(read_only)]
async fn count(
    progress: toolwright::Progress,
) -> Updates<impl stream::Stream<Item = String> + use<>> {
    progress.report(1.0, 3.0, "counting");
    Updates(stream::iter(["one", "two", "three"].map(str::to_owned)))
}

#[tokio::test]
async fn a_tools_progress_and_updates_are_events() {
    let model = ScriptedModel::new().calls("count", "{}").replies("Three.");
    let chat = chat(model.clone(), count::tool());
    let (events, error) = events(chat.message().user("Count!").stream()).await;
    assert!(error.is_none());
    let progress = events.iter().find_map(|event| match event {
        ChatEvent::Progress { call, done, total, message } => {
            Some((call.to_string(), *done, *total, message.clone()))
        }
        _ => None,
    });
    let expected = ("call_0_0".to_owned(), Some(1.0), Some(3.0));
    let (call, done, total, message) = progress.unwrap();
    assert_eq!((call, done, total), expected);
    assert_eq!(message.as_deref(), Some("counting"));
    let updates: Vec<String> = events
        .iter()
        .filter_map(|event| match event {
            ChatEvent::Update { result } => Some(format!("{} {}", result.call_id, result.text())),
            _ => None,
        })
        .collect();
    assert_eq!(updates, ["call_0_0 one", "call_0_0 two"]);
    assert_eq!(last_result_texts(&model), ["three"]);
}

fn direct(name: &str, text: &'static str) -> Tool {
    Tool::builder(name, "Answers by itself.").return_direct(true).run(move |_, _| text).unwrap()
}

#[tokio::test]
async fn a_result_can_be_the_answer() {
    let model = ScriptedModel::new().calls_all([("a", "{}"), ("b", "{}")]);
    let tools = vec![direct("a", "from a"), direct("b", "from b")];
    let response = chat(model.clone(), tools).message().user("Go!");
    let response = response.call().await.unwrap();
    assert_eq!(response.end(), Some(&TurnEnd::Direct));
    assert_eq!(response.text(), "from a\nfrom b");
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test]
async fn beside_another_result_it_is_one_among_others() {
    let model = ScriptedModel::new().calls_all([("a", "{}"), ("b", "{}")]).replies("Both.");
    let tools = vec![direct("a", "from a"), constant_tool("b", "from b")];
    let chat = chat(model.clone(), tools);
    let response = chat.message().user("Go!").call().await.unwrap();
    assert_eq!(response.text(), "Both.");
    assert_eq!(last_result_texts(&model), ["from a", "from b"]);
}

#[tokio::test]
async fn what_went_wrong_is_no_answer() {
    let model = ScriptedModel::new().calls("a", r#"{"surprise": 1}"#).calls("a", "{}");
    let chat = chat(model.clone(), direct("a", "from a"));
    let response = chat.message().user("Go!").call().await.unwrap();
    assert_eq!(response.text(), "from a");
    assert_eq!(response.end(), Some(&TurnEnd::Direct));
    assert!(results(&model.requests()[1])[0].is_error());
}

#[tokio::test]
async fn two_calls_with_one_id_are_two_calls() {
    let log = Log::default();
    let model = FnModel::new(|request| match request.messages.len() {
        1 => {
            let call = |n: u32| ToolCall::new("write", format!(r#"{{"n": {n}}}"#)).with_id("same");
            let item = |n| Item::call(call(n));
            ModelReply::from_items(vec![item(1), item(2), item(3)])
        }
        _ => "Done.".into(),
    });
    let chat = chat(model, write(&log));
    let response = chat.message().user("Go!").call().await.unwrap();
    assert_eq!(log.lines(), ["write 1", "write 2", "write 3"]);
    let ids: Vec<String> = response.results().iter().map(|it| it.call_id.to_string()).collect();
    assert_eq!(ids, ["same", "same_2", "same_3"]);
    assert_complete(response.entries());
}

#[tokio::test]
async fn turns_of_one_conversation_queue_and_others_do_not() {
    let gate = std::sync::Arc::new(tokio::sync::Notify::new());
    let waiting = std::sync::Arc::clone(&gate);
    let wait = Tool::builder("wait", "Waits.").run_async(move |_, _| {
        let gate = std::sync::Arc::clone(&waiting);
        async move { gate.notified().await }
    });
    let model = FnModel::new(|request| match request.messages.len() {
        1 if request.tool_choice == ToolChoice::Required => {
            ModelReply::call(ToolCall::new("wait", "{}"))
        }
        count => ModelReply::text(count.to_string()),
    });
    let chat = chat(model, wait.unwrap());
    let ask = |room: &str| chat.message().conversation(room).user("Go!");
    let first = ask("room").tool_choice(ToolChoice::Required).call();
    let (first, second, ()) = tokio::join!(first, ask("room").call(), async {
        let elsewhere = ask("another room").call().await.unwrap();
        assert_eq!(elsewhere.text(), "1");
        gate.notify_one();
    });
    assert_eq!(first.unwrap().text(), "3");
    assert_eq!(second.unwrap().text(), "5", "it has read the first one's answer");
}
