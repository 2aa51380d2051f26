//! Receives notifications, and connects again when the connection is lost.

use std::sync::Arc;
use std::time::Duration;

use sqlx::Executor as _;
use sqlx::postgres::PgListener;
use tokio::time::timeout;
use toolwright_core::Backoff;

use super::connection::Database;
use crate::assembler::{Assembler, Order};
use crate::connection_status::ConnectionStatus;
use crate::envelope::{self, Kind, NodeId};
use crate::refused_nodes::RefusedNodes;
use crate::subscription::Delivery;
use crate::subscription_table::SubscriptionTable;

/// A connection that was silent for so long is checked by a query: one that is cut reports nothing by itself.
const IDLE_BEFORE_PING: Duration = Duration::from_secs(5);

/// How long the answer to that query may take.
const PING_TIMEOUT: Duration = Duration::from_secs(5);

/// The delays between attempts to connect.
pub(super) fn backoff() -> Backoff {
    Backoff::new(Duration::from_millis(100), Duration::from_secs(5)).jitter(0.5..1.5)
}

/// The task that receives the messages of other nodes.
pub(super) struct Listener {
    pub(super) database: Database,
    pub(super) node: NodeId,
    pub(super) subscriptions: Arc<SubscriptionTable>,
    pub(super) refused: Arc<RefusedNodes>,
    pub(super) status: Arc<ConnectionStatus>,
}

impl Listener {
    /// Runs until it is aborted.
    pub(super) async fn run(self) {
        let mut backoff = backoff();
        let mut assembler = Assembler::default();
        loop {
            let error = match self.database.listen().await {
                Ok(listener) => {
                    backoff.reset();
                    // What was published before the connection was there is missing. Later subscriptions miss nothing.
                    self.subscriptions.send_gap_to_all();
                    self.status.set_connected();
                    assembler.clear();
                    self.receive(listener, &mut assembler).await
                }
                Err(error) => error,
            };
            self.status.set_error(error);
            if let Some(delay) = backoff.next() {
                tokio::time::sleep(delay).await;
            }
        }
    }

    /// Receives notifications until the connection is lost; returns the reason.
    async fn receive(&self, mut listener: PgListener, assembler: &mut Assembler) -> String {
        loop {
            match timeout(IDLE_BEFORE_PING, listener.try_recv()).await {
                Ok(Ok(Some(notification))) => self.accept(assembler, notification.payload()),
                Ok(Ok(None)) => return format!("{} closed the connection", self.status.label()),
                Ok(Err(error)) => return self.database.describe(&error),
                Err(_) => {
                    for key in assembler.remove_expired() {
                        self.subscriptions.send(key, &Delivery::Gap);
                    }
                    match timeout(PING_TIMEOUT, listener.execute("SELECT 1")).await {
                        Ok(Ok(_)) => {}
                        Ok(Err(error)) => return self.database.describe(&error),
                        Err(_) => return format!("{} does not answer", self.status.label()),
                    }
                }
            }
        }
    }

    fn accept(&self, assembler: &mut Assembler, payload: &str) {
        let (header, text) = match envelope::parse(payload) {
            Ok(parsed) => parsed,
            Err(unreadable) => {
                // Its channel is not known.
                if self.refused.record(&unreadable) && assembler.refuse() {
                    self.subscriptions.send_gap_to_all();
                }
                return;
            }
        };
        if header.node == self.node.as_str() {
            return;
        }
        match assembler.order(&header) {
            Order::Next => {}
            Order::AfterGap => self.subscriptions.send(header.key, &Delivery::Gap),
            Order::Late => return,
        }
        if header.kind == Kind::GapOfAll {
            assembler.clear();
            self.subscriptions.send_gap_to_all();
        } else if self.subscriptions.contains(header.key) {
            let assembled = assembler.accept(&header, text);
            if let Some(key) = assembled.lost {
                self.subscriptions.send(key, &Delivery::Gap);
            }
            if let Some(delivery) = assembled.delivery {
                self.subscriptions.send(header.key, &delivery);
            }
        }
    }
}
