//! What a transaction reads.

use redb::{ReadTransaction, ReadableTable as _};
use toolwright::chat::{ConversationSummary, Entry, InboxItem};

use crate::database::{CONVERSATIONS, ENTRIES, IDS, Inner, Outcome};
use crate::writing::{Record, read_json};

/// A transaction that reads.
pub(crate) struct Reading<'i> {
    pub(crate) inner: &'i Inner,
    pub(crate) rows: ReadTransaction,
}

impl Reading<'_> {
    fn records(&self) -> Outcome<Vec<(String, Record)>> {
        let table = self.rows.open_table(CONVERSATIONS)?;
        let records = table.iter()?.map(|stored| {
            let (name, json) = stored?;
            Ok((name.value().to_owned(), serde_json::from_str(json.value())?))
        });
        records.collect()
    }

    pub(crate) fn inbox(&self, name: &str) -> Outcome<Vec<InboxItem>> {
        let record = read_json(&self.rows.open_table(CONVERSATIONS)?, name)?;
        Ok(record.map(Record::into_inbox).unwrap_or_default())
    }

    /// Returns at most `limit` conversations that have work and the holder that is meant.
    pub(crate) fn with_work(
        &self,
        limit: usize,
        is_meant: impl Fn(Option<&String>) -> bool,
    ) -> Outcome<Vec<String>> {
        let (records, leases) = (self.records()?, self.inner.leases());
        let working = records.into_iter().filter(|(_, record)| record.has_work());
        let names = working.map(|(name, _)| name).filter(|name| is_meant(leases.holder(name)));
        Ok(names.take(limit).collect())
    }

    /// Returns the last entries up to the newest, or up to an id and so many more.
    pub(crate) fn tail(
        &self,
        name: &str,
        end: Option<(String, u64)>,
        limit: usize,
    ) -> Outcome<Vec<Entry>> {
        let end = match end {
            None => u64::MAX,
            Some((id, more)) => {
                let number = self.rows.open_table(IDS)?.get((name, &*id))?;
                number.map_or(0, |number| number.value() + more)
            }
        };
        let table = self.rows.open_table(ENTRIES)?;
        let last = table.range((name, 0)..(name, end))?.rev().take(limit);
        let entries: Outcome<Vec<Entry>> =
            last.map(|stored| Ok(Entry::from_json(stored?.1.value())?)).collect();
        Ok(entries?.into_iter().rev().collect())
    }

    /// Returns the conversations that have entries, the latest first. It reads all of them: a store for many has an index.
    pub(crate) fn summaries(
        &self,
        is_listed: impl Fn(&ConversationSummary) -> bool,
    ) -> Outcome<std::vec::IntoIter<ConversationSummary>> {
        let summaries = self.records()?.into_iter().filter_map(|(_, record)| record.summary);
        let mut listed: Vec<ConversationSummary> = summaries.filter(is_listed).collect();
        listed.sort_by(|a, b| (b.last, &a.conversation).cmp(&(a.last, &b.conversation)));
        Ok(listed.into_iter())
    }
}
