//! The stores that the conformance suite runs over.

use std::sync::Arc;

use toolwright::chat::{MemoryStore, Store};

/// A store for one test, which can be opened several times.
pub(crate) enum Backend {
    Memory(Arc<MemoryStore>),
    #[cfg(feature = "sqlite")]
    Sqlite(tempfile::TempDir),
    #[cfg(feature = "postgres")]
    Postgres(String),
}

impl Backend {
    pub(crate) fn memory() -> Self {
        Self::Memory(Arc::new(MemoryStore::new()))
    }

    #[cfg(feature = "sqlite")]
    pub(crate) fn sqlite() -> Self {
        Self::Sqlite(tempfile::tempdir().unwrap())
    }

    /// A new database of the server that all tests share; `None` where PostgreSQL is not installed.
    #[cfg(feature = "postgres")]
    pub(crate) async fn postgres() -> Option<Self> {
        let server = crate::server::shared()?;
        Some(Self::Postgres(server.create_database().await))
    }

    /// Opens the store anew, as a restarted process does.
    pub(crate) async fn open(&self) -> Arc<dyn Store> {
        match self {
            // A store in memory does not survive its process.
            Self::Memory(store) => Arc::clone(store) as Arc<dyn Store>,
            #[cfg(feature = "sqlite")]
            Self::Sqlite(directory) => {
                let file = directory.path().join("journals.db");
                let url = format!("sqlite:{}", file.display());
                toolwright_store::open(&url).await.unwrap()
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(url) => toolwright_store::open(url).await.unwrap(),
        }
    }
}
