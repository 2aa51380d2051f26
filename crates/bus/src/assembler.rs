//! Puts the parts of messages together, and recognises messages that arrive late.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::Instant;

use crate::bus::MAX_MESSAGE_BYTES;
use crate::channel_key::ChannelKey;
use crate::envelope::{Header, Kind, NodeId, unescape};
use crate::subscription::Delivery;

/// How long a message waits for its next part.
pub(crate) const PART_TIMEOUT: Duration = Duration::from_secs(30);

/// How often refused messages are a gap at most: each gap has subscribers read the journal.
const REFUSAL_INTERVAL: Duration = Duration::from_secs(1);

/// The maximum number of nodes whose newest messages are known; each process has a name of its own.
const MAX_NODES: usize = 4096;

/// The messages whose parts have arrived in part: one of each node at most, because a node sends the parts of a message one
/// after the other.
#[derive(Default)]
pub(crate) struct Assembler {
    partial: HashMap<NodeId, PartialMessage>,
    newest: HashMap<Box<str>, Newest>,
    /// When a refused message was last a gap.
    last_refusal: Option<Instant>,
}

/// The newest message of a node.
struct Newest {
    message: u64,
    /// False after a gap: what is missing before the next message is part of it.
    is_continuous: bool,
}

struct PartialMessage {
    key: ChannelKey,
    message: u64,
    next_index: u32,
    text: String,
    last_part: Instant,
}

/// Where an envelope comes in the order in which its node has sent them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    Next,
    /// Messages of the node to this channel are missing before it: they were lost with a connection, and the node has not
    /// reported it yet.
    AfterGap,
    /// A newer one was here before, so this one is to be ignored. A server may carry out what a node has sent over a connection
    /// that is lost after what the node has sent over the next one; the node has reported a gap then.
    Late,
}

/// What an envelope completes.
#[derive(Default, PartialEq, Debug)]
pub(crate) struct Assembled {
    /// A channel of which a message was lost: its other parts did not arrive.
    pub(crate) lost: Option<ChannelKey>,
    /// What the channel of the envelope receives.
    pub(crate) delivery: Option<Delivery>,
}

impl Assembler {
    /// Compares an envelope with those of the same node that were here before.
    pub(crate) fn order(&mut self, header: &Header<'_>) -> Order {
        let next = Newest { message: header.message, is_continuous: true };
        if let Some(newest) = self.newest.get_mut(header.node) {
            if header.message < newest.message {
                return Order::Late;
            }
            let is_after_gap = newest.is_continuous && header.previous > newest.message;
            *newest = next;
            return if is_after_gap { Order::AfterGap } else { Order::Next };
        }
        if self.newest.len() >= MAX_NODES {
            self.newest.clear();
        }
        self.newest.insert(header.node.into(), next);
        Order::Next
    }

    /// Notes that a message was refused; returns true if it is a gap.
    ///
    /// Not every one of them is: the reader notices by itself, a little later, that the last ones are missing.
    pub(crate) fn refuse(&mut self) -> bool {
        if self.last_refusal.is_some_and(|at| at.elapsed() < REFUSAL_INTERVAL) {
            return false;
        }
        self.last_refusal = Some(Instant::now());
        self.clear();
        true
    }

