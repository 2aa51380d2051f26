//! A journal from elsewhere in, one to keep out: repaired, and with no turn left open.
//!
//! A file that others may have edited must not make this program act: a call that waits in it, with an approval appended, would
//! run when the conversation is opened, perhaps with other arguments than the ones that are shown.

use std::collections::HashSet;

use toolwright_core::{ErrorKind, Outcome, ToolResult};

use crate::journal::entry::{Entry, EntryBody, TurnEnd};
use crate::journal::history::unknown_outcome;
use crate::journal::repair::repair_journal;
use crate::turn::{Turn, TurnLimits};

/// Repairs a journal from elsewhere as [`repair`] does, ends its last turn if that is open, and returns what was changed.
///
/// A call without a result gets one: its outcome is unknown if it had started, else it is cancelled. Nothing of a journal that
/// went through here runs, whatever it says was approved.
pub fn import_journal(entries: Vec<Entry>) -> (Vec<Entry>, Vec<String>) {
    let (mut entries, mut remarks) = repair_journal(entries);
    if let Some(last) = entries.last()
        && !matches!(last.body, EntryBody::TurnEnded { .. })
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

/// The entries that end the turn that is open after `last`.
fn closing_entries(entries: &[Entry], last: &Entry) -> Vec<Entry> {
    let mut turn = Turn::new(TurnLimits::default());
    entries.iter().for_each(|entry| turn.apply(entry));
    let results = turn.open_calls().map(|facts| {
        let result = match turn.started_calls().any(|started| started == facts) {
            true => unknown_outcome(facts.call.clone(), facts.tool.clone()),
            false => {
                let reason = "the call did not run: its conversation was imported before it could";
                let mut result =
                    ToolResult::from_outcome(Outcome::Cancelled, ErrorKind::Failed, reason);
                (result.call_id, result.tool) = (facts.call.clone(), facts.tool.clone());
                result
            }
        };
        EntryBody::CallFinished { result }
    });
    let end = EntryBody::TurnEnded {
        end: TurnEnd::Cancelled,
    };
    let ids: HashSet<&str> = entries.iter().map(|entry| entry.id.as_str()).collect();
    let mut ids = (1..)
        .map(|n| format!("{}:{n}", last.id))
        .filter(|id| !ids.contains(id.as_str()));
    let closing = results.chain([end]);
    closing
        .filter_map(|what| Some(Entry::new(ids.next()?, last.at, what)))
        .collect()
}
