//! The envelope of a message on the wire: the node, the channel and the message, in parts if the message is long.
//!
//! An envelope is text: `PROTOCOL NODE CHANNEL MESSAGE PREVIOUS KIND`, a line feed, and the message or a part of it. The first
//! two fields are the same in every protocol.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;

use data_encoding::BASE64URL_NOPAD;

use crate::bus::{BusError, NODE_PROTOCOL};
use crate::channel_key::ChannelKey;

/// The bytes of the longest header.
pub(crate) const MAX_HEADER_BYTES: usize = 120;

/// The maximum number of channels whose last messages a node remembers.
const MAX_CHANNELS: usize = 1 << 16;

/// The text that a part has room for, whatever limit the server has; no character is longer.
const MIN_PART_BYTES: usize = 64;

/// The random name of a node on a bus, by which it recognises its own messages; it keeps the name when it connects again.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct NodeId(Box<str>);

impl NodeId {
    pub(crate) fn random() -> Result<Self, BusError> {
        let mut bytes = [0; 8];
        getrandom::fill(&mut bytes).map_err(|error| {
            BusError::new("there is no source of random numbers").with_source(error.to_string())
        })?;
        Ok(Self(BASE64URL_NOPAD.encode(&bytes).into()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for NodeId {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

/// What follows the header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// A whole message.
    Message { escaped: bool },
    /// A part of a message, which the parts with the indexes from 0 to `count - 1` make up.
    Part { index: u32, count: u32, escaped: bool },
    /// Nothing: messages to this channel were lost.
    Gap,
    /// Nothing: messages to any channel may have been lost.
    GapOfAll,
}

/// The first line of an envelope.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Header<'a> {
    pub(crate) node: &'a str,
    pub(crate) key: ChannelKey,
    /// Rises with each message of a node.
    pub(crate) message: u64,
    /// The message of the node to the same channel before this one; 0 if it is not known.
    pub(crate) previous: u64,
    pub(crate) kind: Kind,
}

impl fmt::Display for Header<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { node, key, message, previous, kind } = self;
        write!(f, "{NODE_PROTOCOL} {node} {key} {message} {previous} ")?;
        match kind {
            Kind::Message { escaped: false } => f.write_str("m"),
            Kind::Message { escaped: true } => f.write_str("M"),
            Kind::Part { index, count, escaped: false } => write!(f, "p{index}/{count}"),
            Kind::Part { index, count, escaped: true } => write!(f, "P{index}/{count}"),
            Kind::Gap => f.write_str("g"),
            Kind::GapOfAll => f.write_str("a"),
        }
    }
}

/// Why a text is no envelope of this protocol.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unreadable<'a> {
    /// A node with another protocol has sent it.
    OtherProtocol { protocol: u32, node: &'a str },
    /// Another program has sent it.
    Foreign,
}

/// Parses an envelope.
pub(crate) fn parse(envelope: &str) -> Result<(Header<'_>, &str), Unreadable<'_>> {
    let (header, text) = envelope.split_once('\n').ok_or(Unreadable::Foreign)?;
    let protocol_and_rest = header.split_once(' ');
    let (protocol, rest) = protocol_and_rest.ok_or(Unreadable::Foreign)?;
    match protocol.parse() {
        Ok(NODE_PROTOCOL) => {
            let header = parse_fields(rest).ok_or(Unreadable::Foreign)?;
            Ok((header, text))
        }
        Ok(protocol) => {
            let node = rest.split(' ').next().unwrap_or_default();
            Err(Unreadable::OtherProtocol { protocol, node })
        }
        Err(_) => Err(Unreadable::Foreign),
    }
}

/// Parses what follows the number of the protocol.
fn parse_fields(fields: &str) -> Option<Header<'_>> {
    let mut fields = fields.split(' ');
    let (node, key) = (fields.next()?, ChannelKey::parse(fields.next()?)?);
    let (message, previous) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    let kind = parse_kind(fields.next()?)?;
    fields.next().is_none().then_some(Header { node, key, message, previous, kind })
}

fn parse_kind(text: &str) -> Option<Kind> {
    let part = |range: &str, escaped| {
        let (index, count) = range.split_once('/')?;
        let (index, count) = (index.parse().ok()?, count.parse().ok()?);
        (index < count).then_some(Kind::Part { index, count, escaped })
    };
    match text.split_at_checked(1)? {
        ("m", "") => Some(Kind::Message { escaped: false }),
        ("M", "") => Some(Kind::Message { escaped: true }),
        ("p", range) => part(range, false),
        ("P", range) => part(range, true),
        ("g", "") => Some(Kind::Gap),
        ("a", "") => Some(Kind::GapOfAll),
        _ => None,
    }
}

/// Creates the envelopes of one node.
pub(crate) struct EnvelopeWriter {
    node: NodeId,
    last_message: u64,
    /// The last message to each channel.
    last_of_channel: HashMap<ChannelKey, u64>,
    /// Replaces NUL, which a text of PostgreSQL cannot contain.
    escape_nul: bool,
}

impl EnvelopeWriter {
    pub(crate) fn new(node: NodeId, escape_nul: bool) -> Self {
        Self { node, last_message: 0, last_of_channel: HashMap::new(), escape_nul }
    }

