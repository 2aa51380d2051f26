//! Results in, messages and items for the model out.
//!
//! Neither API can mark a failure: its text begins with `Error: `.

use async_openai::types::chat::{self, ChatCompletionRequestUserMessageContentPart as Part};
use async_openai::types::responses::{self, InputContent, InputItem};
use toolwright::{Content, ToolResult};

/// Other pictures are refused, and the whole request with them.
const SUPPORTED_IMAGE_TYPES: [&str; 4] = ["image/gif", "image/jpeg", "image/png", "image/webp"];

/// A picture that a model can see.
fn to_image_url(content: &Content) -> Option<chat::ImageUrl> {
    let Content::Image { data, mime_type } = content else {
        return None;
    };
    let is_seen = SUPPORTED_IMAGE_TYPES.contains(&mime_type.as_str());
    is_seen.then(|| format!("data:{mime_type};base64,{data}").into())
}

/// Answers calls of Chat Completions.
pub(crate) fn to_chat_messages(
    results: Vec<ToolResult>,
) -> Vec<chat::ChatCompletionRequestMessage> {
    let (mut messages, mut shown) = (Vec::new(), Vec::new());
    for mut result in results {
        let pictures: Vec<_> = result.content.iter().filter_map(to_image_url).collect();
        if !pictures.is_empty() {
            result.content.retain(|item| to_image_url(item).is_none());
            let whose = format!("From the result of {}:", result.tool);
            shown.push(Part::Text(whose.into()));
            shown.extend(pictures.into_iter().map(|it| Part::ImageUrl(it.into())));
            if result.content.is_empty() {
                result.content.push(Content::text("See below."));
            }
        }
        let answer = chat::ChatCompletionRequestToolMessage {
            content: result.to_text_with_error_prefix().as_ref().into(),
            tool_call_id: result.call_id.to_string(),
        };
        messages.push(answer.into());
    }
    if !shown.is_empty() {
        let shown = chat::ChatCompletionRequestUserMessageContent::Array(shown);
        messages.push(chat::ChatCompletionRequestUserMessage::from(shown).into());
    }
    messages
}

/// Answers a call of Responses.
pub(crate) fn to_output_item(
    (call, result): (&responses::FunctionToolCall, &ToolResult),
) -> InputItem {
    let answer = responses::FunctionCallOutputItemParam {
        call_id: Some(call.call_id.clone()),
        output: to_call_output(result),
        id: None,
        status: None,
        name: None,
        namespace: None,
        // A program that the model wrote waits for what it called itself.
        caller: call.caller.clone(),
    };
    responses::Item::from(answer).into()
}

fn to_call_output(result: &ToolResult) -> responses::FunctionCallOutput {
    if result.content.iter().all(|item| to_image_url(item).is_none()) {
        return result.to_text_with_error_prefix().as_ref().into();
    }
    let failed = result.is_error().then(|| InputContent::from("Error:"));
    let parts = result.content.iter().map(|item| match to_image_url(item) {
        Some(picture) => InputContent::InputImage(responses::InputImageContent {
            image_url: Some(picture.url),
            ..Default::default()
        }),
        None => InputContent::from(item.to_text()),
    });
    failed.into_iter().chain(parts).collect::<Vec<_>>().into()
}
