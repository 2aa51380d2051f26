//! async-openai's typed chunks; the caller assembles the call, by its index.

use async_openai::{
    Client,
    config::OpenAIConfig,
    types::chat::{ChatCompletionRequestUserMessage, CreateChatCompletionRequestArgs},
};
use futures::StreamExt as _;
use toolwright_bench::{Comparison, stream::StreamedAnswer};

use super::{QUESTION, client};

/// Adds the row.
pub fn add_row<'a>(race: Comparison<'a>, base: &str) -> Comparison<'a> {
    let config = OpenAIConfig::new().with_api_base(base).with_api_key("a key");
    let client = Client::with_config(config).with_http_client(client());
    race.add_async_function("async-openai", async move || {
        let message = ChatCompletionRequestUserMessage::from(QUESTION);
        let request = CreateChatCompletionRequestArgs::default()
            .model("gpt-5")
            .messages([message.into()])
            .build()
            .unwrap();
        let mut answer = StreamedAnswer::default();
        let mut chunks = client.chat().create_stream(request).await.unwrap();
        while let Some(chunk) = chunks.next().await {
            for choice in chunk.unwrap().choices {
                answer.text.push_str(choice.delta.content.as_deref().unwrap_or_default());
                for call in choice.delta.tool_calls.into_iter().flatten() {
                    let Some(function) = call.function else {
                        continue;
                    };
                    answer.tool.push_str(function.name.as_deref().unwrap_or_default());
                    answer.arguments.push_str(function.arguments.as_deref().unwrap_or_default());
                }
            }
        }
        answer.to_text()
    })
}
