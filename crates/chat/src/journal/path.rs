//! The path of a conversation: the entries from the first one to the newest, without those of other branches.
//!
//! Entries are appended in one order. A message whose [`Entry::after`] is set begins a branch: it follows that entry, and the
//! entries between the two belong to another branch.

use crate::journal::entry::Entry;
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
