//! The JSON of lines: any field may be missing, unknown fields are ignored.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::protocol::json::lenient_structs;

lenient_structs! {
    /// One line of a response.
    struct Line<'a> {
        #[serde(borrow)] created_at: Option<Cow<'a, str>>,
        #[serde(borrow)] message: Message<'a>,
        done: bool,
        done_reason: String,
        prompt_eval_count: u64,
        eval_count: u64,
        #[serde(borrow)] error: Option<&'a RawValue>,
    }

    /// The next part of the message.
    struct Message<'a> {
        #[serde(borrow)] thinking: Cow<'a, str>,
        #[serde(borrow)] content: Cow<'a, str>,
        #[serde(borrow)] tool_calls: Vec<&'a RawValue>,
    }

    struct Call<'a> {
        id: Option<String>,
        #[serde(borrow)] function: Option<Function<'a>>,
    }

    struct Function<'a> {
        name: String,
        #[serde(borrow)] arguments: Option<&'a RawValue>,
    }

    /// The body of an error response.
    struct ErrorEnvelope<'a> {
        #[serde(borrow)] error: Option<&'a RawValue>,
        status: Option<u16>,
    }

    /// An error of another server, which Ollama forwards.
    struct ErrorBody {
        message: Option<String>,
    }
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
