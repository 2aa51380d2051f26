//! Exports a conversation as JSON lines: a header, then one entry per line; `docs/journal.md` describes the format.

use serde_json::json;
use toolwright_chat::Entry;

/// Writes a conversation as JSON lines, without the signatures of its decisions.
///
/// # Errors
///
/// When an entry cannot be serialized.
pub fn write_journal(conversation: &str, entries: &[Entry]) -> Result<String, serde_json::Error> {
    let header = json!({ "toolwright": "journal", "version": 1, "conversation": conversation });
    let mut text = format!("{header}\n");
    for entry in entries {
        text.push_str(&serde_json::to_string(&entry.clone().without_mac())?);
        text.push('\n');
    }
    Ok(text)
}
