//! Carries live messages between the nodes of a cluster.
//!
//! A bus may lose messages: what must not be lost is in the store. A subscription reports where messages may be missing, and
//! its reader then reads the store.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "_network")]
mod assembler;
mod bus;
#[cfg(feature = "_network")]
mod channel_key;
#[cfg(feature = "_network")]
mod connection_status;
#[cfg(feature = "_network")]
mod envelope;
mod in_process;
#[cfg(feature = "nats")]
mod nats;
mod open;
#[cfg(feature = "_network")]
mod outbox;
#[cfg(feature = "postgres")]
mod postgres;
#[cfg(feature = "_network")]
mod refused_nodes;
mod subscription;
#[cfg(feature = "postgres")]
mod subscription_table;

pub use bus::{Bus, BusError, BusFuture, BusStatus, MAX_MESSAGE_BYTES, NODE_PROTOCOL};
pub use in_process::InProcessBus;
#[cfg(feature = "nats")]
pub use nats::NatsBus;
pub use open::open;
#[cfg(feature = "postgres")]
pub use postgres::PostgresBus;
pub use subscription::{Delivery, Subscription, SubscriptionSender};
