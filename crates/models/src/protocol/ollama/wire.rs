//! The JSON of lines: any field may be missing, unknown fields are ignored.

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::protocol::json::lenient;

/// One line of a response.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Line<'a> {
    #[serde(deserialize_with = "lenient")]
    pub(super) created_at: Option<String>,
    #[serde(borrow, deserialize_with = "lenient")]
    pub(super) message: Option<Message<'a>>,
    #[serde(deserialize_with = "lenient")]
    pub(super) done: Option<bool>,
    #[serde(deserialize_with = "lenient")]
    pub(super) done_reason: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) prompt_eval_count: Option<u64>,
    #[serde(deserialize_with = "lenient")]
    pub(super) eval_count: Option<u64>,
    #[serde(borrow, deserialize_with = "lenient")]
    pub(super) error: Option<&'a RawValue>,
}

/// The next part of the message.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Message<'a> {
    #[serde(deserialize_with = "lenient")]
    pub(super) thinking: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) content: Option<String>,
    #[serde(borrow, deserialize_with = "lenient")]
    pub(super) tool_calls: Option<Vec<&'a RawValue>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Call<'a> {
    #[serde(deserialize_with = "lenient")]
    pub(super) id: Option<String>,
    #[serde(borrow, deserialize_with = "lenient")]
    pub(super) function: Option<Function<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Function<'a> {
    #[serde(deserialize_with = "lenient")]
    pub(super) name: Option<String>,
    #[serde(borrow, deserialize_with = "lenient")]
    pub(super) arguments: Option<&'a RawValue>,
}

/// The body of an error response.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ErrorEnvelope<'a> {
    #[serde(borrow, deserialize_with = "lenient")]
    pub(super) error: Option<&'a RawValue>,
    #[serde(deserialize_with = "lenient")]
    pub(super) status: Option<u16>,
}

/// An error of another server, which Ollama forwards.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ErrorBody {
    #[serde(deserialize_with = "lenient")]
    pub(super) message: Option<String>,
}

/// The response to `/api/tags`.
#[derive(Deserialize)]
pub(super) struct ModelList {
    pub(super) models: Vec<ListedModel>,
}

#[derive(Deserialize)]
pub(super) struct ListedModel {
    pub(super) name: String,
}
