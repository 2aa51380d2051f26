//! The JSON of chunks: any field may be missing, unknown fields are ignored.

use std::collections::HashMap;

use serde_json::value::RawValue;

use crate::protocol::json::lenient_structs;

lenient_structs! {
    /// One chunk of a response.
    #[serde(rename_all = "camelCase")]
    struct Chunk<'a> {
        #[serde(borrow)] candidates: Vec<&'a RawValue>,
        prompt_feedback: PromptFeedback,
        usage_metadata: Usage,
        response_id: Option<String>,
        #[serde(borrow)] error: Option<&'a RawValue>,
    }

    /// One of the candidates; only the first is requested.
    #[serde(rename_all = "camelCase")]
    struct Candidate<'a> {
        #[serde(borrow)] content: Content<'a>,
        finish_reason: String,
        #[serde(borrow)] grounding_metadata: Option<&'a RawValue>,
    }

    struct Content<'a> {
        #[serde(borrow)] parts: Vec<&'a RawValue>,
    }
}

/// A part by its fields, which determine its type.
pub(super) type Part<'a> = HashMap<String, &'a RawValue>;

lenient_structs! {
    #[serde(rename_all = "camelCase")]
    struct FunctionCall<'a> {
        id: Option<String>,
        name: String,
        #[serde(borrow)] args: Option<&'a RawValue>,
        #[serde(borrow)] partial_args: Option<&'a RawValue>,
        will_continue: bool,
    }

    /// The input or the output of a hosted tool.
    #[serde(rename_all = "camelCase")]
    struct HostedTool<'a> {
        tool_type: String,
        #[serde(borrow)] args: Option<&'a RawValue>,
        #[serde(borrow)] response: Option<&'a RawValue>,
    }

    #[serde(rename_all = "camelCase")]
    struct GroundingMetadata {
        web_search_queries: Vec<String>,
        grounding_chunks: Vec<GroundingChunk>,
    }

    struct GroundingChunk {
        web: Option<WebPage>,
    }

    struct WebPage {
        title: Option<String>,
        uri: Option<String>,
    }

    /// Why a prompt was blocked.
    #[serde(rename_all = "camelCase")]
    struct PromptFeedback {
        block_reason: String,
        block_reason_message: Option<String>,
    }

    /// The number of tokens so far.
    #[derive(Clone, Copy)]
    #[serde(rename_all = "camelCase")]
    struct Usage {
        prompt_token_count: Option<u64>,
        tool_use_prompt_token_count: Option<u64>,
        cached_content_token_count: Option<u64>,
        candidates_token_count: Option<u64>,
        thoughts_token_count: Option<u64>,
    }

    /// The body of an error response.
    struct ErrorEnvelope {
        error: ErrorBody,
    }

    struct ErrorBody {
        code: Option<u16>,
        message: String,
        status: Option<String>,
        details: Vec<ErrorDetail>,
    }

    #[serde(rename_all = "camelCase")]
    struct ErrorDetail {
        reason: Option<String>,
        retry_delay: Option<String>,
        violations: Vec<QuotaViolation>,
    }

    /// An exceeded quota.
    #[serde(rename_all = "camelCase")]
    struct QuotaViolation {
        quota_id: Option<String>,
    }
}
