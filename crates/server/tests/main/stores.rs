//! The stores that tests of what nodes share run over.

use std::sync::Arc;

use test_support::servers::postgres;
use toolwright::chat::{MemoryStore, Store};
use toolwright_server::ServerBuilder;

/// An empty store, which every node opens for itself.
pub(crate) enum TestStore {
    Memory(Arc<MemoryStore>),
    /// The URL of a database of its own.
    Postgres(String),
}

impl TestStore {
    /// One in memory, and one in PostgreSQL where that is installed.
    pub(crate) async fn all() -> Vec<Self> {
        let mut stores = vec![Self::Memory(Arc::default())];
        if let Some(server) = postgres::shared() {
            stores.push(Self::Postgres(server.create_database().await));
        }
        stores
    }

    pub(crate) async fn open(&self) -> Arc<dyn Store> {
        match self {
            Self::Memory(store) => Arc::clone(store) as Arc<dyn Store>,
            Self::Postgres(url) => toolwright::store::open(url).await.unwrap(),
        }
    }

    /// A node that has opened it.
    pub(crate) async fn node(&self, server: ServerBuilder, name: &str) -> ServerBuilder {
        server.store(self.open().await, "a store of the test").node_name(name)
    }
}