    /// Takes an envelope of another node.
    pub(crate) fn accept(&mut self, header: &Header<'_>, text: &str) -> Assembled {
        let (index, count, escaped) = match header.kind {
            Kind::Message { escaped } => (0, 1, escaped),
            Kind::Part { index, count, escaped } => (index, count, escaped),
            Kind::Gap | Kind::GapOfAll => {
                return Assembled { lost: None, delivery: Some(Delivery::Gap) };
            }
        };
        let mut assembled = Assembled::default();
        let is_alone = count == 1;
        if is_alone && self.partial.is_empty() {
            assembled.delivery = Some(delivery(text, escaped));
            return assembled;
        }
        let node = NodeId::from(header.node);
        let partial = self.partial.remove(&node);
        let continued =
            partial.as_ref().is_some_and(|partial| partial.is_continued_by(header, index));
        let mut partial = match partial {
            Some(partial) if continued => partial,
            other => {
                assembled.lost = other.map(|lost| lost.key);
                // The beginning was sent before the subscription, or is lost: then there was a gap.
                if index > 0 {
                    return assembled;
                }
                PartialMessage::new(header)
            }
        };
        // What is escaped is up to twice as long.
        if partial.text.len() + text.len() > MAX_MESSAGE_BYTES * 2 {
            assembled.lost = Some(partial.key);
            return assembled;
        }
        partial.text.push_str(text);
        if index + 1 == count {
            assembled.delivery = Some(delivery(&partial.text, escaped));
        } else {
            partial.next_index = index + 1;
            partial.last_part = Instant::now();
            self.partial.insert(node, partial);
        }
        assembled
    }

    /// Removes the messages whose next part has not arrived in time, and returns their channels.
    pub(crate) fn remove_expired(&mut self) -> Vec<ChannelKey> {
        let is_expired = |partial: &PartialMessage| partial.last_part.elapsed() >= PART_TIMEOUT;
        let expired = self.partial.extract_if(|_, partial| is_expired(partial));
        expired.map(|(_, partial)| partial.key).collect()
    }

    /// Returns true if no message waits for its next part.
    #[cfg(feature = "nats")]
    pub(crate) fn is_empty(&self) -> bool {
        self.partial.is_empty()
    }

    /// Removes all parts, after a gap.
    pub(crate) fn clear(&mut self) {
        self.partial.clear();
        self.newest.values_mut().for_each(|newest| newest.is_continuous = false);
    }
}

impl PartialMessage {
    fn new(header: &Header<'_>) -> Self {
        Self {
            key: header.key,
            message: header.message,
            next_index: 0,
            text: String::new(),
            last_part: Instant::now(),
        }
    }

    fn is_continued_by(&self, header: &Header<'_>, index: u32) -> bool {
        (self.key, self.message, self.next_index) == (header.key, header.message, index)
    }
}

