//! A journal from elsewhere in, one that a turn can go on with out, and what was wrong with it.
//!
//! What a model is told is whole whatever the journal says: see [`history`](crate::history()). This is for a journal that is
//! about to be kept: afterwards every call has one result, except those that its last turn still waits for.

use std::collections::HashSet;
use std::sync::Arc;

use toolwright_core::{CallId, ToolName};

use crate::entry::{CallFacts, Entry, What};
use crate::history::{asked_for, unknown};

/// Repairs a journal that is foreign or damaged, and says what it did to which entry.
///
/// A call without a result gets one that says that its outcome is unknown; what belongs to no call is left out, and so is
/// what is there twice. A journal that needs nothing comes back as it was. Its last turn may still be open: a journal that
/// others could have written goes through [`import_journal`](crate::import_journal()).
pub fn repair(entries: Vec<Entry>) -> (Vec<Entry>, Vec<String>) {
    let mut repair = Repair::default();
    for entry in entries {
        repair.take(entry);
    }
    (repair.kept, repair.remarks)
}

#[derive(Default)]
struct Repair {
    kept: Vec<Entry>,
    remarks: Vec<String>,
    ids: HashSet<String>,
    /// The newest step, and its calls that have no result yet.
    step: String,
    open: Vec<(CallId, ToolName)>,
}

impl Repair {
    fn take(&mut self, mut entry: Entry) {
        if !self.ids.insert(entry.id.clone()) {
            self.say(&entry, "is there twice: the second one is left out");
            return;
        }
        match &mut entry.what {
            What::User { .. } | What::Assistant { .. } | What::Ended { .. } => {
                self.close(entry.at);
            }
            What::Step { step, calls, .. } => {
                self.close(entry.at);
                let step = Arc::clone(step);
                self.step.clone_from(&entry.id);
                self.open = asked_for(&step, calls);
                self.align(&entry.id, calls);
            }
            What::Finished { result } => {
                let at = self.open.iter().position(|(call, _)| *call == result.call);
                let Some(at) = at else {
                    let call = result.call.clone();
                    self.stray(&entry, "a result", &call);
                    return;
                };
                self.open.remove(at);
            }
            What::Started { call } | What::Asked { call, .. } | What::Decided { call, .. } => {
                if !self.open.iter().any(|(open, _)| open == call) {
                    let call = call.clone();
                    self.stray(&entry, "something", &call);
                    return;
                }
            }
        }
        self.kept.push(entry);
    }

    /// Gives the calls that nobody can answer any more their results.
    fn close(&mut self, at: u64) {
        for (call, tool) in std::mem::take(&mut self.open) {
            self.remarks.push(format!(
                "entry `{}`: call `{call}` has no result; its outcome is told as unknown",
                self.step
            ));
            let id = self.fresh(format!("{}:{call}", self.step));
            let result = unknown(call, tool);
            self.kept
                .push(Entry::new(id, at, What::Finished { result }));
        }
    }

    /// An id that no entry has, as far as one can know.
    fn fresh(&mut self, mut id: String) -> String {
        while !self.ids.insert(id.clone()) {
            id.push('\'');
        }
        id
    }

    /// Has the turn know about each call of a step, and about nothing else.
    fn align(&mut self, id: &str, facts: &mut Vec<CallFacts>) {
        let known = |call: &CallId| facts.iter().find(|facts| facts.call == *call).cloned();
        let aligned: Vec<CallFacts> = self
            .open
            .iter()
            .map(|(call, tool)| {
                known(call)
                    .unwrap_or_else(|| CallFacts::new(call.clone(), tool.clone(), call.as_str()))
            })
            .collect();
        if aligned != *facts {
            self.remarks.push(format!(
                "entry `{id}`: what is known about its calls was not about these calls; it is now"
            ));
            *facts = aligned;
        }
    }

    fn stray(&mut self, entry: &Entry, what: &str, call: &CallId) {
        let message = format!("tells {what} of call `{call}`, which is not open: it is left out");
        self.say(entry, &message);
    }

    fn say(&mut self, entry: &Entry, message: &str) {
        self.remarks.push(format!("entry `{}` {message}", entry.id));
    }
}
