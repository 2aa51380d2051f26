//! What a transaction writes of a conversation.

use redb::{ReadableTable, WriteTransaction};
use serde::{Deserialize, Serialize};
use toolwright::chat::{ConversationSummary, Entry, InboxItem, StoreError, TurnStatus, random_hex};

use crate::database::{CONVERSATIONS, ENTRIES, Fault, IDS, INBOX, META, SHARED};

const KEYS: &str = "keys";
const REMOVED_TERM: &str = "removed_term";
const PROBE: &str = "probe";

/// A conversation, without its entries and its inbox.
#[derive(Serialize, Deserialize)]
pub(crate) struct Record {
    /// The number of the last acquisition of its lease.
    term: u64,
    /// The position of the last item that was added to the inbox.
    last_position: u64,
    /// 0 if the last turn is over, 1 while it runs, 2 while it is paused.
    turn: u8,
    pub(crate) summary: ConversationSummary,
}

impl Record {
    pub(crate) fn turn(&self) -> TurnStatus {
        match self.turn {
            0 => TurnStatus::Over,
            1 => TurnStatus::Running,
            _ => TurnStatus::Paused,
        }
    }

    fn set_turn(&mut self, turn: TurnStatus) {
        self.turn = match turn {
            TurnStatus::Over => 0,
            TurnStatus::Running => 1,
            TurnStatus::Paused => 2,
        };
    }

    /// Counts an entry.
    fn add(&mut self, entry: &Entry) {
        let summary = &mut self.summary;
        let name = std::mem::take(&mut summary.conversation);
        *summary = match summary.entries {
            0 => ConversationSummary::new(name, entry, entry.at, 1),
            _ => {
                let mut summary = summary.clone();
                (summary.conversation, summary.last) = (name, entry.at);
                summary.entries += 1;
                summary
            }
        };
    }
}

/// A transaction that writes.
pub(crate) struct Writing<'t> {
    transaction: &'t WriteTransaction,
    /// True if it has to be committed.
    pub(crate) is_changed: bool,
}

impl<'t> Writing<'t> {
    pub(crate) fn new(transaction: &'t WriteTransaction) -> Self {
        Self { transaction, is_changed: false }
    }

