//! What a model says, in no vendor's words; and what a protocol must know to be put through the scenarios.

use serde_json::Value;
use toolwright_chat::{StopReason, Usage};
use toolwright_models::WireRequest;

/// One answer.
#[derive(Clone, Debug, Default)]
pub(crate) struct ScenarioReply {
    pub(crate) parts: Vec<ReplyPart>,
    /// Whether it is cut off because the most tokens are reached.
    pub(crate) hits_token_limit: bool,
}

/// One part of an answer.
#[derive(Clone, Debug)]
pub(crate) enum ReplyPart {
    Text(&'static str),
    /// What the model thought, and the seal that the vendor wants back.
    Reasoning(&'static str, &'static str),
    Call {
        id: String,
        name: &'static str,
        arguments: String,
    },
    /// A search of the vendor's: what for, and the page that was found.
    Search(&'static str, &'static str),
    /// Something that nobody here has heard of.
    Unknown,
}

impl ScenarioReply {
    pub(crate) fn new(parts: impl IntoIterator<Item = ReplyPart>) -> Self {
        Self {
            parts: parts.into_iter().collect(),
            hits_token_limit: false,
        }
    }

    pub(crate) fn has_calls(&self) -> bool {
        let mut parts = self.parts.iter();
        parts.any(|part| matches!(part, ReplyPart::Call { .. }))
    }
}

pub(crate) fn call(id: &str, name: &'static str, arguments: &str) -> ReplyPart {
    ReplyPart::Call {
        id: id.to_owned(),
        name,
        arguments: arguments.to_owned(),
    }
}

/// Cuts a text in two, as streams do.
pub(crate) fn halves(text: &str) -> [&str; 2] {
    let (one, two) = text.split_at(text.floor_char_boundary(text.len() / 2));
    [one, two]
}

/// A call as a later request tells it.
#[derive(Debug, PartialEq)]
pub(crate) struct SentCall {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) arguments: Value,
}

/// A result as a request tells it; the id where the protocol has one.
#[derive(Debug, PartialEq)]
pub(crate) struct SentResult {
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) failed: bool,
}

/// A protocol, from the vendor's side.
pub(crate) trait ProtocolFixture: Sync {
    /// Who speaks it, and a model.
    fn model(&self) -> (&'static str, &'static str);

    /// How a vendor labels its streams.
    fn content_type(&self) -> &'static str {
        "text/event-stream"
    }

    /// An answer as it is streamed.
    fn streamed(&self, said: &ScenarioReply) -> String;

    /// The same in one piece.
    fn complete_body(&self, said: &ScenarioReply) -> String;

    /// An event that nobody has heard of, to be put before any other.
    fn unknown_event(&self) -> String;

    /// A stream that begins with the vendor giving up.
    fn failing_stream(&self) -> String;

    /// The body of an answer with status 429.
    fn rate_limit_body(&self) -> &'static str;

    /// How a request is refused when the account has used up its credit or its quota: status and body.
    fn quota_error(&self) -> (u16, &'static str);

    /// Other answers, and why they end.
    fn stop_reasons(&self) -> Vec<(String, StopReason)>;

    /// The tokens that every answer reports, as far as the protocol can.
    fn usage(&self) -> Usage {
        let mut usage = Usage::new(120, 30);
        usage.cached = 20;
        usage.reasoning = 10;
        usage
    }

    /// Arguments as they are delivered: as they were written, unless the wire has no place for what is not JSON.
    fn delivered_arguments(&self, arguments: &str) -> String {
        arguments.to_owned()
    }

    /// Whether what nobody here knows goes back.
    fn replays_unknown_items(&self) -> bool {
        true
    }

    /// Whether an answer says itself that it is over, and not only the line.
    fn has_end_marker(&self) -> bool {
        true
    }

    /// Whether the vendor searches, and whether it calls MCP servers.
    fn hosted_support(&self) -> (bool, bool);

    /// Whether a request asks for a stream.
    fn requests_stream(&self, request: &WireRequest) -> bool {
        body(request)["stream"] == true
    }

    /// The calls that a request tells of.
    fn calls(&self, body: &Value) -> Vec<SentCall>;

    /// The results that a request brings.
    fn results(&self, body: &Value) -> Vec<SentResult>;

    /// What the model is told to have thought.
    fn reasoning_items(&self, body: &Value) -> Vec<Value>;

    /// A thought as it comes, and so has to go back.
    fn reasoning_item(&self, text: &str, seal: &str) -> Value;

    /// The schema that an answer is asked for in.
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

/// Reads arguments that travel as text.
pub(crate) fn parsed(value: &Value) -> Value {
    serde_json::from_str(value.as_str().unwrap()).unwrap()
}
