//! Front ends of AG-UI.

use std::sync::Arc;

use serde_json::{Value, json};
use toolwright::chat::{MemoryStore, Message, Model};
use toolwright::testing::{FnModel, ScriptedModel};
use toolwright::{Tool, ToolError};
use toolwright_server::ServerBuilder;

use crate::approvals::{Payments, paying_model, payment_tool};
use crate::restart::kept;
use crate::support::{
    ManualModel, SseEvents, TestServer, event_type, event_types, invoker, no_tools, serve,
};

pub(crate) fn adder() -> Tool {
    Tool::builder("add", "Adds two numbers.")
        .read_only(true)
        .param::<i64>("a", "One.")
        .param::<i64>("b", "The other.")
        .run(|args, _| Ok::<_, ToolError>(args.get::<i64>("a")? + args.get::<i64>("b")?))
        .unwrap()
}

pub(crate) fn user(text: &str) -> Value {
    json!({ "id": "u1", "role": "user", "content": text })
}

fn input(more: Value) -> Value {
    let mut input = json!({
        "threadId": "t", "runId": "r", "messages": [], "tools": [], "context": [], "state": {}, "forwardedProps": {},
    });
    input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    input
}

pub(crate) async fn open(server: &TestServer, more: Value) -> SseEvents {
    let request = server.request("POST", "/agui");
    let request = request.header("content-type", "application/json");
    SseEvents::new(server.open(request, &input(more).to_string()).await)
}

pub(crate) async fn run(server: &TestServer, more: Value) -> Vec<Value> {
    let mut events = open(server, more).await;
    let mut all = Vec::new();
    while let Some(event) = events.next().await {
        all.push(event);
    }
    all
}

pub(crate) fn of<'a>(events: &'a [Value], wanted: &str) -> &'a Value {
    let found = events.iter().find(|event| event_type(event) == wanted);
    found.unwrap_or_else(|| panic!("no {wanted} in {events:#?}"))
}

