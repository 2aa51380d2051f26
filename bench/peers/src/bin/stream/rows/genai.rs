//! genai's chat stream, which assembles the call when its capture is enabled.

use futures::StreamExt as _;
use genai::{
    Client, ModelIden, ServiceTarget,
    adapter::AdapterKind,
    chat::{ChatMessage, ChatOptions, ChatRequest, ChatStreamEvent},
    resolver::{AuthData, Endpoint, Error, ServiceTargetResolver},
};
use serde_json::Value;
use toolwright_bench::{Comparison, stream::StreamedAnswer};

use super::{QUESTION, client};

/// Adds the row.
pub fn add_row<'a>(race: Comparison<'a>, base: &str) -> Comparison<'a> {
    let base = format!("{base}/");
    let resolver = ServiceTargetResolver::from_resolver_fn(
        move |target: ServiceTarget| -> Result<ServiceTarget, Error> {
            Ok(ServiceTarget {
                endpoint: Endpoint::from_owned(base.clone()),
                auth: AuthData::from_single("a key"),
                model: ModelIden::new(AdapterKind::OpenAI, target.model.model_name),
            })
        },
    );
    let client = Client::builder()
        .with_reqwest(client())
        .with_service_target_resolver(resolver)
        .build()
        .unwrap();
    let options = ChatOptions::default().with_capture_tool_calls(true);
    race.add_async_function("genai", async move || {
        let request = ChatRequest::new(vec![ChatMessage::user(QUESTION)]);
        let mut streamed = StreamedAnswer::default();
        let answer = client.exec_chat_stream("gpt-5", request, Some(&options));
        let mut events = answer.await.unwrap().stream;
        while let Some(event) = events.next().await {
            match event.unwrap() {
                ChatStreamEvent::Chunk(chunk) => streamed.text.push_str(&chunk.content),
                ChatStreamEvent::End(end) => {
                    for call in end.captured_into_tool_calls().into_iter().flatten() {
                        streamed.tool.push_str(&call.fn_name);
                        match call.fn_arguments {
                            Value::String(text) => streamed.arguments.push_str(&text),
                            value => streamed.arguments.push_str(&value.to_string()),
                        }
                    }
                }
                _ => {}
            }
        }
        streamed.to_text()
    })
}
