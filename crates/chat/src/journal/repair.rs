//! A journal from elsewhere in, one that a turn can go on with out, and what was wrong with it.
//!
//! What a model is told is whole whatever the journal says: see [`history`](crate::history()). This is for a journal that is
//! about to be kept: afterwards every call has one result, except those that its last turn still waits for.

use std::collections::HashSet;
use std::sync::Arc;

use toolwright_core::{CallId, ToolName};

use crate::journal::entry::{CallMetadata, Entry, EntryBody};
use crate::journal::history::{step_calls, unknown_outcome};

/// Repairs a journal that is foreign or damaged, and says what it did to which entry.
///
/// A call without a result gets one that says that its outcome is unknown; what belongs to no call is left out, and so is
/// what is there twice. A journal that needs nothing comes back as it was. Its last turn may still be open: a journal that
/// others could have written goes through [`import_journal`](crate::import_journal()).
pub fn repair_journal(entries: Vec<Entry>) -> (Vec<Entry>, Vec<String>) {
    let mut repair = JournalRepair::default();
    for entry in entries {
        repair.add_entry(entry);
    }
    (repair.entries, repair.remarks)
}

#[derive(Default)]
struct JournalRepair {
    entries: Vec<Entry>,
    remarks: Vec<String>,
    ids: HashSet<String>,
    /// The newest step, and its calls that have no result yet.
    step_id: String,
    open_calls: Vec<(CallId, ToolName)>,
}

impl JournalRepair {
    fn add_entry(&mut self, mut entry: Entry) {
        if !self.ids.insert(entry.id.clone()) {
            self.note(&entry, "is there twice: the second one is left out");
            return;
        }
        match &mut entry.body {
            EntryBody::User { .. } | EntryBody::Assistant { .. } | EntryBody::TurnEnded { .. } => {
                self.close_open_calls(entry.at);
            }
            EntryBody::Step { step, calls, .. } => {
                self.close_open_calls(entry.at);
                let step = Arc::clone(step);
                self.step_id.clone_from(&entry.id);
                self.open_calls = step_calls(&step, calls);
                self.align_metadata(&entry.id, calls);
            }
            EntryBody::CallFinished { result } => {
                let at = self
                    .open_calls
                    .iter()
                    .position(|(call, _)| *call == result.call_id);
                let Some(at) = at else {
                    let call = result.call_id.clone();
                    self.note_stray_entry(&entry, "a result", &call);
                    return;
                };
                self.open_calls.remove(at);
            }
            EntryBody::CallStarted { call }
            | EntryBody::ApprovalRequested { call, .. }
            | EntryBody::ApprovalDecided { call, .. } => {
                if !self.open_calls.iter().any(|(open, _)| open == call) {
                    let call = call.clone();
                    self.note_stray_entry(&entry, "something", &call);
                    return;
                }
            }
        }
        self.entries.push(entry);
    }

    /// Gives the calls that nobody can answer any more their results.
    fn close_open_calls(&mut self, at: u64) {
        for (call, tool) in std::mem::take(&mut self.open_calls) {
            self.remarks.push(format!(
                "entry `{}`: call `{call}` has no result; its outcome is told as unknown",
                self.step_id
            ));
            let id = self.unique_id(format!("{}:{call}", self.step_id));
            let result = unknown_outcome(call, tool);
            self.entries
                .push(Entry::new(id, at, EntryBody::CallFinished { result }));
        }
    }

    /// An id that no entry has, as far as one can know.
    fn unique_id(&mut self, mut id: String) -> String {
        while !self.ids.insert(id.clone()) {
            id.push('\'');
        }
        id
    }

    /// Has the turn know about each call of a step, and about nothing else.
    fn align_metadata(&mut self, id: &str, facts: &mut Vec<CallMetadata>) {
        let known = |call: &CallId| facts.iter().find(|facts| facts.call == *call).cloned();
        let aligned: Vec<CallMetadata> = self
            .open_calls
            .iter()
            .map(|(call, tool)| {
                known(call)
                    .unwrap_or_else(|| CallMetadata::new(call.clone(), tool.clone(), call.as_str()))
            })
            .collect();
        if aligned != *facts {
            self.remarks.push(format!(
                "entry `{id}`: what is known about its calls was not about these calls; it is now"
            ));
            *facts = aligned;
        }
    }

    fn note_stray_entry(&mut self, entry: &Entry, what: &str, call: &CallId) {
        let message = format!("tells {what} of call `{call}`, which is not open: it is left out");
        self.note(entry, &message);
    }

    fn note(&mut self, entry: &Entry, message: &str) {
        self.remarks.push(format!("entry `{}` {message}", entry.id));
    }
}
