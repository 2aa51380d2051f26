//! What a client carries for the loop: requests in its types, answers, and what goes wrong.

use std::sync::{Arc, Mutex};

use async_openai::error::{ApiError, ApiErrorResponse, OpenAIError};
use async_openai::types::chat::{CreateChatCompletionRequest, CreateChatCompletionStreamResponse};
use async_openai::types::responses::{CreateResponse, ResponseStreamEvent};
use futures::stream;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use toolwright::Content;
use toolwright::chat::{Chat, ChatError, ModelErrorKind};
use toolwright_async_openai::model;

use super::{client, invoker, without_null};

/// Holds a conversation of two questions in types of one's choice; what was asked, and how it ended.
async fn recorded<R, C>(name: &str, answers: &[&[Value]]) -> (Vec<Value>, Result<String, ChatError>)
where
    R: DeserializeOwned + Serialize + 'static,
    C: DeserializeOwned + Serialize + Send + 'static,
{
    let asked = Arc::new(Mutex::new(Vec::new()));
    let answers: Vec<Vec<Value>> = answers.iter().map(|answer| answer.to_vec()).collect();
    let book = Arc::clone(&asked);
    let model = model(name, move |request: R| {
        let mut book = book.lock().unwrap();
        let chunks = answers[book.len()].clone();
        book.push(serde_json::to_value(request).unwrap());
        // As the client reads them.
        let read = |chunk: Value| {
            serde_json::from_value::<C>(chunk.clone())
                .map_err(|error| OpenAIError::JSONDeserialize(error, format!("{chunk:#}")))
        };
        async move { Ok(stream::iter(chunks.into_iter().map(read))) }
    });
    let chat = Chat::builder(&invoker(), model.unwrap()).system("Be brief.").build();
    let picture = Content::image("image/png", b"\x89PNG");
    let first = vec![Content::text("What is this?"), picture];
    let mut end = chat.message().conversation("c").user(first).call().await;
    if end.is_ok() {
        end = chat.message().conversation("c").user("And now?").call().await;
    }
    let asked = asked.lock().unwrap().clone();
    (asked, end.map(|response| response.text()))
}

