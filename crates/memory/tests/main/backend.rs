//! Where a store is, so that it can be opened again.

use std::sync::Arc;

use toolwright::chat::{MemoryStore, Store};

/// A place that a test has for itself.
pub(crate) enum Place {
    Memory(Arc<MemoryStore>),
    #[cfg(feature = "sqlite")]
    Sqlite(tempfile::TempDir),
    #[cfg(feature = "postgres")]
    Postgres(String),
}

impl Place {
    pub(crate) fn memory() -> Self {
        Self::Memory(Arc::new(MemoryStore::new()))
    }

    #[cfg(feature = "sqlite")]
    pub(crate) fn sqlite() -> Self {
        Self::Sqlite(tempfile::tempdir().unwrap())
    }

    /// A database of the server that all tests share; nothing where there is none.
    #[cfg(feature = "postgres")]
    pub(crate) async fn postgres() -> Option<Self> {
        let server = crate::server::shared()?;
        Some(Self::Postgres(server.create_database().await))
    }

    /// Opens the store as a process does that has just started.
    pub(crate) async fn open(&self) -> Arc<dyn Store> {
        match self {
            // Lives as long as the process.
            Self::Memory(store) => Arc::clone(store) as Arc<dyn Store>,
            #[cfg(feature = "sqlite")]
            Self::Sqlite(directory) => {
                let file = directory.path().join("journals.db");
                let url = format!("sqlite:{}", file.display());
                toolwright_memory::open(&url).await.unwrap()
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(url) => toolwright_memory::open(url).await.unwrap(),
        }
    }
}
