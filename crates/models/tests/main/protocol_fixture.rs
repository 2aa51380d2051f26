//! Responses independent of a protocol, and what a protocol must provide for the scenarios.

use serde_json::Value;
use toolwright_chat::{StopReason, Usage};
use toolwright_models::WireRequest;

/// One response.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScenarioReply {
    pub(crate) parts: Vec<ReplyPart>,
    /// Whether it ends because of the maximum number of tokens.
    pub(crate) hits_token_limit: bool,
}

/// One part of a response.
#[derive(Clone, Debug)]
pub(crate) enum ReplyPart {
    Text(&'static str),
    /// Reasoning, and its signature.
    Reasoning(&'static str, &'static str),
    Call {
        id: String,
        name: &'static str,
        arguments: String,
    },
    /// A hosted search: its query, and the URL of its source.
    Search(&'static str, &'static str),
    /// An unknown part.
    Unknown,
}

impl ScenarioReply {
    pub(crate) fn new(parts: impl IntoIterator<Item = ReplyPart>) -> Self {
        Self { parts: parts.into_iter().collect(), hits_token_limit: false }
    }

    pub(crate) fn has_calls(&self) -> bool {
        let mut parts = self.parts.iter();
        parts.any(|part| matches!(part, ReplyPart::Call { .. }))
    }
}

pub(crate) fn call(id: &str, name: &'static str, arguments: &str) -> ReplyPart {
    ReplyPart::Call { id: id.to_owned(), name, arguments: arguments.to_owned() }
}

/// Splits a text in two, as streams do.
pub(crate) fn halves(text: &str) -> [&str; 2] {
    let (one, two) = text.split_at(text.floor_char_boundary(text.len() / 2));
    [one, two]
}

/// A call in a later request.
#[derive(Debug, PartialEq)]
pub(crate) struct SentCall {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) arguments: Value,
}

/// A result in a request; the id is empty if the protocol has none.
#[derive(Debug, PartialEq)]
pub(crate) struct SentResult {
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) failed: bool,
}

/// The server side of a protocol.
pub(crate) trait ProtocolFixture: Sync {
    /// A vendor that implements it, and a model.
    fn model(&self) -> (&'static str, &'static str);

    /// The content type of a stream.
    fn content_type(&self) -> &'static str {
        "text/event-stream"
    }

    /// A response as a stream.
    fn streamed(&self, reply: &ScenarioReply) -> String;

    /// The same without streaming.
    fn complete_body(&self, reply: &ScenarioReply) -> String;

    /// An unknown event, to be put before any other.
    fn unknown_event(&self) -> String;

    /// A stream that starts with an error.
    fn failing_stream(&self) -> String;

    /// The body of a response with status 429.
    fn rate_limit_body(&self) -> &'static str;

    /// Status and body of the error for an account without credit or quota.
    fn quota_error(&self) -> (u16, &'static str);

    /// Other responses, and their stop reasons.
    fn stop_reasons(&self) -> Vec<(String, StopReason)>;

    /// The usage that every response reports, as far as the protocol can.
    fn usage(&self) -> Usage {
        let mut usage = Usage::new(120, 30);
        usage.cached = 20;
        usage.reasoning = 10;
        usage
    }

    /// Arguments as they are emitted: unchanged, unless the protocol cannot express text that is not JSON.
    fn delivered_arguments(&self, arguments: &str) -> String {
        arguments.to_owned()
    }

    /// Whether unknown items are replayed.
    fn replays_unknown_items(&self) -> bool {
        true
    }

    /// Whether the last frame is marked, so that the end of the connection is not needed.
    fn has_end_marker(&self) -> bool {
        true
    }

    /// Whether the vendor hosts a search, and MCP servers.
    fn hosted_support(&self) -> (bool, bool);

    /// Whether a request demands a stream.
    fn requests_stream(&self, request: &WireRequest) -> bool {
        body(request)["stream"] == true
    }

    /// The calls in a request.
    fn calls(&self, body: &Value) -> Vec<SentCall>;

    /// The results in a request.
    fn results(&self, body: &Value) -> Vec<SentResult>;

    /// The reasoning in a request.
    fn reasoning_items(&self, body: &Value) -> Vec<Value>;

    /// Reasoning as the vendor sends it, and requires it back.
    fn reasoning_item(&self, text: &str, signature: &str) -> Value;

    /// The schema of the response format in a request.
    fn response_schema(&self, body: &Value) -> Value;
}

pub(crate) fn body(request: &WireRequest) -> Value {
    serde_json::from_str(&request.body).unwrap()
}

/// The objects of a list that have a field of this value.
pub(crate) fn elements_with<'a>(list: &'a Value, field: &str, value: &str) -> Vec<&'a Value> {
    let list = list.as_array().into_iter().flatten();
    list.filter(|entry| entry[field] == value).collect()
}

pub(crate) fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Parses arguments that are sent as text.
pub(crate) fn parsed(value: &Value) -> Value {
    serde_json::from_str(value.as_str().unwrap()).unwrap()
}