fn chunk(delta: Value, finish: Option<&str>) -> Value {
    json!({
        "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    })
}

#[tokio::test]
async fn nothing_of_a_chat_is_lost_in_their_types() {
    let call = |index: u32, name: &str, arguments: &str| {
        let function = json!({"name": name, "arguments": arguments});
        json!({"index": index, "id": name, "type": "function", "function": function})
    };
    let calls = [call(0, "sum", r#"{"a":1}"#), call(1, "paint", "{}")];
    let calls = json!({"role": "assistant", "tool_calls": calls});
    let answers: [&[Value]; 3] = [
        &[chunk(calls, None), chunk(json!({}), Some("tool_calls"))],
        &[chunk(json!({"content": "A pixel."}), Some("stop"))],
        &[chunk(json!({"content": "Nothing."}), Some("stop"))],
    ];
    let name = "openai-chat:gpt-5";
    let typed =
        recorded::<CreateChatCompletionRequest, CreateChatCompletionStreamResponse>(name, &answers);
    let (typed, end) = typed.await;
    assert_eq!(end.unwrap(), "Nothing.");
    let (json, _) = recorded::<Value, Value>(name, &answers).await;
    assert_eq!(typed.len(), 3);
    assert_eq!(without_null(typed.into()), without_null(json.into()));
}

fn responded(items: Value) -> Vec<Value> {
    let items = items.as_array().unwrap();
    let done = items.iter().enumerate().map(|(index, item)| {
        json!({"type": "response.output_item.done", "sequence_number": 1, "output_index": index, "item": item})
    });
    let response = json!({
        "id": "r", "object": "response", "created_at": 1, "status": "completed", "model": "m", "output": items,
    });
    let end = json!({"type": "response.completed", "sequence_number": 2, "response": response});
    done.chain([end]).collect()
}

fn output_text(text: &str) -> Value {
    let part = json!({"type": "output_text", "text": text, "annotations": [], "logprobs": []});
    json!({"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": [part]})
}

#[tokio::test]
async fn nothing_of_responses_is_lost_in_their_types() {
    let first = responded(json!([
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "secret"},
        {"type": "function_call", "id": "fc_1", "call_id": "b", "name": "paint", "arguments": "{\"kind\":null}",
         "status": "completed"},
    ]));
    let (second, third) =
        (responded(json!([output_text("A pixel.")])), responded(json!([output_text("Nothing.")])));
    let answers: [&[Value]; 3] = [&first, &second, &third];
    let (typed, end) =
        recorded::<CreateResponse, ResponseStreamEvent>("openai:gpt-5", &answers).await;
    assert_eq!(end.unwrap(), "Nothing.");
    let (json, _) = recorded::<Value, Value>("openai:gpt-5", &answers).await;
    assert_eq!(typed.len(), 3);
    assert_eq!(without_null(typed.into()), without_null(json.into()));
}

#[tokio::test]
async fn what_their_types_do_not_know_is_read_and_only_json_can_say_it_again() {
    let new = json!({"type": "brand_new_item", "id": "bn_1", "what": {"it": "is"}});
    let mut first = responded(json!([new, output_text("Look.")]));
    first.insert(0, json!({"type": "response.brand_new.event"}));
    let second = responded(json!([output_text("Nothing.")]));
    let answers: [&[Value]; 2] = [&first, &second];
    let (typed, end) =
        recorded::<CreateResponse, ResponseStreamEvent>("openai:gpt-5", &answers).await;
    let error = format!("{:?}", end.unwrap_err());
    assert!(error.contains("create_stream_byot"), "{error}");
    assert_eq!(typed.len(), 1);
    let (json, end) = recorded::<Value, Value>("openai:gpt-5", &answers).await;
    assert_eq!(end.unwrap(), "Nothing.");
    assert_eq!(json[1]["input"][1], new);
}

async fn kind_of(
    error: impl Fn() -> OpenAIError + Send + Sync + 'static,
) -> (ModelErrorKind, String) {
    let model = model("openai-chat:gpt-5", move |_: Value| {
        let error = error();
        async move { Err::<stream::Empty<Result<Value, OpenAIError>>, _>(error) }
    });
    let chat = Chat::new(&invoker(), model.unwrap());
    match chat.message().user("Hello").call().await.unwrap_err() {
        ChatError::Model(error) => (error.kind, error.message),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_refusal_is_of_the_kind_that_its_status_and_code_say() {
    let refused = |status: u16, code: Option<&'static str>, message: &'static str| {
        kind_of(move || {
            OpenAIError::ApiError(ApiErrorResponse {
                status_code: status.try_into().unwrap(),
                api_error: ApiError {
                    message: message.to_owned(),
                    code: code.map(str::to_owned),
                    ..ApiError::default()
                },
            })
        })
    };
    let code = Some("context_length_exceeded");
    let kind = |kind, message: &str| (kind, format!("openai-chat: {message}"));
    assert_eq!(refused(400, code, "no").await, kind(ModelErrorKind::ContextTooLong, "no"));
    assert_eq!(refused(401, None, "who").await, kind(ModelErrorKind::Auth, "who"));
    assert_eq!(refused(429, None, "slow").await, kind(ModelErrorKind::RateLimit, "slow"));
    let whole = r#"{"error": {"message": "busy"}}"#;
    assert_eq!(refused(503, None, whole).await, kind(ModelErrorKind::Overloaded, "busy"));
    let foreign = || {
        let error = serde_json::from_str::<u8>("x").unwrap_err();
        OpenAIError::JSONDeserialize(error, r#"{"detail": "no such path"}"#.to_owned())
    };
    assert_eq!(kind_of(foreign).await, kind(ModelErrorKind::BadRequest, "no such path"));
}

#[tokio::test]
async fn whoever_hangs_up_is_the_networks_fault() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { while listener.accept().await.is_ok() {} });
    let client = client(&address);
    let model = model("openai:gpt-5", move |request| {
        let client = client.clone();
        async move { client.responses().create_stream(request).await }
    });
    let chat = Chat::new(&invoker(), model.unwrap());
    let error = chat.message().user("Hello").call().await.unwrap_err();
    assert!(
        matches!(&error, ChatError::Model(error) if error.kind == ModelErrorKind::Network),
        "{error:?}"
    );
}

#[test]
fn a_vendor_that_is_not_there_is_named() {
    let send = |_: Value| async { Ok(stream::empty::<Result<Value, OpenAIError>>()) };
    let error = model("opena:gpt-5", send).err().unwrap();
    assert!(error.message.contains("did you mean `openai`?"), "{error}");
}
