//! The inbox of a conversation, which is written without its lease.

use sqlx::Row as _;
use sqlx::postgres::PgRow;
use toolwright_chat::{InboxItem, TurnStatus};

use super::PostgresStore;
use super::journal::text_column;
use crate::codec::{InboxRow, to_sql};

impl PostgresStore {
    /// Adds an item in one round trip; returns its position, 0 if it was taken, `None` if the inbox is full.
    pub(super) async fn push_item(
        &self,
        conversation: &str,
        item: &InboxItem,
        row: &InboxRow,
        limit: usize,
    ) -> Result<Option<i64>, sqlx::Error> {
        // By the number that the column `turn` has for each status.
        let statuses = [TurnStatus::Over, TurnStatus::Running, TurnStatus::Paused];
        let resumes = statuses.map(|turn| item.resumes_turn(turn));
        sqlx::query_scalar("SELECT toolwright_push($1, $2, $3, $4, $5, $6, $7, $8, $9)")
            .bind(conversation.as_bytes())
            .bind(row.id.as_bytes())
            .bind(&row.kind)
            .bind(&row.payload)
            .bind(&row.principal)
            .bind(row.peer.as_ref().map(String::as_bytes))
            .bind(row.at)
            .bind(resumes)
            .bind(to_sql(limit))
            .fetch_one(&self.database)
            .await
    }

    /// Returns the items of an inbox in order.
    pub(super) async fn inbox_rows(
        &self,
        conversation: &str,
    ) -> Result<Vec<InboxRow>, sqlx::Error> {
        let rows = sqlx::query(
            "SELECT position, id, kind, payload, principal, peer, at, resumes FROM toolwright_inbox
             WHERE conversation = (SELECT number FROM toolwright_conversations WHERE name = $1)
             ORDER BY position",
        )
        .bind(conversation.as_bytes())
        .fetch_all(&self.database)
        .await?;
        rows.iter().map(read_inbox_row).collect()
    }

    /// Returns the id of the item at a position.
    pub(super) async fn item_id(
        &self,
        conversation: &str,
        position: u64,
    ) -> Result<Option<Vec<u8>>, sqlx::Error> {
        sqlx::query_scalar(
            "SELECT id FROM toolwright_inbox WHERE position = $2
             AND conversation = (SELECT number FROM toolwright_conversations WHERE name = $1)",
        )
        .bind(conversation.as_bytes())
        .bind(to_sql(position))
        .fetch_optional(&self.database)
        .await
    }

    /// Returns true if the journal has an entry of this id.
    pub(super) async fn has_entry(
        &self,
        conversation: &str,
        id: &[u8],
    ) -> Result<bool, sqlx::Error> {
        sqlx::query_scalar(
            "SELECT EXISTS (SELECT FROM toolwright_entries WHERE id = $2
             AND conversation = (SELECT number FROM toolwright_conversations WHERE name = $1))",
        )
        .bind(conversation.as_bytes())
        .bind(id)
        .fetch_one(&self.database)
        .await
    }

    /// Removes an item; returns false if there is none at this position.
    pub(super) async fn remove_item(
        &self,
        conversation: &str,
        position: u64,
    ) -> Result<bool, sqlx::Error> {
        let removed = sqlx::query(
            "DELETE FROM toolwright_inbox WHERE position = $2
             AND conversation = (SELECT number FROM toolwright_conversations WHERE name = $1)",
        )
        .bind(conversation.as_bytes())
        .bind(to_sql(position))
        .execute(&self.database)
        .await?;
        self.remove_if_empty(conversation).await?;
        Ok(removed.rows_affected() > 0)
    }
}

/// Reads the columns from `position` to `resumes`.
pub(super) fn read_inbox_row(row: &PgRow) -> Result<InboxRow, sqlx::Error> {
    let peer: Option<&[u8]> = row.try_get(5)?;
    Ok(InboxRow {
        position: row.try_get(0)?,
        id: text_column(row, 1)?,
        kind: row.try_get(2)?,
        payload: row.try_get(3)?,
        principal: row.try_get(4)?,
        peer: peer.map(|peer| String::from_utf8_lossy(peer).into_owned()),
        at: row.try_get(6)?,
        resumes: row.try_get(7)?,
    })
}