/// The text of an answer.
pub(crate) fn text(events: &[Value]) -> String {
    let deltas = events.iter().filter(|event| event_type(event) == "TEXT_MESSAGE_CONTENT");
    deltas.map(|event| event["delta"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn a_run_has_steps_calls_results_and_text() {
    let model = ScriptedModel::new().calls("add", r#"{"a": 2, "b": 3}"#).replies("It is 5.");
    let server = serve(ServerBuilder::new(invoker(adder()), model)).await;
    let events = run(&server, json!({ "messages": [user("What is 2 + 3?")] })).await;
    let expected = [
        "RUN_STARTED",
        "STEP_STARTED",
        "TOOL_CALL_START",
        "TOOL_CALL_ARGS",
        "TOOL_CALL_END",
        "TOOL_CALL_RESULT",
        "STEP_FINISHED",
        "STEP_STARTED",
        "TEXT_MESSAGE_START",
        "TEXT_MESSAGE_CONTENT",
        "TEXT_MESSAGE_END",
        "STEP_FINISHED",
        "RUN_FINISHED",
    ];
    let mut kinds = event_types(&events);
    kinds.dedup();
    assert_eq!(kinds, expected);
    assert_eq!(text(&events), "It is 5.");
    assert_eq!(of(&events, "RUN_STARTED")["protocolVersion"], "1.0");
    assert_eq!(of(&events, "TOOL_CALL_ARGS")["delta"], r#"{"a": 2, "b": 3}"#);
    assert_eq!(of(&events, "TOOL_CALL_RESULT")["content"], "5");
    let finished = of(&events, "RUN_FINISHED");
    assert_eq!(finished["outcome"], json!({ "type": "success" }));
    assert_eq!(finished["usage"][0]["inputTokens"], 20);
}

#[tokio::test]
async fn a_call_that_waits_interrupts_the_run_and_another_run_decides() {
    let paid = Payments::default();
    let server = serve(ServerBuilder::new(invoker(payment_tool(&paid)), paying_model())).await;
    let events = run(&server, json!({ "messages": [user("Pay Bob.")] })).await;
    let outcome = &of(&events, "RUN_FINISHED")["outcome"];
    assert_eq!(outcome["type"], "interrupt");
    let interrupt = &outcome["interrupts"][0];
    assert_eq!(interrupt["reason"], "tool_call");
    assert_eq!(interrupt["toolCallId"], of(&events, "TOOL_CALL_START")["toolCallId"]);
    assert_eq!(interrupt["metadata"]["toolwright"]["arguments"], json!({ "euros": 100 }));
    let resume = |payload: Value| json!({ "resume": [{ "interruptId": interrupt["id"], "status": "resolved", "payload": payload }] });

    let wrong = [
        (json!({ "messages": [user("Never mind.")] }), "interrupted"),
        (json!({ "resume": [{ "interruptId": "x", "status": "cancelled" }] }), "unknown_interrupt"),
        (resume(json!({ "approved": "yes" })), "invalid_payload"),
        (resume(json!({ "approved": true, "editedArgs": 7 })), "invalid_payload"),
    ];
    for (more, code) in wrong {
        let events = run(&server, more).await;
        assert_eq!(event_types(&events), ["RUN_ERROR"]);
        assert_eq!(events[0]["code"], code);
    }
    assert!(paid.lock().unwrap().is_empty());

    let shown = run(&server, json!({})).await;
    assert_eq!(
        of(&shown, "RUN_FINISHED")["outcome"],
        *outcome,
        "the thread shows the pending call"
    );

    let edited = resume(json!({ "approved": true, "editedArgs": { "euros": 7 } }));
    let events = run(&server, edited.clone()).await;
    assert!(!event_types(&events).contains(&"TOOL_CALL_START"), "{events:#?}");
    assert_eq!(of(&events, "TOOL_CALL_RESULT")["content"], "paid 7");
    assert_eq!(of(&events, "RUN_FINISHED")["outcome"], json!({ "type": "success" }));

    let again = run(&server, edited).await;
    assert_eq!(again[0]["code"], "unknown_interrupt");
    assert_eq!(*paid.lock().unwrap(), [7], "what was decided is not decided again");
}

#[tokio::test]
async fn a_call_that_is_denied_or_cancelled_does_not_run() {
    for entry in [
        json!({ "status": "cancelled" }),
        json!({ "status": "resolved", "payload": { "approved": false } }),
    ] {
        let paid = Payments::default();
        let server = serve(ServerBuilder::new(invoker(payment_tool(&paid)), paying_model())).await;
        let events = run(&server, json!({ "messages": [user("Pay Bob.")] })).await;
        let mut entry = entry;
        entry["interruptId"] =
            of(&events, "RUN_FINISHED")["outcome"]["interrupts"][0]["id"].clone();
        let events = run(&server, json!({ "resume": [entry] })).await;
        let result = of(&events, "TOOL_CALL_RESULT");
        assert_eq!(result["metadata"]["toolwright"]["outcome"], "denied");
        assert!(paid.lock().unwrap().is_empty());
    }
}

#[tokio::test]
async fn a_run_without_messages_shows_the_thread() {
    let model = ScriptedModel::new().calls("add", r#"{"a": 2, "b": 3}"#).replies("It is 5.");
    let server = serve(ServerBuilder::new(invoker(adder()), model)).await;
    run(&server, json!({ "messages": [user("What is 2 + 3?")] })).await;
    let events = run(&server, json!({})).await;
    assert_eq!(event_types(&events), ["RUN_STARTED", "MESSAGES_SNAPSHOT", "RUN_FINISHED"]);
    let messages = events[1]["messages"].as_array().unwrap();
    let roles: Vec<&str> = messages.iter().map(|it| it["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant"]);
    assert_eq!(messages[1]["toolCalls"][0]["function"]["name"], "add");
    assert_eq!(messages[2]["toolCallId"], messages[1]["toolCalls"][0]["id"]);
    assert_eq!(messages[3]["content"], "It is 5.");
    let unknown = run(&server, json!({ "threadId": "elsewhere" })).await;
    assert_eq!(
        event_types(&unknown),
        ["RUN_STARTED", "RUN_FINISHED"],
        "nothing takes the client's place"
    );
}

#[tokio::test]
async fn a_client_that_reconnects_reads_the_rest_of_the_turn() {
    let (model, strings) = ManualModel::new();
    let server = serve(ServerBuilder::new(no_tools(), model)).await;
    let mut lost = open(&server, json!({ "messages": [user("Go.")] })).await;
    strings.send("Half ".to_owned()).unwrap();
    while event_type(&lost.next().await.unwrap()) != "TEXT_MESSAGE_CONTENT" {}
    drop(lost);
    let mut back = open(&server, json!({ "runId": "r2" })).await;
    assert_eq!(event_type(&back.next().await.unwrap()), "RUN_STARTED");
    assert_eq!(event_type(&back.next().await.unwrap()), "MESSAGES_SNAPSHOT");
    strings.send("an answer.".to_owned()).unwrap();
    strings.send(String::new()).unwrap();
    let mut rest = Vec::new();
    while let Some(event) = back.next().await {
        rest.push(event);
    }
    assert_eq!(of(&rest, "TEXT_MESSAGE_START")["role"], "user");
    assert_eq!(text(&rest), "Go.Half an answer.");
    assert_eq!(event_type(rest.last().unwrap()), "RUN_FINISHED");
}

/// The roles of the messages that the model receives.
fn hears() -> impl Model {
    FnModel::new(|request| {
        let roles = request.messages.iter().map(|message| match message {
            Message::User(content) => format!("user {}", content.len()),
            Message::Assistant(_) => "assistant".to_owned(),
            Message::Step(_) => "step".to_owned(),
            other => format!("{other:?}"),
        });
        roles.collect::<Vec<_>>().join(", ")
    })
}

#[tokio::test]
async fn a_thread_that_began_elsewhere_starts_with_the_messages_of_the_client() {
    let server = serve(ServerBuilder::new(no_tools(), hears())).await;
    let mut messages = vec![
        user("Hello."),
        json!({ "id": "a1", "role": "assistant", "content": "Hello!" }),
        json!({ "id": "u2", "role": "user", "content": [{ "type": "text", "text": "And now?" }] }),
    ];
    let context = json!([{ "description": "The page", "value": "Settings" }]);
    let events = run(&server, json!({ "messages": messages, "context": context })).await;
    let answer = text(&events);
    assert_eq!(answer, "user 1, assistant, user 2");
    messages.push(json!({ "id": "a2", "role": "assistant", "content": answer }));
    messages.push(json!({ "id": "u3", "role": "user", "content": "More." }));
    let events = run(&server, json!({ "messages": messages })).await;
    assert_eq!(text(&events), "user 1, assistant, user 2, step, user 1");
}

/// The definition of a tool that the front end runs.
pub(crate) fn front_end_tools() -> Value {
    let parameters = json!({ "type": "object", "properties": { "times": { "type": "integer" } } });
    json!([{ "name": "blink", "description": "Blinks.", "parameters": parameters }])
}

/// The messages of a front end that has run its tool.
pub(crate) fn messages_with_result(call: &Value) -> Value {
    let function = json!({ "name": "blink", "arguments": "{}" });
    json!([
        user("Blink!"),
        { "id": "a", "role": "assistant", "toolCalls": [{ "id": call, "type": "function", "function": function }] },
        { "id": "t", "role": "tool", "toolCallId": call, "content": "blinked twice" },
    ])
}

#[tokio::test]
async fn a_call_of_a_front_end_s_tool_waits_also_after_a_restart_that_another_client_notices_first()
{
    let store = Arc::<MemoryStore>::default();
    let model = ScriptedModel::new().calls("blink", r#"{"times": 2}"#);
    let before = serve(kept(ServerBuilder::new(no_tools(), model), &store)).await;
    let tools = front_end_tools();
    let events = run(&before, json!({ "messages": [user("Blink!")], "tools": tools })).await;
    let call = of(&events, "TOOL_CALL_START")["toolCallId"].clone();
    before.end().await;

    let model = ScriptedModel::new().calls("blink", "{}").replies("I blinked.");
    let after = serve(kept(ServerBuilder::new(no_tools(), model), &store)).await;
    // Has the turn recovered, without the tool.
    let shown = after.get("/api/conversations/t").await.json();
    assert_eq!(shown["pending"][0]["call"]["id"], call, "{shown:#}");
    // The model calls the tool of the front end again, which this request does not bring.
    let events = run(&after, json!({ "messages": messages_with_result(&call) })).await;
    let again = of(&events, "TOOL_CALL_START")["toolCallId"].clone();
    assert_eq!(of(&events, "RUN_FINISHED")["outcome"]["pendingToolCallIds"], json!([again]));
    let events = run(&after, json!({ "messages": messages_with_result(&again) })).await;
    assert_eq!(text(&events), "I blinked.");
}

#[tokio::test]
async fn a_tool_of_the_front_end_is_run_there() {
    let model = ScriptedModel::new().calls("blink", r#"{"times": 2}"#).replies("I blinked.");
    let server = serve(ServerBuilder::new(invoker(adder()), model)).await;
    let tools = front_end_tools();
    let events = run(&server, json!({ "messages": [user("Blink!")], "tools": tools })).await;
    let call = &of(&events, "TOOL_CALL_START")["toolCallId"];
    let outcome = json!({ "type": "success", "pendingToolCallIds": [call] });
    assert_eq!(of(&events, "RUN_FINISHED")["outcome"], outcome);
    assert!(!event_types(&events).contains(&"TOOL_CALL_RESULT"));

    let messages = messages_with_result(call);
    let events = run(&server, json!({ "messages": messages, "tools": tools })).await;
    assert!(!event_types(&events).contains(&"TOOL_CALL_RESULT"), "the client has it already");
    assert_eq!(text(&events), "I blinked.");
    let thread = server.get("/api/conversations/t").await;
    assert!(thread.text().contains("blinked twice"));
}

#[tokio::test]
async fn errors_are_reported_in_the_protocol() {
    let server = serve(ServerBuilder::new(invoker(adder()), ScriptedModel::new())).await;
    let tools =
        json!([{ "name": "add", "description": "Adds.", "parameters": { "type": "object" } }]);
    let events = run(&server, json!({ "messages": [user("Hi")], "tools": tools })).await;
    assert_eq!(event_types(&events), ["RUN_ERROR"]);
    assert_eq!(events[0]["code"], "tools");
    // The script is empty: the model fails.
    let events = run(&server, json!({ "messages": [user("Hi")] })).await;
    assert_eq!(event_type(events.last().unwrap()), "RUN_ERROR");
    for wrong in [json!({}), json!({ "threadId": "", "runId": "r", "messages": [] })] {
        assert_eq!(server.post("/agui", wrong).await.status, 400);
    }
}
