//! Entries in, the text that is kept of them out; and back.

use toolwright_chat::{Entry, StoreError};

/// Writes entries, each once: the text is what is kept.
pub(crate) fn write(entries: &[Entry]) -> Result<Vec<String>, StoreError> {
    let texts = entries.iter().map(|entry| {
        serde_json::to_string(entry).map_err(|error| {
            let id = &entry.id;
            StoreError::new(format!("entry `{id}` cannot be written as JSON")).with_source(error)
        })
    });
    texts.collect()
}

/// Reads an entry.
pub(crate) fn read(conversation: &str, text: &str) -> Result<Entry, StoreError> {
    serde_json::from_str(text).map_err(|error| {
        StoreError::new(format!(
            "conversation `{conversation}` has an entry that cannot be read: it is damaged, or of a newer Toolwright"
        ))
        .with_source(error)
    })
}

/// What databases count with.
pub(crate) fn signed(number: impl TryInto<i64>) -> i64 {
    number.try_into().unwrap_or(i64::MAX)
}

/// What everybody else counts with.
pub(crate) fn unsigned(number: i64) -> u64 {
    number.try_into().unwrap_or_default()
}

/// A key that nobody has seen.
pub(crate) fn key() -> Result<String, StoreError> {
    let mut drawn = [0; 32];
    getrandom::fill(&mut drawn).map_err(|error| {
        StoreError::new("the system has no random numbers to give").with_source(error.to_string())
    })?;
    Ok(drawn.iter().map(|byte| format!("{byte:02x}")).collect())
}
