//! Deletes conversations that are older than the server keeps them.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::sleep;
use toolwright_chat::{ExpiredConversations, StoreError};
use toolwright_core::__internal::{unix_millis_now, whole_millis, with_jitter};

use super::sweeper::SWEEP_JITTER;
use crate::server::Server;

/// How often expired conversations are looked for, about.
const INTERVAL: Duration = Duration::from_secs(60 * 60);

impl Server {
    /// Deletes the conversations that have expired, at start and then about hourly, if the limits set an age.
    pub(super) async fn delete_expired_conversations(&self) {
        let Some(age) = self.state.limits.max_conversation_age else {
            return;
        };
        loop {
            match self.delete_older_than(age).await {
                Ok(0) => {}
                Ok(count) => tracing::info!(count, "conversations that have expired are deleted"),
                Err(error) => tracing::warn!(%error, "expired conversations cannot be deleted now"),
            }
            sleep(with_jitter(INTERVAL, &SWEEP_JITTER)).await;
        }
    }

    /// Deletes the conversations whose last entry is older; returns their number.
    async fn delete_older_than(&self, age: Duration) -> Result<usize, StoreError> {
        let Some(store) = self.persistent_store() else {
            return Ok(0);
        };
        let time = unix_millis_now().saturating_sub(whole_millis(age));
        let holder = self.state.retention_node();
        let mut expired = ExpiredConversations::new(Arc::clone(store), holder, time);
        let mut count = 0;
        loop {
            let deleted = expired.delete_batch().await?;
            if deleted.is_empty() {
                return Ok(count);
            }
            count += deleted.len();
            for summary in deleted {
                self.state.metrics.expired_conversations.inc();
                for endpoint in self.endpoints.iter() {
                    endpoint.reset_room(&summary.conversation).await;
                }
                self.state.on_deleted(&summary.conversation).await;
            }
        }
    }
}
