//! Entries, inbox items, integers and durations as the databases store them.

use std::time::Duration;

use toolwright_chat::{Entry, InboxBody, InboxItem, Owner, StoreError, TurnStatus};
use toolwright_core::TimeToLive;

/// Encodes each entry as JSON; the store keeps this text unchanged.
pub(crate) fn encode_entries(entries: &[Entry]) -> Result<Vec<String>, StoreError> {
    let texts = entries.iter().map(|entry| {
        serde_json::to_string(entry).map_err(|error| {
            let id = &entry.id;
            StoreError::new(format!("entry `{id}` cannot be written as JSON")).with_source(error)
        })
    });
    texts.collect()
}

/// Decodes an entry of a conversation.
pub(crate) fn decode_entry(conversation: &str, text: &str) -> Result<Entry, StoreError> {
    Entry::from_json(text).map_err(|error| {
        StoreError::new(format!(
            "conversation `{conversation}` has an entry that cannot be read: it is damaged"
        ))
        .with_source(error)
    })
}

/// An inbox item as a row.
pub(crate) struct InboxRow {
    pub(crate) position: i64,
    pub(crate) id: String,
    /// For people who read the table.
    pub(crate) kind: String,
    /// The body as JSON.
    pub(crate) payload: String,
    /// The principal as JSON.
    pub(crate) principal: Option<String>,
    pub(crate) peer: Option<String>,
    pub(crate) at: i64,
    pub(crate) resumes: bool,
}

impl InboxRow {
    /// Encodes an item that has no position yet.
    pub(crate) fn encode(item: &InboxItem) -> Result<Self, StoreError> {
        let encode_error = |error: serde_json::Error| {
            let id = &item.id;
            StoreError::new(format!("inbox item `{id}` cannot be written as JSON"))
                .with_source(error)
        };
        let kind = match item.body {
            InboxBody::Message { .. } => "message",
            InboxBody::Decisions { .. } => "decisions",
            InboxBody::Stop => "stop",
        };
        let principal = item.principal.as_ref().map(serde_json::to_string).transpose();
        Ok(Self {
            position: 0,
            id: item.id.clone(),
            kind: kind.to_owned(),
            payload: serde_json::to_string(&item.body).map_err(encode_error)?,
            principal: principal.map_err(encode_error)?,
            peer: item.peer.clone(),
            at: to_sql(item.at),
            resumes: false,
        })
    }

    /// Decodes an item of a conversation.
    pub(crate) fn decode(self, conversation: &str) -> Result<InboxItem, StoreError> {
        let decode_error = |error: serde_json::Error| {
            StoreError::new(format!(
                "conversation `{conversation}` has an inbox item that cannot be read: it is damaged"
            ))
            .with_source(error)
        };
        let body = serde_json::from_str(&self.payload).map_err(decode_error)?;
        let principal = self.principal.as_deref().map(serde_json::from_str).transpose();
        let item = InboxItem::new(self.id, from_sql(self.at), body);
        let mut item = item.with_principal(principal.map_err(decode_error)?).with_peer(self.peer);
        item.position = from_sql(self.position);
        item.resumes = self.resumes;
        Ok(item)
    }
}

/// The column `turn`.
pub(crate) fn turn_to_sql(turn: TurnStatus) -> i64 {
    match turn {
        TurnStatus::Over => 0,
        TurnStatus::Running => 1,
        TurnStatus::Paused => 2,
    }
}

/// Which conversations are listed.
pub(crate) enum ListFilter<'a> {
    All,
    OwnedBy(&'a Owner),
    /// Those whose last entry is older than this time, the oldest first; the others have the latest first.
    OlderThan(u64),
}

/// Converts to the integer type of SQL; a greater number becomes [`i64::MAX`].
pub(crate) fn to_sql(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

/// Converts from the integer type of SQL; a negative number becomes 0.
pub(crate) fn from_sql(number: i64) -> u64 {
    number.try_into().unwrap_or_default()
}

/// Converts a duration to milliseconds, at most a century: times that far ahead fit into both databases.
pub(crate) fn duration_millis(duration: Duration) -> i64 {
    const CENTURY: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);
    to_sql(duration.min(CENTURY).as_millis())
}

/// Converts milliseconds to a duration; a negative number becomes zero.
pub(crate) fn millis(number: i64) -> Duration {
    Duration::from_millis(from_sql(number))
}

/// The time that a value lives, in milliseconds; `None` if it never expires, or if that does not change.
pub(crate) fn ttl_millis(ttl: TimeToLive) -> Option<i64> {
    match ttl {
        TimeToLive::For(time) => Some(duration_millis(time)),
        TimeToLive::Forever | TimeToLive::Unchanged => None,
    }
}
