//! Converts parts of a chunk to [`ItemKind`]s.

use serde_json::value::RawValue;
use toolwright_chat::{ItemKind, StopReason};
use toolwright_core::schema::redact;

use super::wire;

pub(super) fn stop_reason(reason: String, calls: bool) -> StopReason {
    match reason.as_str() {
        // The second is sent by imitations of the API.
        "STOP" | "FUNCTION_CALL" if calls => StopReason::Calls,
        "STOP" => StopReason::End,
        "MAX_TOKENS" => StopReason::Length,
        "SAFETY"
        | "RECITATION"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION" => StopReason::Filtered,
        _ => StopReason::Other(reason),
    }
}

pub(super) fn blocked_message(feedback: &wire::PromptFeedback) -> Option<String> {
    let reason = feedback.block_reason.as_str();
    if matches!(reason, "" | "BLOCKED_REASON_UNSPECIFIED") {
        return None;
    }
    let message = match &feedback.block_reason_message {
        Some(message) => format!("the prompt was blocked ({reason}): {message}"),
        None => format!("the prompt was blocked ({reason})"),
    };
    Some(redact(&message).into_owned())
}

/// A hosted search; `None` if the metadata is empty, as when the model did not search.
pub(super) fn search_kind(raw: &RawValue) -> Option<ItemKind> {
    let grounding: wire::GroundingMetadata = serde_json::from_str(raw.get()).ok()?;
    let queries = grounding.web_search_queries;
    let pages: Vec<String> = grounding
        .grounding_chunks
        .into_iter()
        .filter_map(|source| source.web)
        .map(|page| {
            let fields = [page.title, page.uri].into_iter().flatten();
            fields.collect::<Vec<_>>().join(" ")
        })
        .collect();
    if queries.is_empty() && pages.is_empty() {
        return None;
    }
    Some(ItemKind::HostedCall {
        tool: "web_search".to_owned(),
        input: queries.join("\n"),
        output: pages.join("\n"),
        failed: false,
    })
}

pub(super) fn hosted_kind(
    tool: &str,
    input: Option<&RawValue>,
    output: Option<&RawValue>,
) -> ItemKind {
    let text = |raw: Option<&RawValue>| raw.map(RawValue::get).unwrap_or_default().to_owned();
    ItemKind::HostedCall {
        tool: match tool {
            "GOOGLE_SEARCH_WEB" => "web_search".to_owned(),
            other => other.to_ascii_lowercase(),
        },
        input: text(input),
        output: text(output),
        failed: false,
    }
}
