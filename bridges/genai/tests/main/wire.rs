//! What goes over the wire and comes back, where the suite does not look: canned answers of providers, one after the other.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use genai::adapter::AdapterKind;
use genai::chat::{ChatRequest, JsonSchemaDialect, sanitize_json_schema};
use genai::resolver::{AuthData, Endpoint};
use genai::{Client, ModelIden, ServiceTarget};
use serde_json::{Value, json};
use toolwright::chat::{ApprovalResponse, Chat, ChatError, ModelErrorKind};
use toolwright::schema::Dialect;
use toolwright::{Bridge, Content, Invoker, Registry, Tool, ToolError, tool};
use toolwright_genai::{GenaiModel, tools};

/// Adds two numbers.
#[tool(read_only)]
fn add(a: i64, b: Option<i64>) -> i64 {
    a + b.unwrap_or(1)
}

/// Erases a file.
#[tool(destructive)]
fn erase(path: String) -> String {
    format!("erased {path}")
}

fn invoker() -> Invoker {
    let registry = Registry::new();
    registry.add(add::tool()).unwrap();
    registry.add(erase::tool()).unwrap();
    Invoker::new(&registry).unwrap()
}

/// A provider that sends these responses, each a head and a body, and records the requests.
fn provider(
    adapter: AdapterKind,
    answers: Vec<(&'static str, String)>,
) -> (Client, Receiver<Value>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/", listener.local_addr().unwrap());
    let (sender, sent) = channel();
    std::thread::spawn(move || {
        for (head, body) in answers {
            let (mut connection, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(connection.try_clone().unwrap());
            let mut length = 0;
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                let line = line.trim().to_ascii_lowercase();
                if let Some(number) = line.strip_prefix("content-length:") {
                    length = number.trim().parse().unwrap();
                }
                if line.is_empty() {
                    break;
                }
            }
            let mut asked = vec![0; length];
            reader.read_exact(&mut asked).unwrap();
            sender.send(serde_json::from_slice(&asked).unwrap()).unwrap();
            let end = format!("content-length: {}\r\nconnection: close\r\n\r\n", body.len());
            write!(connection, "HTTP/1.1 {head}\r\n{end}{body}").unwrap();
        }
    });
    let resolve = move |_: ServiceTarget| {
        Ok(ServiceTarget {
            endpoint: Endpoint::from_owned(address.as_str()),
            auth: AuthData::from_single("no key"),
            model: ModelIden::new(adapter, "mock"),
        })
    };
    let client = Client::builder().with_service_target_resolver_fn(resolve);
    (client.build().unwrap(), sent)
}

const STREAM: &str = "200 OK\r\ncontent-type: text/event-stream";
const WHOLE: &str = "200 OK\r\ncontent-type: application/json";

/// Frames of OpenAI's chat; the last has the finish reason.
fn chat(deltas: &[Value], stop: &str) -> (&'static str, String) {
    let frame = |delta: &Value| json!({"choices": [{"index": 0, "delta": delta}]});
    let mut frames: Vec<String> = deltas.iter().map(|delta| frame(delta).to_string()).collect();
    let usage = json!({"prompt_tokens": 20, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 8}});
    let last =
        json!({"choices": [{"index": 0, "delta": {}, "finish_reason": stop}], "usage": usage});
    frames.extend([last.to_string(), "[DONE]".to_owned()]);
    (STREAM, frames.iter().map(|frame| format!("data: {frame}\n\n")).collect())
}

/// Frames of Anthropic's, each named by its type.
fn messages(frames: &[Value]) -> (&'static str, String) {
    let frame =
        |frame: &Value| format!("event: {}\ndata: {frame}\n\n", frame["type"].as_str().unwrap());
    (STREAM, frames.iter().map(frame).collect())
}

fn called(index: usize, id: &str, arguments: &str) -> Value {
    json!({"tool_calls": [{"index": index, "id": id, "function": {"name": "add", "arguments": arguments}}]})
}

async fn ask(client: Client, question: &str) -> Result<toolwright::chat::Response, ChatError> {
    let model = GenaiModel::new(client, "mock").await.unwrap();
    Chat::new(&invoker(), model).message().user(question).call().await
}

