//! What a transaction writes of a conversation.

use std::time::Duration;

use redb::{ReadableTable, WriteTransaction};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use toolwright::chat::{
    Append, ConversationSummary, InboxItem, Lease, StoreError, TurnStatus, random_hex,
};

use crate::database::{CONVERSATIONS, ENTRIES, IDS, META, Outcome, SHARED};
use crate::leases::Leases;

const REMOVED_TERM: &str = "removed_term";

/// A conversation without its entries.
#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Record {
    /// The number of the last acquisition of its lease.
    pub(crate) term: u64,
    turn: TurnStatus,
    /// What lists show of it, if it has entries.
    pub(crate) summary: Option<ConversationSummary>,
    /// The items with their positions, and whether they resume a paused turn.
    inbox: Vec<(u64, bool, InboxItem)>,
    /// The position of the last item that was added to the inbox.
    last_position: u64,
}

impl Record {
    fn entries(&self) -> u64 {
        self.summary.as_ref().map_or(0, |summary| summary.entries)
    }

    /// Removes an item from the inbox; returns false if it is not there.
    fn take(&mut self, position: u64) -> bool {
        let before = self.inbox.len();
        self.inbox.retain(|(known, ..)| *known != position);
        self.inbox.len() < before
    }

    pub(crate) fn into_inbox(self) -> Vec<InboxItem> {
        let item = |(position, resumes, mut item): (u64, bool, InboxItem)| {
            (item.position, item.resumes) = (position, resumes);
            item
        };
        self.inbox.into_iter().map(item).collect()
    }

    /// Returns true if its turn has to go on, or an item of its inbox can be taken.
    pub(crate) fn has_work(&self) -> bool {
        match self.turn {
            TurnStatus::Running => true,
            TurnStatus::Over => !self.inbox.is_empty(),
            TurnStatus::Paused => self.inbox.iter().any(|(_, resumes, _)| *resumes),
        }
    }
}

/// Reads JSON by name.
pub(crate) fn read_json<T: DeserializeOwned>(
    table: &impl ReadableTable<&'static str, &'static str>,
    name: &str,
) -> Outcome<Option<T>> {
    let json = table.get(name)?;
    Ok(json.map(|json| serde_json::from_str(json.value())).transpose()?)
}

/// A transaction that writes.
pub(crate) struct Writing<'t> {
    pub(crate) rows: &'t WriteTransaction,
    pub(crate) leases: &'t mut Leases,
    /// True if it has to be committed.
    pub(crate) is_changed: bool,
}

