//! Checks a store for damage.

use std::collections::HashSet;

use toolwright_chat::{Entry, StoreError, entry_title, repair_journal};

use crate::codec::to_sql;
use crate::rows::{ConversationRow, open_snapshot};

/// What [`verify`] found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct VerifyReport {
    /// The number of conversations, including those that have nothing but an inbox.
    pub conversations: usize,
    /// The number of entries.
    pub entries: usize,
    /// The number of items in inboxes.
    pub inbox_items: usize,
    /// What is wrong, each with the name of the conversation and the id of the entry; empty if the store is intact.
    pub problems: Vec<String>,
}

/// Checks every conversation of the store that a URL names: entries and inbox items can be read, ids are unique, the lists of
/// conversations agree with the entries, and every call that is over has one result.
///
/// Opens the store as [`open_existing`](crate::open_existing) does, and changes nothing else. Others may use it meanwhile.
///
/// # Errors
///
/// When the store cannot be opened or read, or is in memory.
///
/// # Examples
///
/// ```no_run
/// # async fn example() -> Result<(), toolwright::chat::StoreError> {
/// let report = toolwright_store::verify("sqlite:conversations.db").await?;
/// assert!(report.problems.is_empty(), "{:?}", report.problems);
/// # Ok(()) }
/// ```
pub async fn verify(url: &str) -> Result<VerifyReport, StoreError> {
    let (_store, mut rows) = open_snapshot(url).await?;
    let mut report = VerifyReport::default();
    for number in rows.read_header().await?.conversations {
        let row = rows.read_conversation(number).await?;
        report.conversations += 1;
        report.entries += row.entries.len();
        report.inbox_items += row.inbox.len();
        let name = row.name.clone();
        let problems = check_conversation(row);
        let problems = problems.iter().map(|problem| format!("conversation `{name}`: {problem}"));
        report.problems.extend(problems);
    }
    Ok(report)
}

/// Returns what is wrong with a conversation.
fn check_conversation(row: ConversationRow) -> Vec<String> {
    let mut problems = Vec::new();
    let mut ids = HashSet::new();
    let mut entries = Vec::new();
    for (id, text) in &row.entries {
        match Entry::from_json(text) {
            Err(error) => problems.push(format!("entry `{id}` cannot be read: {error}")),
            Ok(entry) if entry.id != *id => {
                problems.push(format!("entry `{id}` has the id `{}` in its JSON", entry.id));
            }
            Ok(entry) => entries.push(entry),
        }
        if !ids.insert(id) {
            problems.push(format!("entry `{id}` is there twice"));
        }
    }
    let count = to_sql(row.entries.len());
    if row.count != count {
        problems.push(format!("it has {count} entries, and its row counts {}", row.count));
    }
    // With an entry missing, all of these would be reported, too.
    if problems.is_empty() {
        let title = entries.first().map(entry_title).unwrap_or_default();
        let time = |entry: Option<&Entry>| entry.map_or(0, |entry| to_sql(entry.at));
        let expected = (&title, time(entries.first()), time(entries.last()));
        if (&row.title, row.began, row.last) != expected {
            problems.push("its title or times are not those of its entries".to_owned());
        }
        problems.extend(repair_journal(entries).1);
    }
    for item in row.inbox {
        let (id, position) = (item.id.clone(), item.position);
        if let Err(error) = item.decode(&row.name) {
            let source = std::error::Error::source(&error);
            let cause = source.map(ToString::to_string).unwrap_or_default();
            problems.push(format!("inbox item `{id}` cannot be read: {cause}"));
        }
        if position > row.last_position {
            problems.push(format!("inbox item `{id}` is after the last position of its row"));
        }
    }
    problems
}
