//! The buses that the conformance suite runs over.

use std::sync::Arc;

use toolwright_bus::{Bus, InProcessBus};

/// A bus for one test, which several nodes connect to.
pub(crate) enum Backend {
    InProcess(InProcessBus),
    Url(String),
}

impl Backend {
    pub(crate) fn in_process() -> Self {
        Self::InProcess(InProcessBus::new())
    }

    /// A new database of the server that all tests share; `None` where PostgreSQL is not installed.
    pub(crate) async fn postgres() -> Option<Self> {
        let server = test_support::servers::postgres::shared()?;
        let database = server.create_named_database().await;
        Some(Self::Url(server.url_at(server.port, &database)))
    }

    /// New subjects of the server that all tests share; `None` where NATS is not installed.
    pub(crate) async fn nats() -> Option<Self> {
        Some(Self::Url(test_support::servers::nats::shared()?.url_with_new_prefix()))
    }

    /// Connects a node.
    pub(crate) async fn node(&self) -> Arc<dyn Bus> {
        match self {
            Self::InProcess(bus) => Arc::new(bus.node()),
            Self::Url(url) => connect(url).await,
        }
    }

    pub(crate) async fn nodes<const N: usize>(&self) -> [Arc<dyn Bus>; N] {
        let mut nodes = Vec::new();
        for _ in 0..N {
            nodes.push(self.node().await);
        }
        nodes.try_into().unwrap_or_else(|_| panic!("{N} nodes"))
    }
}

/// Connects a node to a server that runs.
pub(crate) async fn connect(url: &str) -> Arc<dyn Bus> {
    let bus = toolwright_bus::open(url).await.unwrap();
    crate::fixtures::until_connected(&*bus, true).await;
    bus
}
