//! The id of an event in a stream, by which a client resumes the stream.

use std::fmt;
use std::sync::Arc;

use data_encoding::BASE64URL_NOPAD;
use serde_json::Value;

/// The length of a node's id.
const NODE_LENGTH: usize = 16;
/// A request id that is longer is left out.
const MAX_REQUEST_BYTES: usize = 128;

/// The id of an event: `STREAM-POSITION`, and in a cluster `NODE-STREAM-POSITION-REQUEST`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EventId {
    /// The number of its stream in the session.
    pub(crate) stream: u64,
    /// Its position in the stream; 0 is before the first message, so this is the index of the next message.
    pub(crate) position: usize,
    /// In a cluster.
    pub(crate) origin: Option<StreamOrigin>,
}

/// The node that has a stream, and the request that the stream responds to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StreamOrigin {
    pub(crate) node: Arc<str>,
    /// Its id as raw JSON, so that another node can respond to it if this one has ended.
    pub(crate) request: Option<Arc<str>>,
}

impl StreamOrigin {
    pub(crate) fn new(node: &Arc<str>, request: &str) -> Self {
        let request = (request.len() <= MAX_REQUEST_BYTES).then(|| request.into());
        Self { node: Arc::clone(node), request }
    }
}

impl EventId {
    /// Parses the id that a client has sent; it may be forged.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut parts = text.splitn(4, '-');
        let (first, second) = (parts.next()?, parts.next()?);
        let number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit()).then_some(());
        let Some(position) = parts.next() else {
            number(first).and(number(second))?;
            let (stream, position) = (first.parse().ok()?, second.parse().ok()?);
            return Some(Self { stream, position, origin: None });
        };
        number(second).and(number(position))?;
        let request = parts.next().filter(|request| !request.is_empty());
        let origin = StreamOrigin {
            node: is_node_id(first).then(|| first.into())?,
            request: match request {
                Some(request) => Some(decode_request(request)?.into()),
                None => None,
            },
        };
        let (stream, position) = (second.parse().ok()?, position.parse().ok()?);
        Some(Self { stream, position, origin: Some(origin) })
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stream, position, origin } = self;
        let Some(StreamOrigin { node, request }) = origin else {
            return write!(f, "{stream}-{position}");
        };
        let request = BASE64URL_NOPAD.encode(request.as_deref().unwrap_or_default().as_bytes());
        write!(f, "{node}-{stream}-{position}-{request}")
    }
}

/// Returns true if a text has the form of a node's id.
pub(crate) fn is_node_id(text: &str) -> bool {
    let is_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    text.len() == NODE_LENGTH && text.bytes().all(is_hex)
}

/// Decodes a request id; `None` if it is not the JSON of a string or a number.
fn decode_request(text: &str) -> Option<String> {
    let json = String::from_utf8(BASE64URL_NOPAD.decode(text.as_bytes()).ok()?).ok()?;
    let value: Value = serde_json::from_str(&json).ok()?;
    let is_id = json.len() <= MAX_REQUEST_BYTES && (value.is_string() || value.is_number());
    is_id.then_some(json)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_cluster(request: &str) -> EventId {
        let origin = StreamOrigin::new(&"0123456789abcdef".into(), request);
        EventId { stream: 3, position: 7, origin: Some(origin) }
    }

    #[test]
    fn an_id_is_parsed_as_it_was_written() {
        let alone = EventId { stream: 0, position: 12, origin: None };
        assert_eq!(alone.to_string(), "0-12");
        for id in [alone, in_cluster("5"), in_cluster(r#""-a-é""#), in_cluster(&"1".repeat(200))] {
            assert_eq!(EventId::parse(&id.to_string()), Some(id));
        }
    }

    #[test]
    fn a_forged_id_is_rejected() {
        for forged in [
            "",
            "1",
            "-",
            "+1-2",
            "1-+2",
            "1-99999999999999999999999",
            "mcp.all-1-2",
            "0123456789ABCDEF-1-2",
            "0123456789abcde*-1-2",
            "0123456789abcdef-1-2-!",
            "0123456789abcdef-1-2-e30",
            "0123456789abcdef-1-2-bnVsbA",
        ] {
            assert_eq!(EventId::parse(forged), None, "{forged}");
        }
    }
}
