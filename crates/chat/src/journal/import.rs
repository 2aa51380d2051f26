//! Imports a journal from a file: repaired, and with its last turn ended.
//!
//! A file that others may have edited must not make this program act: a call that waits in it, with an approval appended, would
//! run when the conversation is resumed, perhaps with other arguments than those that an approver was shown.

use std::collections::HashSet;

use toolwright_core::Outcome;

use crate::journal::closing::{close_calls, closing_bodies};
use crate::journal::entry::{Entry, TurnEnd, is_turn_over};
use crate::journal::repair::repair_journal;
use crate::turn::Turn;

/// Repairs an untrusted journal as [`repair_journal`] does, ends its last turn if that is open, and describes the changes.
///
/// A call without a result gets one: its outcome is unknown if it had started, else it is cancelled. No call of an imported
/// journal runs, even if the journal records its approval: signatures of decisions are removed. Before the entries are appended,
/// [`sign_imported_decisions`](crate::sign_imported_decisions) marks them as imported.
pub fn import_journal(entries: Vec<Entry>) -> (Vec<Entry>, Vec<String>) {
    // A newer version might act on an entry that this one cannot check.
    let (unknown, entries): (Vec<_>, Vec<_>) = entries.into_iter().partition(Entry::is_unknown);
    let entries = entries.into_iter().map(Entry::without_mac).collect();
    let (mut entries, mut remarks) = repair_journal(entries);
    let unknown = unknown.iter().map(|entry| {
        format!("entry `{}` is of a kind that only a newer version knows: it is left out", entry.id)
    });
    remarks.extend(unknown);
    if let Some(last) = entries.last()
        && !is_turn_over(&entries)
    {
        let closing = closing_entries(&entries, last);
        remarks.push(format!(
            "entry `{}` left its turn open: it is ended, and none of its calls will run",
            last.id
        ));
        entries.extend(closing);
    }
    (entries, remarks)
}

/// Returns the entries that end the turn that is open after `last`.
fn closing_entries(entries: &[Entry], last: &Entry) -> Vec<Entry> {
    let turn = Turn::from_entries(entries);
    let reason = "the call did not run: its conversation was imported before it could";
    let results = close_calls(&turn, |_| true, |_, _| (Outcome::Cancelled, reason));
    let ids: HashSet<&str> = entries.iter().map(|entry| entry.id.as_str()).collect();
    let mut ids = (1..).map(|n| format!("{}:{n}", last.id)).filter(|id| !ids.contains(id.as_str()));
    let entries = closing_bodies(&results, &TurnEnd::Cancelled).filter_map(|body| {
        let parent = body.call_id().and_then(|call| turn.parent(call)).cloned();
        Some(Entry { parent, ..Entry::new(ids.next()?, last.at, body) })
    });
    entries.collect()
}
