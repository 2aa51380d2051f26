//! The one connection that writes, for which all writes of this process queue.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sqlx::Sqlite;
use sqlx::pool::PoolConnection;
use sqlx::sqlite::{SqliteConnectOptions, SqlitePool};

/// The connection that writes; cheap to clone.
#[derive(Clone)]
pub(super) struct Writer {
    /// One connection; see [`connection`](Self::connection).
    pub(super) pool: SqlitePool,
    /// True if its commits may not be synced to the disk.
    is_unsynced: Arc<AtomicBool>,
}

impl Writer {
    pub(super) fn new(options: SqliteConnectOptions) -> Self {
        let is_unsynced = Arc::new(AtomicBool::new(false));
        let pool = super::pool(1).after_connect({
            let is_unsynced = Arc::clone(&is_unsynced);
            move |_, _| {
                is_unsynced.store(false, Ordering::Relaxed);
                Box::pin(async { Ok(()) })
            }
        });
        Self { pool: pool.connect_lazy_with(options), is_unsynced }
    }

    /// Waits for the connection. A commit that is not durable is not synced to the disk; the next durable one syncs it, too.
    pub(super) async fn connection(
        &self,
        durable: bool,
    ) -> Result<PoolConnection<Sqlite>, sqlx::Error> {
        let mut connection = self.pool.acquire().await?;
        // This future may be dropped at any time, so the flag is set too long rather than too short.
        match (durable, self.is_unsynced.load(Ordering::Relaxed)) {
            (true, true) => {
                sqlx::query("PRAGMA synchronous = FULL").execute(&mut *connection).await?;
                self.is_unsynced.store(false, Ordering::Relaxed);
            }
            (false, false) => {
                self.is_unsynced.store(true, Ordering::Relaxed);
                sqlx::query("PRAGMA synchronous = NORMAL").execute(&mut *connection).await?;
            }
            _ => {}
        }
        Ok(connection)
    }
}
