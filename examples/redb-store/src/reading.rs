//! What a transaction reads.

use redb::{ReadTransaction, ReadableTable as _};
use toolwright::chat::{ConversationSummary, Entry, InboxItem, TurnStatus};

use crate::conversation::Record;
use crate::database::{CONVERSATIONS, ENTRIES, Fault, IDS, INBOX};

/// A transaction that reads.
pub(crate) struct Reading(pub(crate) ReadTransaction);

impl Reading {
    fn records(&self) -> Result<Vec<Record>, Fault> {
        let table = self.0.open_table(CONVERSATIONS)?;
        let records = table.iter()?.map(|stored| Ok(serde_json::from_str(stored?.1.value())?));
        records.collect()
    }

    pub(crate) fn inbox(&self, name: &str) -> Result<Vec<InboxItem>, Fault> {
        let table = self.0.open_table(INBOX)?;
        let items = table.range((name, 0)..=(name, u64::MAX))?.map(|stored| {
            let (key, value) = stored?;
            let mut item: InboxItem = serde_json::from_str(value.value().2)?;
            (item.position, item.resumes) = (key.value().1, value.value().0);
            Ok(item)
        });
        items.collect()
    }

    /// Returns the names of at most `limit` conversations whose turn has to go on, or whose inbox has an item that can be taken.
    pub(crate) fn with_work(
        &self,
        limit: usize,
        is_meant: impl Fn(&str) -> bool,
    ) -> Result<Vec<String>, Fault> {
        let mut names = Vec::new();
        for record in self.records()? {
            let name = &record.summary.conversation;
            if names.len() < limit && is_meant(name) && self.has_work(&record)? {
                names.push(name.clone());
            }
        }
        Ok(names)
    }

    fn has_work(&self, record: &Record) -> Result<bool, Fault> {
        let inbox = || self.inbox(&record.summary.conversation);
        Ok(match record.turn() {
            TurnStatus::Running => true,
            TurnStatus::Over => !inbox()?.is_empty(),
            TurnStatus::Paused => inbox()?.iter().any(|item| item.resumes),
        })
    }

    /// Returns the last entries up to the newest, or up to an id and so many more.
    pub(crate) fn tail(
        &self,
        name: &str,
        end: Option<&(String, u64)>,
        limit: usize,
    ) -> Result<Vec<Entry>, Fault> {
        let end = match end {
            None => u64::MAX,
            Some((id, more)) => {
                let number = self.0.open_table(IDS)?.get((name, &**id))?;
                number.map_or(0, |number| number.value() + more)
            }
        };
        let table = self.0.open_table(ENTRIES)?;
        let last = table.range((name, 0)..(name, end))?.rev().take(limit);
        let entries = last.map(|stored| Ok(Entry::from_json(stored?.1.value())?));
        let mut entries: Vec<Entry> = entries.collect::<Result<_, Fault>>()?;
        entries.reverse();
        Ok(entries)
    }

    /// Returns the conversations that have entries, the latest first. It reads all of them: a store for many has an index.
    pub(crate) fn summaries(
        &self,
        is_listed: impl Fn(&ConversationSummary) -> bool,
    ) -> Result<Vec<ConversationSummary>, Fault> {
        let summaries = self.records()?.into_iter().map(|record| record.summary);
        let mut listed: Vec<ConversationSummary> =
            summaries.filter(|it| it.entries > 0 && is_listed(it)).collect();
        listed.sort_by(|a, b| (b.last, &a.conversation).cmp(&(a.last, &b.conversation)));
        Ok(listed)
    }
}
