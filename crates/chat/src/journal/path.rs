//! The path of a conversation: the entries from the first one to the newest, without those of other branches.
//!
//! Entries are appended in one order. A message whose [`Entry::after`] is set begins a branch: it follows that entry, and the
//! entries between the two belong to another branch.

use std::collections::HashMap;

use serde::Serialize;

use crate::error::ChatError;
use crate::journal::entry::{Entry, is_turn_over};
use crate::journal::store::{Store, StoreError, TailEnd};

/// How many entries are read at a time.
const PAGE_SIZE: usize = 1 << 10;

/// Reads a path backwards, page by page.
pub(crate) struct PathReader<'a> {
    store: &'a dyn Store,
    conversation: &'a str,
    next: NextPage,
}

/// Where the next page ends.
enum NextPage {
    Newest,
    Before(String),
    At(String),
    /// The first entry was read.
    None,
}

impl<'a> PathReader<'a> {
    /// Starts at the newest entry, or at the one of the id `end`, or before the first one if that is empty.
    pub(crate) fn new(store: &'a dyn Store, conversation: &'a str, end: Option<&str>) -> Self {
        let next = match end {
            None => NextPage::Newest,
            Some("") => NextPage::None,
            Some(end) => NextPage::At(end.to_owned()),
        };
        Self { store, conversation, next }
    }

    /// Returns true if there may be more entries.
    pub(crate) fn has_more(&self) -> bool {
        !matches!(self.next, NextPage::None)
    }

    /// Reads at most `limit` entries before those of the last page, in order.
    pub(crate) async fn read_page(&mut self, limit: usize) -> Result<Vec<Entry>, StoreError> {
        let end = match &self.next {
            NextPage::Newest => TailEnd::Newest,
            NextPage::Before(id) => TailEnd::Before(id),
            NextPage::At(id) => TailEnd::At(id),
            NextPage::None => return Ok(Vec::new()),
        };
        let mut entries = self.store.tail(self.conversation, end, limit).await?;
        let branch = entries.iter().rposition(|entry| entry.after.is_some());
        entries.drain(..branch.unwrap_or_default());
        self.next = match entries.first() {
            Some(Entry { after: Some(after), .. }) if after.is_empty() => NextPage::None,
            Some(Entry { after: Some(after), .. }) => NextPage::At(after.clone()),
            Some(first) if entries.len() == limit => NextPage::Before(first.id.clone()),
            _ => NextPage::None,
        };
        Ok(entries)
    }
}

/// Loads the path to the newest entry, or to the one of the id `end`; empty if there is none.
///
/// # Errors
///
/// When the store cannot be read.
pub async fn load_path(
    store: &dyn Store,
    conversation: &str,
    end: Option<&str>,
) -> Result<Vec<Entry>, StoreError> {
    let mut reader = PathReader::new(store, conversation, end);
    let mut pages = Vec::new();
    while reader.has_more() {
        pages.push(reader.read_page(PAGE_SIZE).await?);
    }
    Ok(pages.into_iter().rev().flatten().collect())
}

/// Returns the path to the newest of these entries, in order.
pub fn newest_path(entries: &[Entry]) -> Vec<&Entry> {
    let mut path = Vec::new();
    let mut rest = entries;
    while let Some((last, before)) = rest.split_last() {
        path.push(last);
        rest = match last.after.as_deref() {
            None => before,
            Some(after) => {
                let end = before.iter().rposition(|entry| entry.id == after);
                before.get(..end.map_or(0, |at| at + 1)).unwrap_or_default()
            }
        };
    }
    path.reverse();
    path
}

/// A run of entries between two branch points.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Branch {
    /// The id of its first entry.
    pub first: String,
    /// The id of the entry that the first one follows; empty if it follows none.
    pub after: String,
    /// The id of its last entry.
    pub last: String,
}

/// Returns the branches of a whole conversation, in the order in which they began; empty if it has only one.
pub fn branches(entries: &[Entry]) -> Vec<Branch> {
    let before = std::iter::once("").chain(entries.iter().map(|entry| entry.id.as_str()));
    let parents = entries.iter().zip(before).map(|(entry, before)| match &entry.after {
        Some(after) => after.as_str(),
        None => before,
    });
    let mut child_counts: HashMap<&str, usize> = HashMap::new();
    parents.clone().for_each(|parent| *child_counts.entry(parent).or_default() += 1);
    let mut branches: Vec<Branch> = Vec::new();
    // The index of the branch that ends with an entry.
    let mut by_last: HashMap<&str, usize> = HashMap::new();
    for (entry, parent) in entries.iter().zip(parents) {
        let is_only_child = child_counts.get(parent) == Some(&1);
        let continued = by_last.remove(parent).filter(|_| is_only_child);
        let at = continued.unwrap_or(branches.len());
        match branches.get_mut(at) {
            Some(branch) => branch.last.clone_from(&entry.id),
            None => branches.push(Branch {
                first: entry.id.clone(),
                after: parent.to_owned(),
                last: entry.id.clone(),
            }),
        }
        by_last.insert(&entry.id, at);
    }
    if branches.len() == 1 {
        branches.clear();
    }
    branches
}

/// Checks that a message can continue after the entry of the id `after`; always if that is empty.
///
/// # Errors
///
/// [`ChatError::NoTurnEnd`] if no turn ends with this entry; or when the store cannot be read.
pub async fn check_turn_end(
    store: &dyn Store,
    conversation: &str,
    after: &str,
) -> Result<(), ChatError> {
    let path = PathReader::new(store, conversation, Some(after)).read_page(PAGE_SIZE).await?;
    require_turn_end(&path, after)
}

/// Returns an error unless this path to the entry of the id `after` ends with the end of a turn, or that is empty.
pub(crate) fn require_turn_end(path: &[Entry], after: &str) -> Result<(), ChatError> {
    match after.is_empty() || is_turn_over(path) {
        true => Ok(()),
        false => Err(ChatError::NoTurnEnd { entry: after.to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::entry::EntryBody;

    /// The branches of a journal, whose entries are `id` or `id<after`, as `after:first-last`.
    fn branches_of(journal: &str) -> String {
        let entries = journal.split(' ').map(|text| {
            let (id, after) = match text.split_once('<') {
                Some((id, after)) => (id, Some(after.to_owned())),
                None => (text, None),
            };
            let mut entry = Entry::new(id, 0, EntryBody::User { content: Vec::new() });
            entry.after = after;
            entry
        });
        let branches = branches(&entries.collect::<Vec<_>>());
        let texts = branches.iter().map(|it| format!("{}:{}-{}", it.after, it.first, it.last));
        texts.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn branches_are_the_runs_between_branch_points() {
        assert_eq!(branches_of("a b c"), "");
        assert_eq!(branches_of("a b c<b"), "", "it follows the newest entry anyway");
        assert_eq!(branches_of("a b c d<a"), ":a-a a:b-c a:d-d");
        assert_eq!(branches_of("a b c<"), ":a-b :c-c");
        assert_eq!(branches_of("a b c d<a e f<a"), ":a-a a:b-c a:d-e a:f-f");
        assert_eq!(branches_of("a b c<a d e<b"), ":a-a a:b-e a:c-d", "the older one goes on");
        assert_eq!(branches_of("a b c<a d<b e<b"), ":a-a a:b-b a:c-c b:d-d b:e-e");
    }
}
