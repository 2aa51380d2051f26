//! The JSON of chunks: any field may be missing, unknown fields are ignored.

use std::borrow::Cow;

use serde::de::{IgnoredAny, MapAccess, SeqAccess};
use serde_json::value::RawValue;

use crate::protocol::json::{Lenient, lenient_structs, next_element, next_lenient, next_name};

lenient_structs! {
    /// One chunk of a response.
    #[serde(rename_all = "camelCase")]
    struct Chunk<'a> {
        #[serde(borrow)] candidates: FirstCandidate<'a>,
        prompt_feedback: PromptFeedback,
        usage_metadata: Usage,
        #[serde(borrow)] response_id: Option<Cow<'a, str>>,
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

/// The first of the candidates; `None` if there is none, its default if it is no object.
#[derive(Debug, Default)]
pub(super) struct FirstCandidate<'a>(pub(super) Option<Candidate<'a>>);

impl<'de: 'a, 'a> Lenient<'de> for FirstCandidate<'a> {
    fn from_list<A: SeqAccess<'de>>(mut list: A) -> Result<Option<Self>, A::Error> {
        let first = next_element(&mut list)?;
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Some(Self(first)))
    }
}

/// A part; its fields determine its type.
#[derive(Debug, Default)]
pub(super) struct Part<'a> {
    pub(super) text: Option<Cow<'a, str>>,
    pub(super) thought: bool,
    pub(super) function_call: Option<&'a RawValue>,
    pub(super) tool_call: Option<&'a RawValue>,
    pub(super) tool_response: Option<&'a RawValue>,
    /// True if it has no field at all.
    pub(super) is_empty: bool,
    /// True if it has fields beside `text` and `thought`.
    pub(super) has_other_fields: bool,
}

impl<'de: 'a, 'a> Lenient<'de> for Part<'a> {
    fn from_object<A: MapAccess<'de>>(mut object: A) -> Result<Option<Self>, A::Error> {
        let mut part = Self { is_empty: true, ..Self::default() };
        while let Some(name) = next_name(&mut object)? {
            part.is_empty = false;
            match &*name {
                "text" => part.text = next_lenient(&mut object)?,
                "thought" => part.thought = next_lenient(&mut object)?,
                other => {
                    part.has_other_fields = true;
                    let value = object.next_value()?;
                    match other {
                        "functionCall" => part.function_call = Some(value),
                        "toolCall" => part.tool_call = Some(value),
                        "toolResponse" => part.tool_response = Some(value),
                        _ => {}
                    }
                }
            }
        }
        Ok(Some(part))
    }
}

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
