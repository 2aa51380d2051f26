//! Follows the connection: reports its errors, and the gaps that follow from its losses.

use std::sync::Arc;
use std::time::Duration;

use async_nats::{ClientError, Event, Message, ServerError};
use futures::StreamExt as _;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, MissedTickBehavior, interval};

use super::link::{Link, LinkState};
use super::publisher::Unconfirmed;
use crate::connection_status::ConnectionStatus;
use crate::envelope::{self, Kind, NodeId};
use crate::outbox::Outbox;

/// How often the connection is looked at without an event, and what was published is confirmed.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// The task that follows the connection of a bus.
pub(super) struct Supervisor {
    pub(super) link: Link,
    pub(super) state: watch::Sender<LinkState>,
    pub(super) events: mpsc::Receiver<Event>,
    pub(super) status: Arc<ConnectionStatus>,
    pub(super) outbox: Arc<Outbox>,
    pub(super) unconfirmed: Arc<Unconfirmed>,
    pub(super) node: NodeId,
    /// When the server has refused something that it may accept the next time.
    pub(super) refused_at: Option<Instant>,
}

impl Supervisor {
    /// Runs until it is aborted.
    pub(super) async fn run(mut self) {
        let Ok(mut gaps) = self.link.client.subscribe(self.link.gap_subject()).await else {
            return;
        };
        let mut check = interval(CHECK_INTERVAL);
        check.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                event = self.events.recv() => {
                    let Some(event) = event else { return };
                    self.on_event(event);
                }
                message = gaps.next() => {
                    let Some(message) = message else { return };
                    self.on_gap_message(&message);
                }
                _ = check.tick() => self.confirm_published().await,
            }
            self.check_connection().await;
        }
    }

    fn on_event(&mut self, event: Event) {
        match event {
            // The client does not say which subscription of ours it was.
            Event::SlowConsumer(_) => self.add_gap(),
            Event::ServerError(ServerError::Other(error)) => {
                // A refused subscription is there again with the next connection at the earliest.
                let is_final = error.to_lowercase().contains("subscription");
                self.refused_at = (!is_final).then(Instant::now);
                self.status.set_error(format!("{} refuses: {error}", self.status.label()));
            }
            Event::ClientError(ClientError::Other(error)) if !self.link.has_connection() => {
                self.status.set_error(format!(
                    "{} cannot be reached: see that it runs, and that address and credential are right: {error}",
                    self.status.label()
                ));
            }
            _ => {}
        }
    }

    /// Another node has lost messages to many channels.
    fn on_gap_message(&self, message: &Message) {
        let envelope = std::str::from_utf8(&message.payload).ok();
        let envelope = envelope.and_then(|payload| envelope::parse(payload).ok());
        if let Some((header, _)) = envelope
            && header.kind == Kind::GapOfAll
            && header.node != self.node.as_str()
        {
            self.add_gap();
        }
    }

    /// Sends a gap to all subscriptions of this node.
    fn add_gap(&self) {
        self.state.send_modify(|state| state.gaps += 1);
    }

    /// Compares the connection with the state that the other tasks see.
    async fn check_connection(&self) {
        let known = *self.state.borrow();
        if !self.link.has_connection() {
            if known.is_connected {
                self.state.send_modify(|state| state.is_connected = false);
                self.status.set_error(format!("{} closed the connection", self.status.label()));
            }
            return;
        }
        let generation = self.link.connections();
        if generation == known.generation {
            return;
        }
        // The client has sent all subscriptions again. Without an answer the server has a fault that this cannot wait for.
        self.link.round_trip().await;
        if !self.link.has_connection() || self.link.connections() != generation {
            return;
        }
        // What was on its way when the connection was lost may have been lost with it.
        self.outbox.add_gaps(self.unconfirmed.take());
        self.state.send_modify(|state| {
            let gaps = state.gaps + 1;
            *state = LinkState { is_connected: true, generation, gaps };
        });
        self.status.set_connected();
    }

    /// Forgets the channels whose messages the server has received, and what it has refused before.
    async fn confirm_published(&mut self) {
        if !self.link.is_connected() {
            return;
        }
        let is_unconfirmed = self.unconfirmed.begin_confirmation();
        // The error is shown for a while.
        let was_refused = self.refused_at.is_some_and(|at| at.elapsed() >= CHECK_INTERVAL);
        if !is_unconfirmed && !was_refused {
            return;
        }
        let generation = self.link.connections();
        if !self.link.round_trip().await || self.link.connections() != generation {
            return;
        }
        if is_unconfirmed {
            self.unconfirmed.end_confirmation();
        }
        if was_refused {
            self.refused_at = None;
            self.status.set_connected();
        }
    }
}
