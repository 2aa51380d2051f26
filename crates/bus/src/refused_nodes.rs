//! The messages that are refused because their node has another number of the protocol between nodes.

use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::bus::NODE_PROTOCOL;
use crate::envelope::Unreadable;

/// The maximum number of nodes that are named in the log; each process has a name of its own.
const MAX_LOGGED: usize = 4096;

/// Counts refused messages, and logs each node that sends some, once.
#[derive(Default)]
pub(crate) struct RefusedNodes {
    messages: AtomicU64,
    logged: Mutex<HashSet<Box<str>>>,
}

impl RefusedNodes {
    /// Records a text that is no envelope of this protocol; returns true if a node has sent it, whose message is lost then.
    pub(crate) fn record(&self, unreadable: &Unreadable<'_>) -> bool {
        let Unreadable::OtherProtocol { protocol, node } = unreadable else {
            tracing::debug!("a message of another program is ignored");
            return false;
        };
        self.messages.fetch_add(1, Ordering::Relaxed);
        let mut logged = self.logged.lock().unwrap_or_else(PoisonError::into_inner);
        if logged.len() < MAX_LOGGED && logged.insert((*node).into()) {
            tracing::warn!(
                node,
                "a node with protocol {protocol} is on the bus, and its messages are refused: this node has protocol {NODE_PROTOCOL}; run one version at a time"
            );
        }
        true
    }

    /// The number of messages that were refused.
    pub(crate) fn count(&self) -> u64 {
        self.messages.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_refused_message_is_counted_and_every_node_is_logged_once() {
        let refused = RefusedNodes::default();
        for node in ["one", "two", "one"] {
            assert!(refused.record(&Unreadable::OtherProtocol { protocol: 2, node }));
        }
        assert!(!refused.record(&Unreadable::Foreign));
        assert_eq!(refused.count(), 3);
        assert_eq!(refused.logged.lock().unwrap().len(), 2);
    }
}
