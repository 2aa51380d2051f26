//! Our results as rig's, and rig's as ours.

use rig::agent::{AgentHook, HookContext, OutcomeAction, OutcomeEvent};
use rig::message::{DocumentSourceKind, Image, ImageMediaType, MimeType as _, ToolResultContent};
use rig::tool::{ToolErrorKind, ToolExecutionError, ToolOutput};
use toolwright::{Content, ErrorKind, Outcome, ToolResult};

/// The code of an error that ends a run, where [`EndOnFatal`] is asked to.
const FATAL_KEY: &str = "fatal";

/// Converts a result: the text for the model, and the kind of failure for hooks.
pub(crate) fn to_tool_output(result: &ToolResult) -> Result<ToolOutput, ToolExecutionError> {
    // Only a list without any block is refused.
    let output =
        ToolOutput::content(to_content_blocks(result)).unwrap_or_else(|_| ToolOutput::text(""));
    if !result.is_error() {
        return Ok(output);
    }
    let text = result.to_text();
    let error = match result.outcome {
        Outcome::UnknownTool => ToolExecutionError::not_found(text),
        Outcome::InvalidArguments => ToolExecutionError::invalid_args(text),
        Outcome::Denied => ToolExecutionError::refused(text),
        Outcome::TimedOut => ToolExecutionError::timeout(text),
        Outcome::Cancelled => ToolExecutionError::cancelled(text),
        _ => ToolExecutionError::other(text),
    };
    let code = match result.error {
        Some(ErrorKind::Fatal) => FATAL_KEY.to_owned(),
        _ => result.outcome.to_string(),
    };
    let retry = result.error == Some(ErrorKind::Retry);
    let error = error.with_model_output(output).with_code(code);
    Err(error.with_retryable(retry))
}

/// Makes JSON of what is nothing but JSON, pictures of pictures, and words of the rest.
pub(crate) fn to_content_blocks(result: &ToolResult) -> Vec<ToolResultContent> {
    let json = result.structured.as_ref().map(|json| json.to_value());
    // The model is to read the same text, so JSON whose text would differ stays text.
    if let Some(value) = json.filter(|value| value.to_string() == result.to_text()) {
        return vec![ToolResultContent::json(value)];
    }
    let blocks = result.content.iter().map(|item| match item {
        Content::Image { data, mime_type } => match ImageMediaType::from_mime_type(mime_type) {
            Some(kind) => ToolResultContent::image_base64(data, Some(kind), None),
            None => ToolResultContent::text(item.to_text()),
        },
        _ => ToolResultContent::text(item.to_text()),
    });
    blocks.collect()
}

/// Reads what a tool of rig's returned.
pub(crate) fn from_rig_result(result: &rig::tool::ToolResult) -> ToolResult {
    let mut read = from_content_blocks(result.output().as_content());
    if let Some(error) = result.error().or(result.refusal()) {
        read.outcome = match error.kind() {
            ToolErrorKind::InvalidArgs => Outcome::InvalidArguments,
            ToolErrorKind::Timeout => Outcome::TimedOut,
            ToolErrorKind::Cancelled => Outcome::Cancelled,
            ToolErrorKind::PermissionDenied => Outcome::Denied,
            _ => Outcome::Failed,
        };
        read.error = Some(match (error.code(), error.retryable(), read.outcome) {
            (Some(FATAL_KEY), ..) => ErrorKind::Fatal,
            (_, Some(true), _) | (_, _, Outcome::InvalidArguments) => ErrorKind::Retry,
            _ => ErrorKind::Failed,
        });
    }
    read
}

/// Converts the content of a result that a model receives.
pub(crate) fn from_rig_message(message: &rig::message::ToolResult) -> ToolResult {
    let read = from_content_blocks(&message.content);
    let mut read = read.for_call(message.call.to_string(), message.name.as_str());
    if message.is_error {
        (read.outcome, read.error) = (Outcome::Failed, Some(ErrorKind::Failed));
    }
    read
}

fn from_content_blocks(blocks: &[ToolResultContent]) -> ToolResult {
    let contents = blocks.iter().map(|block| match block {
        ToolResultContent::Text(text) => Content::text(&*text.text),
        ToolResultContent::Json { value } => Content::text(value.to_string()),
        ToolResultContent::Image(image) => from_image(image),
    });
    let result = ToolResult::success(contents.collect::<Vec<_>>());
    match blocks {
        [ToolResultContent::Json { value }] => result.with_structured(value),
        _ => result,
    }
}

fn from_image(image: &Image) -> Content {
    let kind = image.media_type.as_ref();
    let kind = kind.map_or("application/octet-stream", |kind| kind.to_mime_type());
    match &image.data {
        DocumentSourceKind::Base64(data) => {
            Content::Image { data: data.clone(), mime_type: kind.to_owned() }
        }
        DocumentSourceKind::Raw(bytes) => Content::image(kind, bytes),
        DocumentSourceKind::Url(url) => Content::link(url, "a picture"),
        _ => Content::text("a picture that only its provider can show"),
    }
}

/// Ends a run when a tool fails in a way that ends a turn: a hook for `add_hook`.
///
/// Without it the model reads why, as of any other failure: a tool alone cannot end a run of rig's.
#[derive(Clone, Copy, Debug, Default)]
pub struct EndOnFatal;

impl AgentHook for EndOnFatal {
    async fn on_outcome(&self, _: &HookContext, event: OutcomeEvent<'_>) -> OutcomeAction {
        match event.tool_result().and_then(|result| result.error()) {
            Some(error) if error.code() == Some(FATAL_KEY) => OutcomeAction::stop(error.message()),
            _ => OutcomeAction::proceed(),
        }
    }
}