    /// The numbers of the next message to a channel, and of the one before it.
    fn next_numbers(&mut self, key: ChannelKey) -> (u64, u64) {
        self.last_message += 1;
        if self.last_of_channel.len() >= MAX_CHANNELS {
            self.last_of_channel.clear();
        }
        let previous = self.last_of_channel.insert(key, self.last_message);
        (self.last_message, previous.unwrap_or_default())
    }

    /// Writes the envelope that reports lost messages; without a channel, of all channels.
    pub(crate) fn write_gap(&mut self, key: Option<ChannelKey>, envelopes: &mut Vec<String>) {
        let kind = if key.is_some() { Kind::Gap } else { Kind::GapOfAll };
        let key = key.unwrap_or_else(|| ChannelKey::of(""));
        let (message, previous) = self.next_numbers(key);
        let header = Header { node: self.node.as_str(), key, message, previous, kind };
        envelopes.push(format!("{header}\n"));
    }

    /// Writes the envelopes of a message. None is longer than `max_bytes`, unless that leaves no room for a text.
    pub(crate) fn write_message(
        &mut self,
        key: ChannelKey,
        text: &str,
        max_bytes: usize,
        envelopes: &mut Vec<String>,
    ) {
        let (message, previous) = self.next_numbers(key);
        let escaped = self.escape_nul && text.contains('\0');
        let text = if escaped { Cow::Owned(escape(text)) } else { Cow::Borrowed(text) };
        let max_part_bytes = max_bytes.saturating_sub(MAX_HEADER_BYTES).max(MIN_PART_BYTES);
        let node = self.node.as_str();
        let write = |kind, part: &str| {
            let header = Header { node, key, message, previous, kind };
            format!("{header}\n{part}")
        };
        if text.len() <= max_part_bytes {
            envelopes.push(write(Kind::Message { escaped }, &text));
            return;
        }
        let parts: Vec<&str> = split(&text, max_part_bytes).collect();
        let count = u32::try_from(parts.len()).unwrap_or(u32::MAX);
        for (part, index) in parts.into_iter().zip(0..) {
            envelopes.push(write(Kind::Part { index, count, escaped }, part));
        }
    }
}

/// Splits a text into parts of at most `max_bytes`, between characters.
fn split(text: &str, max_bytes: usize) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (part, after) = rest.split_at_checked(rest.floor_char_boundary(max_bytes))?;
        rest = after;
        (!part.is_empty()).then_some(part)
    })
}

/// Replaces NUL by `\0`, and `\` by `\\`.
fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('\0', "\\0")
}

