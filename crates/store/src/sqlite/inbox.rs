//! The inbox of a conversation, which is written without its lease.

use sqlx::sqlite::SqliteRow;
use sqlx::{Connection as _, Row as _, SqliteConnection};
use toolwright_chat::{InboxItem, TurnStatus};

use super::SqliteStore;
use super::lease::remove_if_empty;
use crate::codec::{InboxRow, to_sql};

impl SqliteStore {
    /// Adds an item; returns its position, 0 if it was taken, `None` if the inbox is full.
    pub(super) async fn push_item(
        &self,
        conversation: &str,
        item: &InboxItem,
        row: InboxRow,
        limit: usize,
    ) -> Result<Option<i64>, sqlx::Error> {
        let mut connection = self.writer(true).await?;
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
        sqlx::query(
            "INSERT INTO conversations (name, term) SELECT ?, removed_term FROM meta WHERE true
             ON CONFLICT (name) DO NOTHING",
        )
        .bind(conversation)
        .execute(&mut *transaction)
        .await?;
        let known = sqlx::query(
            "SELECT number, turn, last_position + 1,
                 (SELECT count(*) FROM inbox WHERE conversation = number),
                 ifnull(
                     (SELECT 0 FROM entries WHERE conversation = number AND id = ?2),
                     (SELECT position FROM inbox WHERE conversation = number AND id = ?2)
                 )
             FROM conversations WHERE name = ?1",
        )
        .bind(conversation)
        .bind(&item.id)
        .fetch_one(&mut *transaction)
        .await?;
        let (number, turn, position): (i64, i64, i64) =
            (known.try_get(0)?, known.try_get(1)?, known.try_get(2)?);
        let count: i64 = known.try_get(3)?;
        let known_position: Option<i64> = known.try_get(4)?;
        if known_position.is_some() || count >= to_sql(limit) {
            return Ok(known_position);
        }
        sqlx::query("UPDATE conversations SET last_position = ? WHERE number = ?")
            .bind(position)
            .bind(number)
            .execute(&mut *transaction)
            .await?;
        let resumes = item.resumes_turn(turn_from_sql(turn));
        let row = InboxRow { position, resumes, ..row };
        insert_inbox_row(&mut transaction, number, &row).await?;
        transaction.commit().await?;
        Ok(Some(position))
    }

    /// Returns the items of an inbox in order.
    pub(super) async fn inbox_rows(
        &self,
        conversation: &str,
    ) -> Result<Vec<InboxRow>, sqlx::Error> {
        let rows = sqlx::query(
            "SELECT position, id, kind, payload, principal, peer, at, resumes FROM inbox
             WHERE conversation = (SELECT number FROM conversations WHERE name = ?)
             ORDER BY position",
        )
        .bind(conversation)
        .fetch_all(&self.readers)
        .await?;
        rows.iter().map(read_inbox_row).collect()
    }

    /// Removes an item; returns false if there is none at this position.
    pub(super) async fn remove_item(
        &self,
        conversation: &str,
        position: u64,
    ) -> Result<bool, sqlx::Error> {
        let mut connection = self.writer(true).await?;
        let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
        let removed = sqlx::query(
            "DELETE FROM inbox WHERE position = ?
             AND conversation = (SELECT number FROM conversations WHERE name = ?)",
        )
        .bind(to_sql(position))
        .bind(conversation)
        .execute(&mut *transaction)
        .await?;
        remove_if_empty(&mut transaction, conversation).await?;
        transaction.commit().await?;
        Ok(removed.rows_affected() > 0)
    }
}

pub(super) async fn insert_inbox_row(
    connection: &mut SqliteConnection,
    conversation: i64,
    row: &InboxRow,
) -> Result<(), sqlx::Error> {
    sqlx::query(
        "INSERT INTO inbox (conversation, position, id, kind, payload, principal, peer, at, resumes)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(conversation)
    .bind(row.position)
    .bind(&row.id)
    .bind(&row.kind)
    .bind(&row.payload)
    .bind(&row.principal)
    .bind(&row.peer)
    .bind(row.at)
    .bind(row.resumes)
    .execute(connection)
    .await?;
    Ok(())
}

/// Reads the columns from `position` to `resumes`.
pub(super) fn read_inbox_row(row: &SqliteRow) -> Result<InboxRow, sqlx::Error> {
    Ok(InboxRow {
        position: row.try_get(0)?,
        id: row.try_get(1)?,
        kind: row.try_get(2)?,
        payload: row.try_get(3)?,
        principal: row.try_get(4)?,
        peer: row.try_get(5)?,
        at: row.try_get(6)?,
        resumes: row.try_get(7)?,
    })
}

/// Converts from the column `turn`.
fn turn_from_sql(turn: i64) -> TurnStatus {
    match turn {
        1 => TurnStatus::Running,
        2 => TurnStatus::Paused,
        _ => TurnStatus::Over,
    }
}
