//! The JSON of chunks: any field may be missing, unknown fields are ignored.

use std::collections::HashMap;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::protocol::json::lenient;

/// One chunk of a response.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Chunk<'a> {
    #[serde(borrow, deserialize_with = "lenient")]
    pub(super) candidates: Option<Vec<&'a RawValue>>,
    #[serde(deserialize_with = "lenient")]
    pub(super) prompt_feedback: Option<PromptFeedback>,
    #[serde(deserialize_with = "lenient")]
    pub(super) usage_metadata: Option<Usage>,
    #[serde(deserialize_with = "lenient")]
    pub(super) response_id: Option<String>,
    #[serde(borrow, deserialize_with = "lenient")]
    pub(super) error: Option<&'a RawValue>,
}

/// One of the candidates; only the first is requested.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Candidate<'a> {
    #[serde(borrow, deserialize_with = "lenient")]
    pub(super) content: Option<Content<'a>>,
    #[serde(deserialize_with = "lenient")]
    pub(super) finish_reason: Option<String>,
    #[serde(borrow, deserialize_with = "lenient")]
    pub(super) grounding_metadata: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Content<'a> {
    #[serde(borrow, deserialize_with = "lenient")]
    pub(super) parts: Option<Vec<&'a RawValue>>,
}

/// A part by its fields, which determine its type.
pub(super) type Part<'a> = HashMap<String, &'a RawValue>;

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct FunctionCall<'a> {
    #[serde(deserialize_with = "lenient")]
    pub(super) id: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) name: Option<String>,
    #[serde(borrow, deserialize_with = "lenient")]
    pub(super) args: Option<&'a RawValue>,
    #[serde(borrow, deserialize_with = "lenient")]
    pub(super) partial_args: Option<&'a RawValue>,
    #[serde(deserialize_with = "lenient")]
    pub(super) will_continue: Option<bool>,
}

/// The input or the output of a hosted tool.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct HostedTool<'a> {
    #[serde(deserialize_with = "lenient")]
    pub(super) tool_type: Option<String>,
    #[serde(borrow, deserialize_with = "lenient")]
    pub(super) args: Option<&'a RawValue>,
    #[serde(borrow, deserialize_with = "lenient")]
    pub(super) response: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct GroundingMetadata {
    #[serde(deserialize_with = "lenient")]
    pub(super) web_search_queries: Option<Vec<String>>,
    #[serde(deserialize_with = "lenient")]
    pub(super) grounding_chunks: Option<Vec<GroundingChunk>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct GroundingChunk {
    #[serde(deserialize_with = "lenient")]
    pub(super) web: Option<WebPage>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct WebPage {
    #[serde(deserialize_with = "lenient")]
    pub(super) title: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) uri: Option<String>,
}

/// Why a prompt was blocked.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct PromptFeedback {
    #[serde(deserialize_with = "lenient")]
    pub(super) block_reason: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) block_reason_message: Option<String>,
}

/// The number of tokens so far.
#[derive(Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Usage {
    #[serde(deserialize_with = "lenient")]
    pub(super) prompt_token_count: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    pub(super) tool_use_prompt_token_count: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    pub(super) cached_content_token_count: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    pub(super) candidates_token_count: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    pub(super) thoughts_token_count: Option<u64>,
}

/// The body of an error response.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ErrorEnvelope {
    #[serde(deserialize_with = "lenient")]
    pub(super) error: Option<ErrorBody>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ErrorBody {
    #[serde(deserialize_with = "lenient")]
    pub(super) code: Option<u16>,
    #[serde(deserialize_with = "lenient")]
    pub(super) message: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) status: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) details: Option<Vec<ErrorDetail>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ErrorDetail {
    #[serde(deserialize_with = "lenient")]
    pub(super) reason: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) retry_delay: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) violations: Option<Vec<QuotaViolation>>,
}

/// An exceeded quota.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct QuotaViolation {
    #[serde(deserialize_with = "lenient")]
    pub(super) quota_id: Option<String>,
}