    /// The transaction, which is committed from now on.
    pub(crate) fn change(&mut self) -> &'t WriteTransaction {
        self.is_changed = true;
        self.transaction
    }

    pub(crate) fn transaction(&self) -> &'t WriteTransaction {
        self.transaction
    }

    pub(crate) fn create_tables(&mut self) -> Result<(), Fault> {
        let transaction = self.change();
        transaction.open_table(CONVERSATIONS)?;
        transaction.open_table(ENTRIES)?;
        transaction.open_table(IDS)?;
        transaction.open_table(INBOX)?;
        transaction.open_table(META)?;
        transaction.open_table(SHARED)?;
        Ok(())
    }

    fn record(&self, name: &str) -> Result<Option<Record>, Fault> {
        let table = self.transaction.open_table(CONVERSATIONS)?;
        let json = table.get(name)?;
        Ok(json.map(|json| serde_json::from_str(json.value())).transpose()?)
    }

    /// Returns a conversation, or a new one, whose terms follow those of all that were removed.
    fn record_or_new(&self, name: &str) -> Result<Record, Fault> {
        let new = || {
            let summary = ConversationSummary::empty(name);
            Ok(Record { term: self.removed_term()?, last_position: 0, turn: 0, summary })
        };
        self.record(name)?.map_or_else(new, Ok)
    }

    fn put(&mut self, name: &str, record: &Record) -> Result<(), Fault> {
        let json = serde_json::to_string(record)?;
        self.change().open_table(CONVERSATIONS)?.insert(name, &*json)?;
        Ok(())
    }

    fn meta<T: for<'d> Deserialize<'d> + Default>(&self, name: &str) -> Result<T, Fault> {
        let table = self.transaction.open_table(META)?;
        let json = table.get(name)?;
        Ok(json.map(|json| serde_json::from_str(json.value())).transpose()?.unwrap_or_default())
    }

    fn set_meta(&mut self, name: &str, value: &impl Serialize) -> Result<(), Fault> {
        let json = serde_json::to_string(value)?;
        self.change().open_table(META)?.insert(name, &*json)?;
        Ok(())
    }

    fn removed_term(&self) -> Result<u64, Fault> {
        self.meta(REMOVED_TERM)
    }

    pub(crate) fn term(&self, name: &str) -> Result<u64, Fault> {
        self.record(name)?.map_or_else(|| self.removed_term(), |record| Ok(record.term))
    }

    /// Returns the term of a new acquisition.
    pub(crate) fn raise_term(&mut self, name: &str) -> Result<u64, Fault> {
        let mut record = self.record_or_new(name)?;
        record.term += 1;
        self.put(name, &record)?;
        Ok(record.term)
    }

    pub(crate) fn append(
        &mut self,
        name: &str,
        entries: &[Entry],
        taken: &[u64],
        turn: TurnStatus,
    ) -> Result<(), Fault> {
        let mut record = self.record_or_new(name)?;
        let before = record.summary.entries;
        {
            let transaction = self.change();
            let mut table = transaction.open_table(ENTRIES)?;
            let mut ids = transaction.open_table(IDS)?;
            for entry in entries {
                if ids.get((name, &*entry.id))?.is_none() {
                    let number = record.summary.entries;
                    ids.insert((name, &*entry.id), number)?;
                    table.insert((name, number), &*serde_json::to_string(entry)?)?;
                    record.add(entry);
                }
            }
        }
        let has_new = record.summary.entries > before;
        for position in taken {
            // What was appended before has taken its items then. The error ends the transaction without a commit.
            if !self.take(name, *position)? && has_new {
                return Err(StoreError::item_withdrawn(name).into());
            }
        }
        if !entries.is_empty() {
            record.set_turn(turn);
        }
        self.put(name, &record)
    }

    pub(crate) fn push(
        &mut self,
        name: &str,
        item: &InboxItem,
        limit: usize,
    ) -> Result<Option<u64>, Fault> {
        if self.transaction.open_table(IDS)?.get((name, &*item.id))?.is_some() {
            return Ok(Some(0));
        }
        let mut record = self.record_or_new(name)?;
        {
            let inbox = self.transaction.open_table(INBOX)?;
            let mut length = 0;
            for stored in inbox.range((name, 0)..=(name, u64::MAX))? {
                let (key, value) = stored?;
                if value.value().1 == item.id {
                    return Ok(Some(key.value().1));
                }
                length += 1;
            }
            if length >= limit {
                return Ok(None);
            }
        }
        record.last_position += 1;
        let (position, resumes) = (record.last_position, item.resumes_turn(record.turn()));
        let json = serde_json::to_string(item)?;
        let value = (resumes, &*item.id, &*json);
        self.change().open_table(INBOX)?.insert((name, position), value)?;
        self.put(name, &record)?;
        Ok(Some(position))
    }

    /// Removes an item from an inbox; returns false if it is not there.
    pub(crate) fn take(&mut self, name: &str, position: u64) -> Result<bool, Fault> {
        let is_removed = self.transaction.open_table(INBOX)?.remove((name, position))?.is_some();
        self.is_changed |= is_removed;
        Ok(is_removed)
    }

    fn has_inbox(&self, name: &str) -> Result<bool, Fault> {
        let inbox = self.transaction.open_table(INBOX)?;
        Ok(inbox.range((name, 0)..=(name, u64::MAX))?.next().transpose()?.is_some())
    }

    /// Removes a conversation that has nothing but a term.
    pub(crate) fn remove_if_empty(&mut self, name: &str) -> Result<(), Fault> {
        let Some(record) = self.record(name)? else { return Ok(()) };
        if record.summary.entries == 0 && !self.has_inbox(name)? {
            let removed_term = self.removed_term()?.max(record.term);
            self.set_meta(REMOVED_TERM, &removed_term)?;
            self.change().open_table(CONVERSATIONS)?.remove(name)?;
        }
        Ok(())
    }

    /// Deletes a conversation as [`clear`](Self::clear) does, if its last entry is older than `time` and it has no work.
    pub(crate) fn clear_expired(&mut self, name: &str, time: u64) -> Result<bool, Fault> {
        let record = self.record_or_new(name)?;
        let is_over = record.turn() == TurnStatus::Over && !self.has_inbox(name)?;
        Ok(is_over && record.summary.last < time && self.clear(name)?)
    }

    /// Deletes entries and inbox; returns false if there were no entries. The lease stays.
    pub(crate) fn clear(&mut self, name: &str) -> Result<bool, Fault> {
        let mut record = self.record_or_new(name)?;
        let had_entries = record.summary.entries > 0;
        let transaction = self.change();
        let all = (name, 0)..=(name, u64::MAX);
        transaction.open_table(ENTRIES)?.retain_in(all.clone(), |_, _| false)?;
        transaction.open_table(INBOX)?.retain_in(all, |_, _| false)?;
        // The name with a zero byte at its end is the next one.
        let end = format!("{name}\0");
        transaction.open_table(IDS)?.retain_in((name, "")..(&*end, ""), |_, _| false)?;
        record.set_turn(TurnStatus::Over);
        record.summary = ConversationSummary::empty(name);
        self.put(name, &record)?;
        Ok(had_entries)
    }

    /// The signing keys, the newest first.
    pub(crate) fn keys(&self) -> Result<Vec<String>, Fault> {
        self.meta(KEYS)
    }

    /// Adds a signing key; at most `keep` remain.
    pub(crate) fn add_key(&mut self, keep: usize) -> Result<Vec<String>, Fault> {
        let mut keys = self.keys()?;
        keys.insert(0, random_hex(32)?);
        keys.truncate(keep.max(1));
        self.set_meta(KEYS, &keys)?;
        Ok(keys)
    }

    /// Writes something small.
    pub(crate) fn probe(&mut self) -> Result<(), Fault> {
        self.set_meta(PROBE, &())
    }
}
