//! Retries operations whose connection was lost, or whose transaction was rolled back in a deadlock.

use std::io;
use std::time::Duration;

use sqlx::postgres::PgPool;
use toolwright_chat::StoreError;

use super::error;

/// The database, and its name in error messages; cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Database {
    pub(super) pool: PgPool,
    /// Names the database in error messages, without the password.
    pub(super) label: String,
    /// How long a query may take before its connection counts as lost.
    pub(super) query_timeout: Duration,
}

/// The result of an operation.
pub(super) struct Retried<T> {
    pub(super) result: T,
    /// True if it may have taken effect before, on a connection that was lost.
    pub(super) may_repeat: bool,
}

impl Database {
    pub(super) fn store_error(&self, error: sqlx::Error) -> StoreError {
        error::store_error(&self.label, error)
    }

    /// Runs an operation, and retries it while its connection is lost or its transaction is rolled back in a deadlock.
    pub(super) async fn with_retry<T, F>(
        &self,
        operation: impl Fn() -> F,
    ) -> Result<Retried<T>, StoreError>
    where
        F: Future<Output = Result<T, sqlx::Error>>,
    {
        let mut may_repeat = false;
        // Every pooled connection may be lost, not only the first.
        let mut retries = self.pool.size();
        loop {
            match operation().await {
                Ok(result) => return Ok(Retried { result, may_repeat }),
                Err(error) if retries > 0 && error::is_connection_lost(&error) => {
                    may_repeat = true;
                    // The others have been idle since, so they are pinged before they are used.
                    retries = if is_timeout(&error) { 0 } else { retries - 1 };
                }
                Err(error) if retries > 0 && error::is_deadlock(&error) => retries -= 1,
                Err(error) => return Err(self.store_error(error)),
            }
        }
    }
}

fn is_timeout(error: &sqlx::Error) -> bool {
    matches!(error, sqlx::Error::Io(error) if error.kind() == io::ErrorKind::TimedOut)
}
