//! Clients of OpenAI's API.

use std::time::Duration;

use futures::{StreamExt as _, stream};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use toolwright::chat::{self, ChatEvent, ModelErrorKind, StopReason, TurnEnd};
use toolwright::testing::{ModelReply, ScriptedModel};
use toolwright_core::BoxFuture;
use toolwright_server::{
    Endpoint, GuardrailVerdict, IncomingMessage, Interceptor, ServerBuilder, Session, TurnContext,
    TurnError, TurnRejection,
};

use crate::ag_ui::adder;
use crate::approvals::{Payments, paying_model, payment_tool};
use crate::support::{
    ManualModel, SseEvents, TestServer, invoker, no_tools, serve, within_timeout,
};

const PATH: &str = "/v1/chat/completions";

fn request(messages: Value, more: Value) -> Value {
    let mut request = json!({ "model": "script", "messages": messages });
    request.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    request
}

fn asks(text: &str) -> Value {
    json!([{ "role": "user", "content": text }])
}

async fn answer(server: &TestServer, messages: Value, more: Value) -> Value {
    let answer = server.post(PATH, request(messages, more)).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

fn sums() -> ScriptedModel {
    ScriptedModel::new()
        .replies_with(|_| {
            let call = toolwright::ToolCall::new("add", r#"{"a": 2, "b": 3}"#).with_id("call_1");
            let look = toolwright::chat::Item::text("Let me see.");
            ModelReply::from_items(vec![look, toolwright::chat::Item::call(call)])
        })
        .replies("It is 5.")
}

#[tokio::test]
async fn the_servers_tools_run_inside() {
    let server = serve(ServerBuilder::new(invoker(adder()), sums())).await;
    let whole = answer(&server, asks("What is 2 + 3?"), json!({})).await;
    assert_eq!(whole["object"], "chat.completion");
    let choice = &whole["choices"][0];
    assert_eq!(choice["message"]["content"], "Let me see.\n\nIt is 5.");
    assert_eq!(choice["finish_reason"], "stop");
    assert!(choice["message"].get("tool_calls").is_none());
    assert_eq!(whole["usage"]["prompt_tokens"], 20);
    assert_eq!(whole["usage"]["total_tokens"], 30);
    assert_eq!(server.get("/api/conversations").await.json(), json!([]), "nothing is kept");
}

async fn streamed(server: &TestServer, messages: Value, mut more: Value) -> Vec<Value> {
    more["stream"] = true.into();
    let request_ = server.request("POST", PATH).header("content-type", "application/json");
    let body = request(messages, more).to_string();
    let mut events = SseEvents::new(server.open(request_, &body).await);
    let mut chunks = Vec::new();
    loop {
        match events.next_data().await.as_deref() {
            Some("[DONE]") => return chunks,
            Some(data) => chunks.push(serde_json::from_str(data).unwrap()),
            None => panic!("no end after {chunks:#?}"),
        }
    }
}

#[tokio::test]
async fn an_answer_comes_in_chunks_and_is_counted_on_request() {
    for counted in [false, true] {
        let server = serve(ServerBuilder::new(invoker(adder()), sums())).await;
        let more = json!({ "stream_options": { "include_usage": counted } });
        let mut chunks = streamed(&server, asks("What is 2 + 3?"), more).await;
        if counted {
            let last = chunks.pop().unwrap();
            assert_eq!(last["choices"], json!([]));
            assert_eq!(last["usage"]["completion_tokens"], 10);
        }
        assert!(chunks.iter().all(|chunk| chunk["object"] == "chat.completion.chunk"));
        assert!(chunks.iter().all(|chunk| chunk["id"] == chunks[0]["id"]));
        assert_eq!(chunks[0]["choices"][0]["delta"]["role"], "assistant");
        let pieces =
            chunks.iter().filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str());
        assert_eq!(pieces.collect::<String>(), "Let me see.\n\nIt is 5.");
        let last = chunks.last().unwrap();
        assert_eq!(last["choices"][0]["finish_reason"], "stop");
        assert!(last.get("usage").is_none());
    }
}

#[tokio::test]
async fn the_callers_own_tools_are_the_callers_to_run() {
    let model = ScriptedModel::new()
        .calls_all([("blink", r#"{"times": "2"}"#), ("add", r#"{"a": 2, "b": 3}"#)])
        .replies("I blinked.");
    let server = serve(ServerBuilder::new(invoker(adder()), model.clone())).await;
    let parameters = json!({ "type": "object", "properties": { "times": { "type": "integer" } }, "required": ["times"] });
    let blink =
        json!({ "type": "function", "function": { "name": "blink", "parameters": parameters } });
    let more = json!({ "tools": [blink] });
    let first = answer(&server, asks("Blink!"), more.clone()).await;
    let choice = &first["choices"][0];
    assert_eq!(choice["finish_reason"], "tool_calls");
    assert_eq!(choice["message"]["content"], Value::Null);
    let calls = choice["message"]["tool_calls"].as_array().unwrap();
    assert_eq!(calls.len(), 1, "the server's own are none of the caller's business");
    assert_eq!(calls[0]["function"], json!({ "name": "blink", "arguments": r#"{"times":2}"# }));

    let mut messages = asks("Blink!");
    let messages_ = messages.as_array_mut().unwrap();
    messages_.push(choice["message"].clone());
    messages_.push(
        json!({ "role": "tool", "tool_call_id": calls[0]["id"], "content": "blinked twice" }),
    );
    let second = answer(&server, messages, more).await;
    assert_eq!(second["choices"][0]["message"]["content"], "I blinked.");
    assert_eq!(second["choices"][0]["finish_reason"], "stop");
    let requests = model.requests();
    let [chat::Message::User(_), chat::Message::Step(step), chat::Message::Results(results)] =
        &*requests[1].messages
    else {
        panic!("{:#?}", requests[1].messages);
    };
    assert_eq!(step.calls().next().unwrap().name, "blink");
    assert_eq!(results[0].text(), "blinked twice");
}

#[tokio::test]
async fn the_history_is_sent_in_order() {
    let model = ScriptedModel::new().replies("Three.");
    let server = serve(
        ServerBuilder::new(no_tools(), model.clone())
            .endpoint(Endpoint::assistant().system("Be long.")),
    )
    .await;
    let messages = json!([
        { "role": "system", "content": "Be short." },
        { "role": "user", "content": "One?" },
        { "role": "assistant", "content": "One." },
        { "role": "user", "content": [{ "type": "text", "text": "Two?" }, { "type": "image_url", "image_url": { "url": "data:image/png;base64,AAAA" } }] },
    ]);
    let more = json!({ "temperature": 0.5, "max_completion_tokens": 9, "tool_choice": "none" });
    answer(&server, messages, more).await;
    let request = &model.requests()[0];
    assert_eq!(request.system.as_deref(), Some("Be short."));
    let [chat::Message::User(one), chat::Message::Assistant(_), chat::Message::User(two)] =
        &*request.messages
    else {
        panic!("{:#?}", request.messages);
    };
    assert_eq!((one.len(), two.len()), (1, 2));
    assert_eq!(request.options.max_tokens, Some(9));
    assert_eq!(request.options.temperature, Some(0.5));
}

#[tokio::test]
async fn a_call_that_needs_approval_is_denied_and_the_model_reads_why() {
    let paid = Payments::default();
    let model = paying_model();
    let server = serve(ServerBuilder::new(invoker(payment_tool(&paid)), model.clone())).await;
    let whole = answer(&server, asks("Pay Bob."), json!({})).await;
    assert_eq!(whole["choices"][0]["message"]["content"], "It is done.");
    assert!(paid.lock().unwrap().is_empty());
    let requests = model.requests();
    let Some(chat::Message::Results(results)) = requests[1].messages.last() else {
        panic!("{:#?}", requests[1].messages);
    };
    assert!(results[0].text().contains("nobody can be asked"), "{}", results[0].text());
}

#[tokio::test]
async fn an_answer_has_a_finish_reason() {
    let cut = |stop: StopReason| {
        ScriptedModel::new().replies_with(move |_| ModelReply::text("Well").stop(stop.clone()))
    };
    for (stop, expected) in [
        (StopReason::Length, "length"),
        (StopReason::Filtered, "content_filter"),
        (StopReason::End, "stop"),
    ] {
        let server = serve(ServerBuilder::new(no_tools(), cut(stop))).await;
        let whole = answer(&server, asks("Hi"), json!({})).await;
        assert_eq!(whole["choices"][0]["finish_reason"], expected);
    }
}

/// A request for an answer that satisfies a schema.
fn with_schema(schema: Value) -> Value {
    let json_schema = json!({ "name": "city", "strict": true, "schema": schema });
    json!({ "response_format": { "type": "json_schema", "json_schema": json_schema } })
}

fn city() -> Value {
    let properties = json!({ "name": { "type": "string" }, "people": { "type": "integer" } });
    json!({ "type": "object", "properties": properties, "required": ["name"] })
}

const BERN: &str = r#"{"name":"Bern","people":134000}"#;

#[tokio::test]
async fn an_answer_satisfies_the_schema_that_was_requested() {
    let model = || {
        let look = "Let me see.";
        ScriptedModel::new()
            .replies_with(move |_| {
                let call =
                    toolwright::ToolCall::new("add", r#"{"a": 2, "b": 3}"#).with_id("call_1");
                let items = vec![chat::Item::text(look), chat::Item::call(call)];
                ModelReply::from_items(items)
            })
            .replies(r#"{ "name": "Bern", "people": 134000 }"#)
    };
    let scripted = model();
    let server = serve(ServerBuilder::new(invoker(adder()), scripted.clone())).await;
    let whole = answer(&server, asks("Where?"), with_schema(city())).await;
    assert_eq!(whole["choices"][0]["message"]["content"], BERN);
    assert_eq!(whole["usage"]["prompt_tokens"], 20);
    for request in scripted.requests() {
        let format = request.response_format.as_ref().unwrap();
        assert_eq!(
            (&*format.name, &format.schema.as_value()["required"]),
            ("city", &json!(["name"]))
        );
    }
    let server = serve(ServerBuilder::new(invoker(adder()), model())).await;
    let chunks = streamed(&server, asks("Where?"), with_schema(city())).await;
    let texts = chunks.iter().filter_map(|chunk| chunk["choices"][0]["delta"]["content"].as_str());
    assert_eq!(texts.collect::<String>(), BERN);
    assert_eq!(chunks.last().unwrap()["choices"][0]["finish_reason"], "stop");
}

#[tokio::test]
async fn an_answer_is_any_object_if_that_was_requested() {
    let model = ScriptedModel::new().replies(BERN);
    let assistant = Endpoint::assistant().system("Be short.");
    let server = ServerBuilder::new(no_tools(), model.clone()).endpoint(assistant);
    let server = serve(server).await;
    let more = json!({ "response_format": { "type": "json_object" } });
    let whole = answer(&server, asks("Where?"), more).await;
    assert_eq!(whole["choices"][0]["message"]["content"], BERN);
    let request = &model.requests()[0];
    let system = request.system.as_deref().unwrap();
    assert_eq!(system, "Be short.\n\nAnswer with one JSON object, and nothing else.");
    assert!(request.response_format.is_none());
}

#[tokio::test]
async fn an_answer_that_is_not_what_was_requested_is_an_error_and_one_that_is_cut_off_is_not() {
    for (text, why) in [
        ("It is Bern.", "expected value"),
        (r#"{"people": 3}"#, "name"),
        (r#"{"name": 7}"#, "string"),
    ] {
        let server =
            serve(ServerBuilder::new(no_tools(), ScriptedModel::new().replies(text))).await;
        let failed = server.post(PATH, request(asks("Where?"), with_schema(city()))).await;
        assert_eq!(failed.status, 502, "{failed:?}");
        let error = &failed.json()["error"];
        assert_eq!(error["code"], "response_format");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(why) && message.ends_with(text), "{message}");
        let server =
            serve(ServerBuilder::new(no_tools(), ScriptedModel::new().replies(text))).await;
        let chunks = streamed(&server, asks("Where?"), with_schema(city())).await;
        assert_eq!(chunks.last().unwrap()["error"]["code"], "response_format");
        assert!(chunks.iter().all(|chunk| {
            chunk["choices"][0]["delta"]["content"].as_str().unwrap_or_default().is_empty()
        }));
    }
    let model = ScriptedModel::new()
        .replies_with(|_| ModelReply::text(r#"{"name": "Be"#).stop(StopReason::Length));
    let server = serve(ServerBuilder::new(no_tools(), model)).await;
    let whole = answer(&server, asks("Where?"), with_schema(city())).await;
    assert_eq!(whole["choices"][0]["finish_reason"], "length");
    assert_eq!(whole["choices"][0]["message"]["content"], r#"{"name": "Be"#);
}

#[tokio::test]
async fn an_invalid_request_names_its_invalid_parameter() {
    let server = serve(ServerBuilder::new(invoker(adder()), ScriptedModel::new())).await;
    let named = |name: &str| json!([{ "type": "function", "function": { "name": name, "parameters": { "type": "object" } } }]);
    let called = json!([
        { "role": "user", "content": "Hi" },
        { "role": "assistant", "tool_calls": [{ "id": "c", "type": "function", "function": { "name": "f", "arguments": "{}" } }] },
    ]);
    let wrong = [
        (asks("Hi"), json!({ "model": "gpt-5" }), 404, "model"),
        (json!([{ "role": "system", "content": "Hi" }]), json!({}), 400, "messages"),
        (
            json!([{ "role": "wizard", "content": "Hi" }, { "role": "user", "content": "Hi" }]),
            json!({}),
            400,
            "messages[0].role",
        ),
        (json!([{ "role": "user", "content": 7 }]), json!({}), 400, "messages[0].content"),
        (called, json!({}), 400, "messages[1].tool_calls"),
        (asks("Hi"), json!({ "n": 2 }), 400, "n"),
        (asks("Hi"), json!({ "stop": ["\n"] }), 400, "stop"),
        (asks("Hi"), json!({ "response_format": { "type": "xml" } }), 400, "response_format"),
        (
            asks("Hi"),
            json!({ "response_format": { "type": "json_schema" } }),
            400,
            "response_format",
        ),
        (
            asks("Hi"),
            with_schema(json!({ "type": "array" })),
            400,
            "response_format.json_schema.schema",
        ),
        (
            asks("Hi"),
            with_schema(json!({ "type": "object", "required": 7 })),
            400,
            "response_format.json_schema.schema",
        ),
        (asks("Hi"), json!({ "tool_choice": "perhaps" }), 400, "tool_choice"),
        (asks("Hi"), json!({ "tools": named("add") }), 400, "tools[0]"),
        (
            asks("Hi"),
            json!({ "tools": [{ "type": "function", "function": { "name": "f", "parameters": 7 } }] }),
            400,
            "tools[0]",
        ),
    ];
    for (messages, more, status, param) in wrong {
        let answer = server.post(PATH, request(messages, more)).await;
        assert_eq!(answer.status, status, "{answer:?}");
        let error = &answer.json()["error"];
        assert_eq!(error["param"], param, "{error}");
        assert_eq!(error["type"], "invalid_request_error");
    }
    assert_eq!(server.post(PATH, json!({})).await.json()["error"]["type"], "invalid_request_error");
}

#[tokio::test]
async fn a_model_that_fails_is_an_error_of_the_kind_it_is() {
    let fails = || ScriptedModel::new().fails(ModelErrorKind::RateLimit, "too fast");
    let server = serve(ServerBuilder::new(no_tools(), fails())).await;
    let answer = server.post(PATH, request(asks("Hi"), json!({}))).await;
    assert_eq!(answer.status, 429);
    assert_eq!(answer.json()["error"]["code"], "rate_limit");
    let server = serve(ServerBuilder::new(no_tools(), fails())).await;
    let chunks = streamed(&server, asks("Hi"), json!({})).await;
    assert_eq!(chunks.last().unwrap()["error"]["code"], "rate_limit");
}

#[tokio::test]
async fn an_account_without_credit_is_reported_with_the_code_that_clients_know() {
    let model = ScriptedModel::new().fails(ModelErrorKind::Quota, "pay first");
    let server = serve(ServerBuilder::new(no_tools(), model)).await;
    let answer = server.post(PATH, request(asks("Hi"), json!({}))).await;
    assert_eq!(answer.status, 429);
    assert_eq!(answer.json()["error"]["code"], "insufficient_quota");
}

struct Closed;

impl Interceptor for Closed {
    fn before<'a>(&'a self, _: &'a mut TurnContext) -> BoxFuture<'a, Result<(), TurnRejection>> {
        Box::pin(async { Err(TurnRejection::new("We are closed.")) })
    }
}

#[tokio::test]
async fn interceptors_run_here_too() {
    let assistant = Endpoint::assistant().interceptor(Closed);
    let server =
        serve(ServerBuilder::new(no_tools(), ScriptedModel::new()).endpoint(assistant)).await;
    let whole = answer(&server, asks("Hi"), json!({})).await;
    assert_eq!(whole["choices"][0]["message"]["content"], "We are closed.");
    let guard = |text: &str| match text.contains("secret") {
        true => GuardrailVerdict::Replace("***".to_owned()),
        false => GuardrailVerdict::Pass,
    };
    let assistant = Endpoint::assistant().guard_output(guard);
    let model = ScriptedModel::new().replies("a secret");
    let server = serve(ServerBuilder::new(no_tools(), model).endpoint(assistant)).await;
    let whole = answer(&server, asks("Hi"), json!({})).await;
    assert_eq!(whole["choices"][0]["message"]["content"], "***");
}

/// Sends the ends of turns to the test.
struct EndRecorder(mpsc::UnboundedSender<Option<TurnEnd>>);

impl Interceptor for EndRecorder {
    fn after<'a>(&'a self, turn: &'a TurnContext) -> BoxFuture<'a, ()> {
        let end = turn.outcome.as_ref().and_then(|outcome| outcome.end.clone());
        self.0.send(end).unwrap();
        Box::pin(async {})
    }
}

#[tokio::test]
async fn a_client_that_leaves_ends_the_turn() {
    let (sender, mut ends) = mpsc::unbounded_channel();
    let (model, strings) = ManualModel::new();
    let assistant = Endpoint::assistant().interceptor(EndRecorder(sender));
    let server = serve(ServerBuilder::new(no_tools(), model).endpoint(assistant)).await;
    let opened = server.request("POST", PATH).header("content-type", "application/json");
    let mut body = request(asks("Go."), json!({ "stream": true }));
    body["model"] = "puppet".into();
    let mut events = SseEvents::new(server.open(opened, &body.to_string()).await);
    strings.send("Half ".to_owned()).unwrap();
    while events.next().await.unwrap()["choices"][0]["delta"]["content"] != "Half " {}
    drop(events);
    assert_eq!(within_timeout(ends.recv()).await.unwrap(), Some(TurnEnd::Cancelled));
}

#[tokio::test]
async fn a_handler_answers_here_too_and_its_error_is_reported() {
    let answers = |message: IncomingMessage, session: Session| async move {
        match message.text().as_str() {
            "fail" => panic!("as it was asked to"),
            "echo" => session.send_text("By myself."),
            _ => session.answer_with_model(message).await?,
        }
        Ok::<(), TurnError>(())
    };
    let paid = Payments::default();
    let assistant = Endpoint::assistant().on_message(answers);
    let server =
        serve(ServerBuilder::new(invoker(payment_tool(&paid)), paying_model()).endpoint(assistant))
            .await;
    let whole = answer(&server, asks("echo"), json!({})).await;
    assert_eq!(whole["choices"][0]["message"]["content"], "By myself.");
    for (text, code) in [("fail", "internal"), ("Pay Bob.", "approval")] {
        let answer = server.post(PATH, request(asks(text), json!({}))).await;
        assert_eq!(answer.status, 500, "{answer:?}");
        assert_eq!(answer.json()["error"]["code"], code);
    }
    assert!(paid.lock().unwrap().is_empty());
    assert_eq!(server.get("/api/conversations").await.json(), json!([]));
}

#[tokio::test]
async fn what_a_foreign_agent_sends_is_the_answer_and_so_is_its_end() {
    let answers = |message: IncomingMessage, session: Session| async move {
        let delta = r#"{"sum": 5}"#.to_owned();
        let events = stream::iter([ChatEvent::Text { delta }]);
        match message.text().as_str() {
            "drip" => session.forward(events.chain(stream::pending())).await,
            _ => session.forward(events).await,
        }
    };
    let assistant = Endpoint::assistant().timeout(Duration::from_secs(1)).on_message(answers);
    let server = serve(ServerBuilder::new(no_tools(), ScriptedModel::new()).endpoint(assistant));
    let server = server.await;
    let more = json!({ "response_format": { "type": "json_object" } });
    let whole = answer(&server, asks("What is 2 + 3?"), more).await;
    assert_eq!(whole["choices"][0]["message"]["content"], r#"{"sum": 5}"#);
    let dripped = server.post(PATH, request(asks("drip"), json!({}))).await;
    assert_eq!(dripped.status, 500, "{dripped:?}");
    assert_eq!(dripped.json()["error"]["code"], "limit");
}

#[tokio::test]
async fn models_are_listed_and_shown() {
    let server = serve(ServerBuilder::new(no_tools(), ScriptedModel::new())).await;
    let listed = server.get("/v1/models").await.json();
    assert_eq!(listed["object"], "list");
    assert_eq!(listed["data"][0]["id"], "script");
    assert_eq!(server.get("/v1/models/script").await.json()["object"], "model");
    let unknown = server.get("/v1/models/gpt-5").await;
    assert_eq!(unknown.status, 404);
    assert_eq!(unknown.json()["error"]["code"], "model_not_found");
}