impl<'t> Writing<'t> {
    /// The tables, whose change is committed.
    pub(crate) fn change(&mut self) -> &'t WriteTransaction {
        self.is_changed = true;
        self.rows
    }

    pub(crate) fn create_tables(&mut self) -> Outcome<()> {
        let rows = self.change();
        rows.open_table(CONVERSATIONS)?;
        rows.open_table(ENTRIES)?;
        rows.open_table(IDS)?;
        rows.open_table(META)?;
        rows.open_table(SHARED)?;
        Ok(())
    }

    /// Returns a conversation, or a new one, whose terms follow those of all that were removed.
    pub(crate) fn record(&self, name: &str) -> Outcome<Record> {
        let new = Record { term: self.meta(REMOVED_TERM)?, ..Record::default() };
        Ok(read_json(&self.rows.open_table(CONVERSATIONS)?, name)?.unwrap_or(new))
    }

    /// Stores a conversation, or removes one that has nothing but a term.
    fn put(&mut self, name: &str, record: &Record) -> Outcome<()> {
        let mut table = self.change().open_table(CONVERSATIONS)?;
        if record.summary.is_some() || !record.inbox.is_empty() || self.leases.has(name) {
            table.insert(name, &*serde_json::to_string(record)?)?;
            return Ok(());
        }
        table.remove(name)?;
        self.set_meta(REMOVED_TERM, &record.term.max(self.meta(REMOVED_TERM)?))
    }

    fn meta<T: DeserializeOwned + Default>(&self, name: &str) -> Outcome<T> {
        Ok(read_json(&self.rows.open_table(META)?, name)?.unwrap_or_default())
    }

    pub(crate) fn set_meta(&mut self, name: &str, value: &impl Serialize) -> Outcome<()> {
        let json = serde_json::to_string(value)?;
        self.change().open_table(META)?.insert(name, &*json)?;
        Ok(())
    }

    /// Acquires a lease, whose term is set.
    pub(crate) fn acquire(&mut self, mut lease: Lease, time: Duration) -> Outcome<Option<Lease>> {
        let name = &*lease.conversation;
        if self.leases.holder(name).is_some_and(|other| *other != lease.holder) {
            return Ok(None);
        }
        let mut record = self.record(name)?;
        record.term += 1;
        lease.term = record.term;
        self.leases.hold(&lease, time);
        self.put(&lease.conversation, &record)?;
        Ok(Some(lease))
    }

    pub(crate) fn release(&mut self, lease: &Lease) -> Outcome<()> {
        if self.leases.release(lease) {
            let record = self.record(&lease.conversation)?;
            self.put(&lease.conversation, &record)?;
        }
        Ok(())
    }

    pub(crate) fn append(&mut self, lease: &Lease, append: Append<'_>) -> Outcome<()> {
        self.leases.check(lease)?;
        let name = &*lease.conversation;
        let mut record = self.record(name)?;
        let before = record.entries();
        let rows = self.change();
        for entry in append.entries {
            let mut ids = rows.open_table(IDS)?;
            if ids.get((name, &*entry.id))?.is_none() {
                let (number, json) = (record.entries(), serde_json::to_string(entry)?);
                ids.insert((name, &*entry.id), number)?;
                rows.open_table(ENTRIES)?.insert((name, number), &*json)?;
                let last = entry.at;
                let first = || ConversationSummary::new(name, entry, last, 0);
                let summary = record.summary.get_or_insert_with(first);
                (summary.entries, summary.last) = (number + 1, last);
            }
        }
        for position in append.taken {
            // What was appended before has taken its items then.
            if !record.take(*position) && record.entries() > before {
                return Err(StoreError::Withdrawn { conversation: name.to_owned() }.into());
            }
        }
        if !append.entries.is_empty() {
            record.turn = append.turn;
        }
        self.put(name, &record)
    }

    pub(crate) fn push(&mut self, name: &str, item: InboxItem, max: usize) -> Outcome<Option<u64>> {
        if self.rows.open_table(IDS)?.get((name, &*item.id))?.is_some() {
            return Ok(Some(0));
        }
        let mut record = self.record(name)?;
        if let Some((position, ..)) = record.inbox.iter().find(|known| known.2.id == item.id) {
            return Ok(Some(*position));
        }
        if record.inbox.len() >= max {
            return Ok(None);
        }
        record.last_position += 1;
        record.inbox.push((record.last_position, item.resumes_turn(record.turn), item));
        self.put(name, &record)?;
        Ok(Some(record.last_position))
    }

    /// Removes an item from an inbox; returns false if it is not there.
    pub(crate) fn withdraw(&mut self, name: &str, position: u64) -> Outcome<bool> {
        let mut record = self.record(name)?;
        let is_removed = record.take(position);
        if is_removed {
            self.put(name, &record)?;
        }
        Ok(is_removed)
    }

    /// Deletes entries and inbox; returns false if there were no entries. With a time, does so only if the last entry is older and there
    /// is no work. The lease stays.
    pub(crate) fn delete(&mut self, lease: &Lease, older_than: Option<u64>) -> Outcome<bool> {
        self.leases.check(lease)?;
        let name = &*lease.conversation;
        let Record { term, last_position, turn, summary, inbox } = self.record(name)?;
        let is_over = turn == TurnStatus::Over && inbox.is_empty();
        let is_older = |time| summary.as_ref().is_some_and(|summary| summary.last < time);
        if !older_than.is_none_or(|time| is_over && is_older(time)) {
            return Ok(false);
        }
        let rows = self.change();
        rows.open_table(ENTRIES)?.retain_in((name, 0)..=(name, u64::MAX), |_, _| false)?;
        // The name with a zero byte at its end is the next one.
        let next = format!("{name}\0");
        rows.open_table(IDS)?.retain_in((name, "")..(&*next, ""), |_, _| false)?;
        self.put(name, &Record { term, last_position, ..Record::default() })?;
        Ok(summary.is_some())
    }

    /// Returns the signing keys, the newest first. Adds one if there is none, or if `keep` says how many there are at most after that.
    pub(crate) fn keys(&mut self, keep: Option<usize>) -> Outcome<Vec<String>> {
        let mut keys: Vec<String> = self.meta("keys")?;
        if keys.is_empty() || keep.is_some() {
            keys.insert(0, random_hex(32)?);
            keys.truncate(keep.unwrap_or_default().max(1));
            self.set_meta("keys", &keys)?;
        }
        Ok(keys)
    }
}
