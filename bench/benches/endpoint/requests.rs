//! Sends one message and reads its answer, over either protocol.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hyper::StatusCode;
use serde_json::{Value, json};

use crate::client::{self, EventStream};
use crate::scripted_model;

/// How many requests were refused with 503, and sent again.
pub(crate) static REFUSALS: AtomicU64 = AtomicU64::new(0);

/// The pause before a request that cannot be served yet is sent again.
pub(crate) const RETRY_INTERVAL: Duration = Duration::from_millis(500);

/// The protocol of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// `POST /api/chat`, the AI SDK's UI message stream.
    Ui,
    /// `POST …/prompt`, then the events of the conversation.
    Native,
}

impl Protocol {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Ui => "UI message stream",
            Self::Native => "native events",
        }
    }

    /// Sends a message in a new conversation; returns the answer, and the number before its first event.
    pub(crate) async fn send_message(self, addr: &str, conversation: &str) -> (EventStream, u64) {
        let (path, body) = match self {
            Self::Ui => {
                let parts = json!([{ "type": "text", "text": "Tell me." }]);
                let message = json!({ "id": "1", "role": "user", "parts": parts });
                let body = json!({ "id": conversation, "messages": [message] });
                ("/api/chat".to_owned(), body.to_string())
            }
            Self::Native => {
                let path = format!("/api/conversations/{conversation}/prompt");
                (path, json!({ "text": "Tell me." }).to_string())
            }
        };
        let response = send_until_served(addr, "POST", &path, &body).await;
        if self == Self::Ui {
            return (response, 0);
        }
        let response: Value = serde_json::from_slice(&response.read_to_end().await).unwrap();
        assert!(response["seq"].is_u64(), "no number in {response}");
        let after = response["seq"].as_u64().unwrap();
        (read_events(addr, conversation, after).await, after)
    }

    pub(crate) fn is_last_event(self, data: &[u8]) -> bool {
        match self {
            Self::Ui => data == b"[DONE]",
            Self::Native => contains(data, br#""type":"ended""#) || is_snapshot(data),
        }
    }
}

/// Returns the number of a native event, if it follows the one before; the first of an answer is the message, and rises by any number.
pub(crate) fn next_seq(event: &Value, previous: u64, is_first: bool) -> Option<u64> {
    let seq = event["seq"].as_u64()?;
    let follows = match is_first {
        true => seq > previous && event["event"]["type"] == "said",
        false => seq == previous + 1,
    };
    follows.then_some(seq)
}

/// The events of a conversation after a number.
pub(crate) async fn read_events(addr: &str, conversation: &str, after: u64) -> EventStream {
    let path = format!("/api/conversations/{conversation}/events?after={after}");
    send_until_served(addr, "GET", &path, "").await
}

/// Sends a request, and again while the server refuses it with 503.
pub(crate) async fn send_until_served(
    addr: &str,
    method: &str,
    path: &str,
    body: &str,
) -> EventStream {
    loop {
        let response = client::send_request(addr, method, path, body.to_owned()).await;
        if response.status != StatusCode::SERVICE_UNAVAILABLE {
            return response;
        }
        REFUSALS.fetch_add(1, Ordering::Relaxed);
        tokio::time::sleep(RETRY_INTERVAL).await;
    }
}

pub(crate) struct AnswerTiming {
    /// `None` if the answer was read from a snapshot.
    pub(crate) time_to_first_delta: Option<Duration>,
    pub(crate) total_time: Duration,
    pub(crate) events: usize,
}

/// Sends a message and reads its answer to the end.
pub(crate) async fn measure_answer(
    addr: &str,
    protocol: Protocol,
    conversation: &str,
) -> AnswerTiming {
    let start = Instant::now();
    let (mut answer, _) = protocol.send_message(addr, conversation).await;
    let (mut first, mut events) = (None, 0);
    loop {
        let data = answer.next_event_data().await.unwrap();
        events += 1;
        if first.is_none() && contains(&data, br#""delta""#) {
            first = Some(start.elapsed());
        }
        if protocol.is_last_event(&data) {
            break;
        }
    }
    AnswerTiming { time_to_first_delta: first, total_time: start.elapsed(), events }
}

/// Returns true if the event is a snapshot, in place of events that were not kept.
pub(crate) fn is_snapshot(data: &[u8]) -> bool {
    contains(data, br#""type":"snapshot""#)
}

/// Returns true if the last turn of a snapshot is over.
pub(crate) fn has_ended(snapshot: &Value) -> bool {
    let last = snapshot["entries"].as_array().and_then(|entries| entries.last());
    last.is_some_and(|last| last["what"].get("ended").is_some())
}

/// Returns true if the conversation contains the complete answer.
pub(crate) async fn is_stored(addr: &str, conversation: &str) -> bool {
    let path = format!("/api/conversations/{conversation}");
    let response = client::send_request(addr, "GET", &path, String::new()).await;
    contains(&response.read_to_end().await, scripted_model::full_text().as_bytes())
}

/// Returns true if the server has a tool of this name.
pub(crate) async fn lists_tool(addr: &str, name: &str) -> bool {
    let response = client::send_request(addr, "GET", "/api/tools", String::new()).await;
    contains(&response.read_to_end().await, name.as_bytes())
}

fn contains(data: &[u8], needle: &[u8]) -> bool {
    data.windows(needle.len()).any(|part| part == needle)
}

/// The text delta of an event, if it has one.
pub(crate) fn parse_delta(protocol: Protocol, data: &[u8]) -> Option<String> {
    let event: Value = serde_json::from_slice(data).ok()?;
    let (event, text) = match protocol {
        Protocol::Ui => (&event, "text-delta"),
        Protocol::Native => (&event["event"], "text"),
    };
    let is_text = event["type"] == text;
    is_text.then(|| event["delta"].as_str().unwrap().to_owned())
}
