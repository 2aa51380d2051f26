//! Sends what is queued, many messages in one transaction.

use std::sync::Arc;
use std::time::Duration;

use sqlx::{Connection as _, PgConnection};
use tokio::time::{Instant, timeout};

use super::connection::Database;
use super::listener::backoff;
use crate::connection_status::ConnectionStatus;
use crate::envelope::{EnvelopeWriter, NodeId};
use crate::outbox::{Outbox, Outgoing};

/// The payload of a notification is shorter than 8,000 bytes.
const MAX_ENVELOPE_BYTES: usize = 7_900;

/// The notifications of one transaction: each commit takes a lock of the whole server.
const MAX_BATCH: usize = 200;

/// The bytes of the notifications of one transaction.
const MAX_BATCH_BYTES: usize = 256 << 10;

/// How long a transaction may take.
const SEND_TIMEOUT: Duration = Duration::from_secs(10);

/// A connection that was idle for so long is pinged before it is used: a batch on a dead one would be lost.
const IDLE_BEFORE_PING: Duration = Duration::from_secs(5);

/// The ordinality keeps the order of the messages.
const NOTIFY: &str = "SELECT count(pg_notify($1, payload)::text)
    FROM (SELECT payload FROM unnest($2::text[]) WITH ORDINALITY AS t(payload, n) ORDER BY n) AS ordered";

/// The task that sends the messages of this node.
pub(super) struct Publisher {
    pub(super) database: Database,
    pub(super) outbox: Arc<Outbox>,
    pub(super) status: Arc<ConnectionStatus>,
}

impl Publisher {
    /// Runs until the bus was dropped and its queue was sent or cannot be sent.
    pub(super) async fn run(self, node: NodeId) {
        let mut writer = EnvelopeWriter::new(node, true);
        let mut backoff = backoff();
        loop {
            let error = match self.connect().await {
                Ok((connection, channel)) => {
                    backoff.reset();
                    self.status.set_connected();
                    match self.send_queued(connection, &channel, &mut writer).await {
                        Ok(()) => return,
                        Err(error) => error,
                    }
                }
                Err(error) => error,
            };
            if self.outbox.is_closed() {
                return;
            }
            self.status.set_error(error);
            if let Some(delay) = backoff.next() {
                tokio::time::sleep(delay).await;
            }
        }
    }

    async fn connect(&self) -> Result<(PgConnection, String), String> {
        let (mut connection, channel) = self.database.connect().await?;
        // What is lost with the server is no loss, so no commit waits for the disk.
        let relaxed = sqlx::query("SET synchronous_commit = off").execute(&mut connection);
        self.within_timeout(relaxed).await?;
        Ok((connection, channel))
    }

    /// Sends what is queued until the bus is dropped, or the connection is lost.
    async fn send_queued(
        &self,
        mut connection: PgConnection,
        channel: &str,
        writer: &mut EnvelopeWriter,
    ) -> Result<(), String> {
        let mut last_used = Instant::now();
        while self.outbox.wait().await {
            if last_used.elapsed() > IDLE_BEFORE_PING {
                self.within_timeout(connection.ping()).await?;
            }
            let batch = self.outbox.take(MAX_BATCH, MAX_BATCH_BYTES);
            if let Err(error) = self.send_batch(&mut connection, channel, writer, &batch).await {
                // Some may have arrived; their subscriptions receive a gap nevertheless.
                self.outbox.add_lost(batch);
                return Err(error);
            }
            last_used = Instant::now();
        }
        Ok(())
    }

    /// Sends messages: in one transaction, or in several if a message is long.
    async fn send_batch(
        &self,
        connection: &mut PgConnection,
        channel: &str,
        writer: &mut EnvelopeWriter,
        batch: &[Outgoing],
    ) -> Result<(), String> {
        let mut envelopes = Vec::with_capacity(batch.len());
        for outgoing in batch {
            match outgoing {
                Outgoing::Message { key, text } => {
                    writer.write_message(*key, text, MAX_ENVELOPE_BYTES, &mut envelopes);
                }
                Outgoing::Gap(key) => writer.write_gap(Some(*key), &mut envelopes),
                Outgoing::GapOfAll => writer.write_gap(None, &mut envelopes),
            }
        }
        // As many as fit into the bytes of a transaction even if each is as long as possible, else those of a short batch.
        let is_small = envelopes.iter().map(String::len).sum::<usize>() <= MAX_BATCH_BYTES;
        let size = if is_small { MAX_BATCH } else { MAX_BATCH_BYTES / MAX_ENVELOPE_BYTES };
        for envelopes in envelopes.chunks(size) {
            let notify = sqlx::query(NOTIFY).bind(channel).bind(envelopes);
            self.within_timeout(notify.execute(&mut *connection)).await?;
        }
        Ok(())
    }

    async fn within_timeout<T>(
        &self,
        work: impl Future<Output = Result<T, sqlx::Error>>,
    ) -> Result<T, String> {
        match timeout(SEND_TIMEOUT, work).await {
            Ok(done) => done.map_err(|error| self.database.describe(&error)),
            Err(_) => Err(format!("{} does not answer", self.status.label())),
        }
    }
}
