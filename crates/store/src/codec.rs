//! Entries, integers and durations as the databases store them.

use std::time::Duration;

use toolwright_chat::{Entry, StoreError};

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

/// Converts to the integer type of SQL; a greater number becomes [`i64::MAX`].
pub(crate) fn to_sql(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

/// Converts from the integer type of SQL; a negative number becomes 0.
pub(crate) fn from_sql(number: i64) -> u64 {
    number.try_into().unwrap_or_default()
}

/// Converts the duration of a lease to milliseconds, at most a century: times that far ahead fit into both databases.
pub(crate) fn lease_millis(duration: Duration) -> i64 {
    const CENTURY: Duration = Duration::from_secs(100 * 365 * 24 * 60 * 60);
    to_sql(duration.min(CENTURY).as_millis())
}