fn delivery(text: &str, escaped: bool) -> Delivery {
    match escaped {
        true => Delivery::Message(unescape(text).into()),
        false => Delivery::Message(text.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::envelope::{EnvelopeWriter, parse};

    fn envelopes(node: &str, room: &str, text: &str) -> Vec<String> {
        let mut envelopes = Vec::new();
        let mut writer = EnvelopeWriter::new(NodeId::from(node), true);
        writer.write_message(ChannelKey::of(room), text, 200, &mut envelopes);
        envelopes
    }

    fn accept(assembler: &mut Assembler, envelope: &str) -> Assembled {
        let (header, text) = parse(envelope).unwrap_or_else(|_| panic!("{envelope}"));
        assembler.accept(&header, text)
    }

    /// The messages and gaps that envelopes complete.
    fn deliveries<'a>(
        assembler: &mut Assembler,
        envelopes: impl IntoIterator<Item = &'a String>,
    ) -> Vec<Delivery> {
        let mut deliveries = Vec::new();
        for envelope in envelopes {
            let Assembled { lost, delivery } = accept(assembler, envelope);
            deliveries.extend(lost.map(|_| Delivery::Gap));
            deliveries.extend(delivery);
        }
        deliveries
    }

    fn message(text: &str) -> Delivery {
        Delivery::Message(text.into())
    }

    #[test]
    fn parts_of_several_nodes_are_put_together() {
        let texts = ["one \0 \\".repeat(100), "two".repeat(100)];
        let one = envelopes("1", "room", &texts[0]);
        let two = envelopes("2", "room", &texts[1]);
        assert!(one.len() > 3 && two.len() > 1);
        let longest = one.len().max(two.len());
        let interleaved = (0..longest).flat_map(|n| one.get(n).into_iter().chain(two.get(n)));
        let mut assembler = Assembler::default();
        let received = deliveries(&mut assembler, interleaved);
        assert_eq!(received, [message(&texts[1]), message(&texts[0])]);
        assert!(assembler.partial.is_empty());
    }

    #[test]
    fn a_message_that_is_not_completed_is_a_gap() {
        let mut assembler = Assembler::default();
        let first = envelopes("1", "room", &"x".repeat(500));
        assert_eq!(deliveries(&mut assembler, &first[..2]), []);
        let next = envelopes("1", "other", "y");
        let assembled = accept(&mut assembler, &next[0]);
        assert_eq!(assembled.lost, Some(ChannelKey::of("room")));
        assert_eq!(assembled.delivery, Some(message("y")));
        // A part is missing in the middle.
        let holed = first.iter().take(1).chain(first.iter().skip(2));
        assert_eq!(deliveries(&mut assembler, holed), [Delivery::Gap]);
        // The beginning is missing, so there is nothing to lose.
        assert_eq!(deliveries(&mut assembler, &first[1..]), []);
        assert!(assembler.partial.is_empty());
    }

    #[test]
    fn messages_that_are_late_or_follow_lost_ones_are_recognised() {
        let mut assembler = Assembler::default();
        let (key, kind) = (ChannelKey::of("room"), Kind::Message { escaped: false });
        let mut order = |node: &str, message, previous| {
            assembler.order(&Header { node, key, message, previous, kind })
        };
        assert_eq!(order("1", 7, 5), Order::Next, "the first that this subscription receives");
        assert_eq!(order("1", 7, 5), Order::Next, "the next part of the same message");
        assert_eq!(order("2", 3, 2), Order::Next, "of another node");
        assert_eq!(order("1", 9, 7), Order::Next);
        assert_eq!(order("1", 14, 12), Order::AfterGap);
        assert_eq!(order("1", 12, 9), Order::Late);
        assert_eq!(order("1", 15, 14), Order::Next);
        assert_eq!(order("1", 20, 0), Order::Next, "the one before is not known");
        assembler.clear();
        let mut order = |node: &str, message, previous| {
            assembler.order(&Header { node, key, message, previous, kind })
        };
        assert_eq!(order("1", 18, 14), Order::Late, "also after a gap");
        assert_eq!(order("1", 25, 22), Order::Next, "of which all subscriptions know");
        for n in 0..2 * MAX_NODES {
            order(&format!("n{n}"), 1, 0);
        }
        assert!(assembler.newest.len() <= MAX_NODES);
    }

    #[tokio::test(start_paused = true)]
    async fn a_message_whose_parts_stay_away_expires() {
        let mut assembler = Assembler::default();
        let parts = envelopes("1", "room", &"x".repeat(500));
        assert_eq!(deliveries(&mut assembler, &parts[..1]), []);
        tokio::time::advance(PART_TIMEOUT / 2).await;
        assert_eq!(deliveries(&mut assembler, &parts[1..2]), []);
        tokio::time::advance(PART_TIMEOUT / 2).await;
        assert_eq!(assembler.remove_expired(), []);
        tokio::time::advance(PART_TIMEOUT / 2).await;
        assert_eq!(assembler.remove_expired(), [ChannelKey::of("room")]);
        assert!(assembler.partial.is_empty());
    }

    #[test]
    fn a_message_without_end_is_not_kept() {
        let mut assembler = Assembler::default();
        let text = "x".repeat(1 << 20);
        let key = ChannelKey::of("room");
        let lost: Vec<u32> = (0..20)
            .filter(|index| {
                let kind = Kind::Part { index: *index, count: u32::MAX, escaped: false };
                let header = Header { node: "1", key, message: 1, previous: 0, kind };
                assembler.accept(&header, &text).lost == Some(key)
            })
            .collect();
        assert_eq!(lost, [16]);
        assert!(assembler.partial.is_empty());
    }
}