/// Reverts [`escape`].
pub(crate) fn unescape(text: &str) -> String {
    let mut unescaped = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(character) = characters.next() {
        unescaped.push(match character {
            '\\' => match characters.next() {
                Some('0') => '\0',
                Some(other) => other,
                None => '\\',
            },
            other => other,
        });
    }
    unescaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn envelopes(text: &str, max_bytes: usize) -> Vec<String> {
        let mut envelopes = Vec::new();
        let mut writer = EnvelopeWriter::new(NodeId::from("node"), true);
        writer.write_message(ChannelKey::of("room"), text, max_bytes, &mut envelopes);
        envelopes
    }

    #[test]
    fn a_header_is_parsed_from_its_text() {
        let key = ChannelKey::of("room");
        let kinds = [
            Kind::Message { escaped: false },
            Kind::Message { escaped: true },
            Kind::Part { index: 0, count: u32::MAX, escaped: false },
            Kind::Part { index: 3, count: 4, escaped: true },
            Kind::Gap,
            Kind::GapOfAll,
        ];
        for kind in kinds {
            let node = NodeId::random().map(|node| node.0);
            let node = node.as_deref().unwrap_or_default();
            let header = Header { node, key, message: u64::MAX, previous: u64::MAX, kind };
            let text = format!("{header}\nfirst\nsecond");
            assert!(text.len() - "\nfirst\nsecond".len() < MAX_HEADER_BYTES, "{text}");
            assert_eq!(parse(&text), Ok((header, "first\nsecond")));
        }
    }

    #[test]
    fn what_no_node_has_sent_is_foreign() {
        let key = ChannelKey::of("room");
        let wrong = [
            String::new(),
            "hello".to_owned(),
            "hello\n".to_owned(),
            "2\n".to_owned(),
            "2 node".to_owned(),
            "-2 node\n".to_owned(),
            "two nodes\n".to_owned(),
            "1 node\n".to_owned(),
            format!("1 node {key} 1 0 m"),
            format!("1 node {key} 1 0 m more\n"),
            "1 node key 1 0 m\n".to_owned(),
            format!("1 node {key} -1 0 m\n"),
            format!("1 node {key} 1 -1 m\n"),
            format!("1 node {key} 1 m\n"),
            format!("1 node {key} 1 0 \n"),
            format!("1 node {key} 1 0 mm\n"),
            format!("1 node {key} 1 0 p\n"),
            format!("1 node {key} 1 0 p3/3\n"),
            format!("1 node {key} 1 0 p0/99999999999\n"),
            format!("1 node {key} 1 0 \u{e9}\n"),
        ];
        for envelope in wrong {
            assert_eq!(parse(&envelope), Err(Unreadable::Foreign), "{envelope:?}");
        }
    }

    #[test]
    fn an_envelope_of_another_protocol_names_it_and_its_node() {
        let key = ChannelKey::of("room");
        for (envelope, protocol, node) in [
            (&*format!("2 node {key} 1 0 m\n"), 2, "node"),
            ("2 a and more\n", 2, "a"),
            ("0 \nx", 0, ""),
            ("17 node\ntext", 17, "node"),
        ] {
            let expected = Unreadable::OtherProtocol { protocol, node };
            assert_eq!(parse(envelope), Err(expected), "{envelope:?}");
        }
    }

    #[test]
    fn parts_are_cut_between_characters_and_fit() {
        let text = "a\u{1F980}\u{e9}\u{2028}".repeat(1000);
        for max_bytes in [MAX_HEADER_BYTES + MIN_PART_BYTES, 200, 1000, 7900] {
            let envelopes = envelopes(&text, max_bytes);
            assert!(envelopes.iter().all(|envelope| envelope.len() <= max_bytes));
            let parts = envelopes.iter().filter_map(|envelope| parse(envelope).ok());
            let parts: String = parts.map(|(_, part)| part).collect();
            assert_eq!(parts, text);
        }
        // A limit that leaves no room is not kept, and is not an endless loop.
        assert!(envelopes(&text, 0).len() < text.len());
        assert_eq!(envelopes("", 1000).len(), 1);
    }

    #[test]
    fn a_text_with_nul_is_escaped_and_another_is_not() {
        for text in ["\0", "a\0b\\0\\\\\0\\", "\\\0\0"] {
            let envelopes = envelopes(text, 1000);
            assert!(envelopes.iter().all(|envelope| !envelope.contains('\0')));
            let parsed: Vec<_> =
                envelopes.iter().filter_map(|envelope| parse(envelope).ok()).collect();
            let [(header, escaped)] = parsed.as_slice() else { panic!("{parsed:?}") };
            assert_eq!(header.kind, Kind::Message { escaped: true });
            assert_eq!(unescape(escaped), text);
        }
        let plain = envelopes("C:\\0", 1000);
        assert!(plain.iter().all(|envelope| envelope.ends_with("m\nC:\\0")), "{plain:?}");
    }
}
