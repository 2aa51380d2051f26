//! Receives the messages of one channel.

use std::sync::Arc;

use async_nats::Message;
use futures::StreamExt as _;
use tokio::sync::{oneshot, watch};
use tokio::time::interval;

use super::link::{Link, LinkState};
use crate::assembler::{Assembler, Order, PART_TIMEOUT};
use crate::channel_key::ChannelKey;
use crate::envelope::{self, NodeId};
use crate::refused_nodes::RefusedNodes;
use crate::subscription::{Delivery, SubscriptionSender};

/// The task of one subscription.
pub(super) struct Subscriber {
    pub(super) link: Link,
    pub(super) node: NodeId,
    pub(super) key: ChannelKey,
    pub(super) sender: SubscriptionSender,
    pub(super) refused: Arc<RefusedNodes>,
}

impl Subscriber {
    /// Runs until the subscription or the bus is dropped. `confirm` is completed when messages are received.
    pub(super) async fn run(self, confirm: oneshot::Sender<()>, dropped: oneshot::Receiver<()>) {
        tokio::select! {
            // The other half is never sent to: it is the guard of the subscription.
            _ = dropped => {}
            () = self.receive(confirm) => {}
        }
    }

    async fn receive(&self, confirm: oneshot::Sender<()>) {
        let mut state = self.link.state();
        let was_connected = self.link.is_connected();
        let Ok(mut messages) = self.link.client.subscribe(self.link.subject(self.key)).await else {
            return;
        };
        let Some((mut seen, is_confirmed)) = self.wait_for_confirmation(&mut state).await else {
            return;
        };
        if !(was_connected && is_confirmed) {
            self.sender.send(Delivery::Gap);
        }
        // Without a receiver the caller did not wait.
        let _ = confirm.send(());
        let mut assembler = Assembler::default();
        let mut check = interval(PART_TIMEOUT / 2);
        loop {
            tokio::select! {
                message = messages.next() => {
                    let Some(message) = message else { return };
                    // Of a connection that is not checked yet: the gap has to come first.
                    let generation = self.link.connections();
                    if generation != seen.generation {
                        let checked = state.wait_for(|state| state.generation >= generation);
                        if checked.await.is_err() {
                            return;
                        }
                        self.send_gap_after(&mut seen, &mut state, &mut assembler);
                    }
                    self.accept(&mut assembler, &message);
                }
                changed = state.changed() => {
                    if changed.is_err() {
                        return;
                    }
                    self.send_gap_after(&mut seen, &mut state, &mut assembler);
                }
                _ = check.tick(), if !assembler.is_empty() => {
                    if !assembler.remove_expired().is_empty() {
                        self.sender.send(Delivery::Gap);
                    }
                }
            }
        }
    }

    /// Waits until the server has the subscription; returns the state then, and whether the first attempt succeeded. `None` if
    /// the bus was dropped.
    async fn wait_for_confirmation(
        &self,
        state: &mut watch::Receiver<LinkState>,
    ) -> Option<(LinkState, bool)> {
        let mut is_first = true;
        loop {
            state.wait_for(|state| state.is_connected).await.ok()?;
            let seen = *state.borrow_and_update();
            let is_answered = self.link.round_trip().await;
            if self.link.connections() == seen.generation {
                // A server that has a connection but does not answer has a fault that this cannot wait for.
                return Some((seen, is_first && is_answered));
            }
            is_first = false;
            state.wait_for(|state| state.generation > seen.generation).await.ok()?;
        }
    }

    /// Sends a gap if there was one since `seen`.
    fn send_gap_after(
        &self,
        seen: &mut LinkState,
        state: &mut watch::Receiver<LinkState>,
        assembler: &mut Assembler,
    ) {
        let now = *state.borrow_and_update();
        if now.gaps != seen.gaps {
            assembler.clear();
            self.sender.send(Delivery::Gap);
        }
        *seen = now;
    }

    fn accept(&self, assembler: &mut Assembler, message: &Message) {
        let payload = std::str::from_utf8(&message.payload).unwrap_or_default();
        let (header, text) = match envelope::parse(payload) {
            Ok(parsed) => parsed,
            Err(unreadable) => {
                if self.refused.record(&unreadable) && assembler.refuse() {
                    self.sender.send(Delivery::Gap);
                }
                return;
            }
        };
        // The server leaves out what this connection has sent, but not what the one before has.
        if header.node == self.node.as_str() || header.key != self.key {
            return;
        }
        match assembler.order(&header) {
            Order::Next => {}
            Order::AfterGap => self.sender.send(Delivery::Gap),
            Order::Late => return,
        }
        let assembled = assembler.accept(&header, text);
        if assembled.lost.is_some() {
            self.sender.send(Delivery::Gap);
        }
        if let Some(delivery) = assembled.delivery {
            self.sender.send(delivery);
        }
    }
}
