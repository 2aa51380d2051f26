//! The stores that the tests run over.

use std::sync::Arc;

use futures::future::BoxFuture;
use toolwright::chat::{MemoryStore, Store};

/// A store for one test, which can be opened several times.
pub(crate) enum Backend {
    Memory(Arc<MemoryStore>),
    Sqlite(tempfile::TempDir),
    Postgres(String),
}

impl Backend {
    pub(crate) fn memory() -> Self {
        Self::Memory(Arc::new(MemoryStore::new()))
    }

    pub(crate) fn sqlite() -> Self {
        Self::Sqlite(tempfile::tempdir().unwrap())
    }

    /// A new database of the server that all tests share; `None` where PostgreSQL is not installed.
    pub(crate) async fn postgres() -> Option<Self> {
        let server = test_support::servers::postgres::shared()?;
        Some(Self::Postgres(server.create_database().await))
    }

    /// Opens the store anew, as a restarted process does.
    pub(crate) async fn open(&self) -> Arc<dyn Store> {
        match self {
            // A store in memory does not survive its process.
            Self::Memory(store) => Arc::clone(store) as Arc<dyn Store>,
            _ => toolwright_store::open(&self.url()).await.unwrap(),
        }
    }

    pub(crate) fn url(&self) -> String {
        match self {
            Self::Memory(_) => "memory:".to_owned(),
            Self::Sqlite(directory) => {
                format!("sqlite:{}", directory.path().join("journals.db").display())
            }
            Self::Postgres(url) => url.clone(),
        }
    }

    /// The number of rows of a table, whose name has no prefix; `None` for a store in memory.
    pub(crate) async fn count_rows(&self, table: &str) -> Option<i64> {
        match self {
            Self::Memory(_) => None,
            Self::Sqlite(directory) => {
                let file = directory.path().join("journals.db");
                Some(crate::sqlite::count_rows(&file, table).await)
            }
            Self::Postgres(url) => {
                Some(crate::postgres::count_rows(url, &format!("toolwright_{table}")).await)
            }
        }
    }

    /// Executes an `UPDATE` of a table, whose name has no prefix.
    pub(crate) async fn update(&self, sql: &str) {
        match self {
            Self::Memory(_) => panic!("a store in memory has no tables"),
            Self::Sqlite(directory) => {
                crate::sqlite::execute(&directory.path().join("journals.db"), sql).await;
            }
            Self::Postgres(url) => {
                let sql = sql.replace("UPDATE ", "UPDATE toolwright_");
                crate::postgres::execute(url, &sql).await;
            }
        }
    }
}

impl test_support_store::Backend for Backend {
    fn open(&self) -> BoxFuture<'_, Arc<dyn Store>> {
        Box::pin(self.open())
    }

    fn count_shared_values(&self) -> BoxFuture<'_, Option<i64>> {
        Box::pin(self.count_rows("shared"))
    }
}