#[tokio::test]
async fn calls_run_and_usage_is_counted() {
    let (client, sent) = provider(
        AdapterKind::OpenAI,
        vec![
            chat(
                &[
                    called(0, "a", r#"{"a": "#),
                    called(0, "a", r#"2, "b": null}"#),
                    called(1, "b", r#"{"a": 5, "b": 5}"#),
                ],
                "tool_calls",
            ),
            chat(&[json!({"content": "3 and 10"})], "stop"),
        ],
    );
    let response = ask(client, "Add.").await.unwrap();
    assert_eq!(response.text(), "3 and 10");
    assert_eq!((response.usage().input, response.usage().cached), (40, 16));
    let first = sent.recv().unwrap();
    assert_eq!(first["tools"][0]["function"]["strict"], true);
    let second = sent.recv().unwrap();
    let [_, assistant, results @ ..] = second["messages"].as_array().unwrap().as_slice() else {
        panic!("{second}")
    };
    assert_eq!(assistant["tool_calls"][0]["function"]["arguments"], r#"{"a":2,"b":null}"#);
    let results: Vec<&Value> = results.iter().map(|result| &result["content"]).collect();
    assert_eq!(results, ["3", "10"]);
}

#[tokio::test]
async fn arguments_that_are_cut_off_never_run() {
    for arguments in [r#"{"a": 2"#, ""] {
        let answers = vec![
            chat(&[called(0, "a", arguments)], "length"),
            chat(&[json!({"content": "sorry"})], "stop"),
        ];
        let (client, _sent) = provider(AdapterKind::OpenAI, answers);
        let results = ask(client, "Add.").await.unwrap().results();
        assert!(results.iter().all(|result| result.is_error()), "{results:?}");
    }
}

#[tokio::test]
async fn thoughts_go_back_as_they_came() {
    let begins = |index, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let grows = |index, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let ends = |index| json!({"type": "content_block_stop", "index": index});
    let stop = |stop| json!({"type": "message_delta", "delta": {"stop_reason": stop}, "usage": {"output_tokens": 5}});
    let thinks = [
        begins(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        grows(0, json!({"type": "thinking_delta", "thinking": "Add them."})),
        grows(0, json!({"type": "signature_delta", "signature": "signed"})),
        ends(0),
        begins(1, json!({"type": "redacted_thinking", "data": "secret"})),
        ends(1),
        begins(2, json!({"type": "tool_use", "id": "toolu_1", "name": "add", "input": {}})),
        grows(2, json!({"type": "input_json_delta", "partial_json": r#"{"a": 2}"#})),
        ends(2),
        stop("tool_use"),
        json!({"type": "message_stop"}),
    ];
    let answer = [
        begins(0, json!({"type": "text", "text": ""})),
        grows(0, json!({"type": "text_delta", "text": "3"})),
        ends(0),
        stop("end_turn"),
        json!({"type": "message_stop"}),
    ];
    let (client, sent) =
        provider(AdapterKind::Anthropic, vec![messages(&thinks), messages(&answer)]);
    assert_eq!(ask(client, "Add.").await.unwrap().text(), "3");
    let asked = sent.iter().nth(1).unwrap();
    let expected = json!([
        {"type": "thinking", "thinking": "Add them.", "signature": "signed"},
        {"type": "redacted_thinking", "data": "secret"},
        {"type": "tool_use", "id": "toolu_1", "name": "add", "input": {"a": 2}},
    ]);
    assert_eq!(asked["messages"][1]["content"], expected);
}

#[tokio::test]
async fn calls_without_ids_are_told_apart() {
    let call = |a: i64| json!([{"functionCall": {"name": "add", "args": {"a": a}}}]);
    let frame = |parts: Value, stop: Option<&str>| {
        let candidate = json!({"content": {"role": "model", "parts": parts}, "finishReason": stop});
        format!("data: {}\n\n", json!({"candidates": [candidate]}))
    };
    let calls = |a| frame(call(a), None) + &frame(call(a + 1), Some("STOP"));
    let answer = frame(json!([{"text": "3"}]), Some("STOP"));
    let cut = frame(json!([{"text": "thr"}]), None);
    let answers = [calls(1), calls(3), answer, cut].map(|body| (STREAM, body));
    let (client, sent) = provider(AdapterKind::Gemini, answers.to_vec());
    let model = GenaiModel::new(client, "mock").await.unwrap();
    let chat = Chat::new(&invoker(), model);
    let response = chat.message().user("Add, and again.").call().await.unwrap();
    let mut ids: Vec<_> = response.results().into_iter().map(|result| result.call_id).collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 4);
    let asked = sent.iter().nth(2).unwrap();
    let parts = asked["contents"][4]["parts"].as_array().unwrap().clone();
    assert_eq!(parts.len(), 2, "{asked}");
    assert_eq!(parts[1]["functionResponse"]["response"]["content"], "5");
    let error = chat.message().user("And now?").call().await.unwrap_err();
    assert_eq!(error.to_string(), "the answer is cut off: its stream ended early");
}

#[tokio::test]
async fn what_goes_wrong_has_its_kind() {
    let error_body = json!({"error": {"message": "slow down", "type": "rate_limit"}}).to_string();
    let long = json!({"error": {"message": "m", "code": "context_length_exceeded"}}).to_string();
    let broken = format!("data: {}\n\n", json!({"error": {"message": "busy"}}));
    let cases = [
        (
            "429 Too Many\r\nretry-after: 2\r\ncontent-type: application/json",
            error_body,
            ModelErrorKind::RateLimit,
        ),
        ("400 Bad\r\ncontent-type: application/json", long, ModelErrorKind::ContextTooLong),
        ("401 No\r\ncontent-type: application/json", "{}".to_owned(), ModelErrorKind::Auth),
        (STREAM, broken, ModelErrorKind::Overloaded),
        (STREAM, String::new(), ModelErrorKind::Network),
    ];
    for (head, body, kind) in cases {
        let (client, _sent) = provider(AdapterKind::OpenAI, vec![(head, body)]);
        let Err(ChatError::Model(error)) = ask(client, "Add.").await else { panic!("{head}") };
        assert_eq!(error.kind, kind, "{head}: {error}");
        let waits = (kind == ModelErrorKind::RateLimit).then_some(Duration::from_secs(2));
        assert_eq!(error.retry_after, waits);
    }
}

#[tokio::test]
async fn a_turn_pauses_and_a_picture_is_seen() {
    let call = json!({"tool_calls": [{"index": 0, "id": "a", "function": {"name": "erase", "arguments": r#"{"path": "/a"}"#}}]});
    let answers = vec![chat(&[call], "tool_calls"), chat(&[json!({"content": "gone"})], "stop")];
    let (client, sent) = provider(AdapterKind::OpenAI, answers);
    let model = GenaiModel::new(client, "mock").await.unwrap();
    let chat = Chat::new(&invoker(), model);
    let content = vec![Content::text("Erase this."), Content::image("image/png", b"\x89PNG")];
    let paused = chat.message().user(content).call().await.unwrap();
    let approved: Vec<ApprovalResponse> =
        paused.pending_approvals().iter().map(|asked| asked.approve()).collect();
    assert_eq!(approved.len(), 1);
    let response = paused.submit_approvals(approved).call().await.unwrap();
    assert_eq!(response.results().pop().unwrap().text(), "erased /a");
    let asked = sent.recv().unwrap();
    assert_eq!(asked["messages"][0]["content"][1]["type"], "image_url");
}

#[tokio::test]
async fn by_hand_the_messages_are_what_the_provider_wants() {
    let call = |a: i64| json!({"function": {"name": "add", "arguments": {"a": a}}});
    let ollama = json!({"message": {"role": "assistant", "content": "", "tool_calls": [call(1), call(2)]}, "done": true});
    let add =
        |id: &str, a: i64| json!({"type": "tool_use", "id": id, "name": "add", "input": {"a": a}});
    let anthropic = json!({"content": [add("x", 1), add("y", 2)], "stop_reason": "tool_use"});
    for (adapter, answer, count) in
        [(AdapterKind::Ollama, ollama, 3), (AdapterKind::Anthropic, anthropic, 2)]
    {
        let (client, _sent) = provider(adapter, vec![(WHOLE, answer.to_string())]);
        let tools = tools(&invoker()).unwrap();
        let request = ChatRequest::from_user("Add.").with_tools(tools.definitions());
        let response = client.exec_chat("mock", request, None).await.unwrap();
        let messages = tools.answer(&response).await;
        assert_eq!(messages.len(), count, "{adapter}: {messages:?}");
        let responses: Vec<_> =
            messages.iter().flat_map(|message| message.content.tool_responses()).collect();
        let responses: Vec<_> = responses
            .iter()
            .map(|response| (response.content.as_str(), response.fn_name.as_deref()))
            .collect();
        assert_eq!(responses, [("2", Some("add")), ("3", Some("add"))]);
    }
}

#[tokio::test]
async fn by_hand_a_loop_is_a_few_lines() {
    let call = json!({"id": "a", "type": "function", "function": {"name": "add", "arguments": r#"{"a": 2}"#}});
    let answer = |message: Value| (WHOLE, json!({"choices": [{"message": message}]}).to_string());
    let calls = answer(json!({"content": null, "tool_calls": [call]}));
    let (client, sent) =
        provider(AdapterKind::OpenAI, vec![calls, answer(json!({"content": "3"}))]);
    let tools = tools(Bridge::new(&invoker()).dialect(Dialect::OPENAI)).unwrap();
    let mut request = ChatRequest::from_user("Add.").with_tools(tools.definitions());
    let answer = loop {
        let response = client.exec_chat("mock", request.clone(), None).await.unwrap();
        match tools.answer(&response).await {
            more if more.is_empty() => break response.into_first_text(),
            more => request = request.append_messages(more),
        }
    };
    assert_eq!(answer.as_deref(), Some("3"));
    let asked = sent.iter().nth(1).unwrap();
    assert_eq!(asked["messages"][2]["content"], "3", "{asked}");
}

#[tokio::test]
async fn by_hand_a_call_that_is_cut_off_never_runs() {
    let cut = json!({"type": "tool_use", "id": "x", "name": "add", "input": ""});
    let answer = json!({"content": [cut], "stop_reason": "max_tokens"});
    let (client, _sent) = provider(AdapterKind::Anthropic, vec![(WHOLE, answer.to_string())]);
    let response = client.exec_chat("mock", ChatRequest::from_user("Add."), None).await.unwrap();
    let messages = tools(&invoker()).unwrap().answer(&response).await;
    let [assistant, tool] = messages.as_slice() else { panic!("{messages:?}") };
    assert_eq!(assistant.content.tool_calls()[0].fn_arguments, json!({}));
    assert!(tool.content.tool_responses()[0].content.contains("cut off"), "{tool:?}");
}

#[tokio::test]
async fn a_name_that_genai_takes_for_the_providers_is_refused_or_rewritten() {
    let registry = Registry::new();
    let search = Tool::builder("web_search", "Searches our shelves.");
    registry.add(search.run(|_, _| Ok::<_, ToolError>("found")).unwrap()).unwrap();
    let invoker = Invoker::new(&registry).unwrap();
    let error = tools(&invoker).unwrap_err().to_string();
    assert!(error.starts_with("`web_search` cannot be offered: "), "{error}");

    let answer = messages(&[json!({"type": "message_stop"})]);
    let (client, sent) = provider(AdapterKind::Anthropic, vec![answer]);
    let model = GenaiModel::new(client, "mock").await.unwrap();
    Chat::new(&invoker, model).message().user("Search.").call().await.unwrap();
    let tool = sent.recv().unwrap()["tools"][0].take();
    assert!(tool["name"].as_str().unwrap().starts_with("web_search_"), "{tool}");
    assert_eq!(tool["type"], Value::Null);
}

#[test]
fn what_is_strict_already_is_not_changed_by_genai() {
    let invoker = invoker();
    for (dialect, theirs) in [
        (Dialect::OPENAI, JsonSchemaDialect::OpenAiStrictTool),
        (Dialect::ANTHROPIC, JsonSchemaDialect::AnthropicStructured),
    ] {
        for tool in tools(Bridge::new(&invoker).dialect(dialect)).unwrap().definitions() {
            let schema = tool.schema.unwrap();
            assert_eq!(tool.strict, Some(true), "{dialect}: {}", tool.name);
            assert_eq!(sanitize_json_schema(&schema, theirs), schema, "{dialect}: {}", tool.name);
        }
    }
}
