//! Checks a store for damage.

use std::collections::HashSet;
use std::fmt;

use toolwright_chat::{Entry, StoreError, entry_title, find_unsigned_decisions, repair_journal};
use toolwright_core::Secret;

use crate::codec::to_sql;
use crate::rows::{ConversationRow, open_snapshot};

const RESTORE: &str = "restore a backup, or delete the conversation";
const IMPORT: &str = "export the conversation, and import it under another name";
const COMPARE: &str = "compare it with a backup: it was changed, or its key was removed by rotating keys; then export the \
     conversation, and import it under another name";

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
    /// What is wrong; empty if the store is intact.
    pub problems: Vec<StoreProblem>,
}

/// Something that is wrong with a stored conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreProblem {
    /// The name of the conversation.
    pub conversation: String,
    /// The id of the entry or the inbox item, if it is one of them alone.
    pub entry: Option<String>,
    /// What is wrong.
    pub problem: String,
    /// What to do about it.
    pub remedy: &'static str,
}

impl fmt::Display for StoreProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "conversation `{}`: {}; {}", self.conversation, self.problem, self.remedy)
    }
}

/// Checks every conversation of the store that a URL names: entries and inbox items can be read, ids are unique, the lists of
/// conversations agree with the entries, every call that is over has one result, and every decision is signed.
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
/// let report = toolwright::store::verify("sqlite:conversations.db").await?;
/// assert!(report.problems.is_empty(), "{:?}", report.problems);
/// # Ok(()) }
/// ```
pub async fn verify(url: &str) -> Result<VerifyReport, StoreError> {
    let (_store, mut rows) = open_snapshot(url).await?;
    let mut report = VerifyReport::default();
    let header = rows.read_header().await?;
    let keys: Vec<Secret> = header.keys.into_iter().map(Secret::new).collect();
    for number in header.conversations {
        let row = rows.read_conversation(number).await?;
        report.conversations += 1;
        report.entries += row.entries.len();
        report.inbox_items += row.inbox.len();
        report.problems.extend(check_conversation(row, &keys));
    }
    Ok(report)
}

/// Returns what is wrong with a conversation.
fn check_conversation(row: ConversationRow, keys: &[Secret]) -> Vec<StoreProblem> {
    let name = &row.name;
    let new = |entry: Option<&str>, problem: String, remedy: &'static str| {
        let (conversation, entry) = (name.clone(), entry.map(str::to_owned));
        StoreProblem { conversation, entry, problem, remedy }
    };
    let mut problems = Vec::new();
    let mut ids = HashSet::new();
    let mut entries = Vec::new();
    for (id, text) in &row.entries {
        let mut damaged = |problem| problems.push(new(Some(id), problem, RESTORE));
        match Entry::from_json(text) {
            Err(error) => damaged(format!("entry `{id}` cannot be read: {error}")),
            Ok(entry) if entry.id != *id => {
                damaged(format!("entry `{id}` has the id `{}` in its JSON", entry.id));
            }
            Ok(entry) => entries.push(entry),
        }
        if !ids.insert(id) {
            damaged(format!("entry `{id}` is there twice"));
        }
    }
    let count = to_sql(row.entries.len());
    if row.count != count {
        let problem = format!("it has {count} entries, and its row counts {}", row.count);
        problems.push(new(None, problem, RESTORE));
    }
    // With an entry missing, all of these would be reported, too.
    if problems.is_empty() {
        let title = entries.first().map(entry_title).unwrap_or_default();
        let time = |entry: Option<&Entry>| entry.map_or(0, |entry| to_sql(entry.at));
        let expected = (&title, time(entries.first()), time(entries.last()));
        if (&row.title, row.began, row.last) != expected {
            let problem = "its title or times are not those of its entries".to_owned();
            problems.push(new(None, problem, IMPORT));
        }
        for id in find_unsigned_decisions(keys, name, &entries) {
            let problem =
                format!("the signature of the decision in entry `{id}` is wrong or missing");
            problems.push(new(Some(&id), problem, COMPARE));
        }
        let repairs = repair_journal(entries).1.into_iter();
        problems.extend(repairs.map(|problem| new(None, problem, IMPORT)));
    }
    for item in row.inbox {
        let (id, position) = (item.id.clone(), item.position);
        if let Err(error) = item.decode(name) {
            let source = std::error::Error::source(&error);
            let cause = source.map(ToString::to_string).unwrap_or_default();
            let problem = format!("inbox item `{id}` cannot be read: {cause}");
            problems.push(new(Some(&id), problem, RESTORE));
        }
        if position > row.last_position {
            let problem = format!("inbox item `{id}` is after the last position of its row");
            problems.push(new(Some(&id), problem, RESTORE));
        }
    }
    problems
}
