//! Repairs a damaged or foreign journal, so that a turn can resume it.
//!
//! A request to a model is complete without this: see [`history`](crate::history()). This is for a journal that is about to be
//! stored: afterwards every call has one result, except the open calls of its last turn.

use std::collections::{HashMap, HashSet};
use std::iter::successors;
use std::sync::Arc;

use toolwright_core::{CallId, ToolName};

use crate::journal::entry::{CallMetadata, Entry, EntryBody, is_turn_over};
use crate::journal::history::{step_calls, unknown_outcome};

/// Repairs a journal that is foreign or damaged, and describes what was changed in which entry.
///
/// A call without a result gets one with an unknown outcome; entries that belong to no call, and duplicates, are removed. A
/// message that begins a branch where no turn ends follows the entry before it instead. A valid journal is returned unchanged.
/// Its last turn may still be open: use [`import_journal`](crate::import_journal()) for a journal that is not trusted.
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
    /// The ids of the entries after which no turn is open: a branch may follow them.
    turn_ends: HashSet<String>,
    /// The entry id of the newest step.
    step_id: String,
    /// The calls of that step that have no result yet.
    open_calls: Vec<(CallId, ToolName)>,
    /// The calls inside the calls of that step, with their parents.
    children: HashMap<CallId, CallId>,
}

impl JournalRepair {
    fn add_entry(&mut self, mut entry: Entry) {
        if !self.ids.insert(entry.id.clone()) {
            self.note(&entry, "is there twice: the second one is left out");
            return;
        }
        self.check_branch(&mut entry);
        match &mut entry.body {
            EntryBody::User { .. } | EntryBody::Assistant { .. } | EntryBody::TurnEnded { .. } => {
                self.close_open_calls(None, entry.at);
            }
            EntryBody::Step { step, calls, .. } => {
                self.close_open_calls(None, entry.at);
                self.children.clear();
                let step = Arc::clone(step);
                self.step_id.clone_from(&entry.id);
                self.open_calls = step_calls(&step, calls);
                self.align_metadata(&entry.id, calls);
            }
            EntryBody::CallFinished { result } => {
                let at = self.open_calls.iter().position(|(call, _)| *call == result.call_id);
                let Some(at) = at else {
                    let call = result.call_id.clone();
                    self.note_stray_entry(&entry, "a result", &call);
                    return;
                };
                self.open_calls.remove(at);
                let call = result.call_id.clone();
                self.close_open_calls(Some(&call), entry.at);
            }
            EntryBody::ChildCall { call, metadata } => {
                let (call, tool) = (call.id.clone(), metadata.tool.clone());
                let parent = entry.parent.clone().filter(|parent| self.is_open(parent));
                let Some(parent) =
                    parent.filter(|_| metadata.call == call && !self.is_known(&call))
                else {
                    self.note(
                        &entry,
                        "is of a call inside a call that is not open: it is left out",
                    );
                    return;
                };
                self.children.insert(call.clone(), parent);
                self.open_calls.push((call, tool));
            }
            // It begins a branch.
            EntryBody::Unknown(_) if entry.after.is_some() => self.close_open_calls(None, entry.at),
            EntryBody::Unknown(_) => {}
            EntryBody::CallStarted { call }
            | EntryBody::ApprovalRequested { call, .. }
            | EntryBody::ApprovalDecided { call, .. } => {
                if !self.is_open(call) {
                    let call = call.clone();
                    self.note_stray_entry(&entry, "something", &call);
                    return;
                }
            }
        }
        let id = entry.id.clone();
        self.entries.push(entry);
        if is_turn_over(&self.entries) {
            self.turn_ends.insert(id);
        }
    }

    /// Removes the branch of an entry that cannot begin one.
    fn check_branch(&mut self, entry: &mut Entry) {
        let can_begin = entry.is_message() || entry.is_unknown();
        let is_valid =
            |after: &String| can_begin && (after.is_empty() || self.turn_ends.contains(after));
        if let Some(after) = entry.after.take_if(|after| !is_valid(after)) {
            let message = format!(
                "begins a branch after `{after}`, which ends no turn: it follows the entry before it"
            );
            self.note(entry, &message);
        }
    }

    fn is_open(&self, call: &CallId) -> bool {
        self.open_calls.iter().any(|(open, _)| open == call)
    }

    fn is_known(&self, call: &CallId) -> bool {
        self.children.contains_key(call) || self.is_open(call)
    }

    /// Returns true if a call was made inside another one.
    fn is_inside(&self, call: &CallId, outer: &CallId) -> bool {
        let mut ancestors = successors(self.children.get(call), |call| self.children.get(*call));
        ancestors.any(|ancestor| ancestor == outer)
    }

    /// Adds results for the open calls inside a call that has its result, or all open calls of a step that is over.
    fn close_open_calls(&mut self, inside: Option<&CallId>, at: u64) {
        let open = std::mem::take(&mut self.open_calls);
        let is_over = |call: &CallId| inside.is_none_or(|outer| self.is_inside(call, outer));
        let (over, open): (Vec<_>, Vec<_>) = open.into_iter().partition(|(call, _)| is_over(call));
        self.open_calls = open;
        let is_child = |(call, _): &(CallId, ToolName)| self.children.contains_key(call);
        let (children, calls): (Vec<_>, Vec<_>) = over.into_iter().partition(is_child);
        for (call, tool) in children.into_iter().rev().chain(calls) {
            self.remarks.push(format!(
                "entry `{}`: call `{call}` has no result; its outcome is told as unknown",
                self.step_id
            ));
            let id = self.unique_id(format!("{}:{call}", self.step_id));
            let parent = self.children.get(&call).cloned();
            let result = unknown_outcome(call, tool);
            let entry = Entry::new(id, at, EntryBody::CallFinished { result });
            self.entries.push(Entry { parent, ..entry });
        }
    }

    /// Returns an id that no entry so far has.
    fn unique_id(&mut self, mut id: String) -> String {
        while !self.ids.insert(id.clone()) {
            id.push('\'');
        }
        id
    }

    /// Makes the metadata of a step match its calls, one by one.
    fn align_metadata(&mut self, id: &str, metadata: &mut Vec<CallMetadata>) {
        let known = |call: &CallId| metadata.iter().find(|known| known.call == *call).cloned();
        let aligned: Vec<CallMetadata> = self
            .open_calls
            .iter()
            .map(|(call, tool)| {
                known(call)
                    .unwrap_or_else(|| CallMetadata::new(call.clone(), tool.clone(), call.as_str()))
            })
            .collect();
        if aligned != *metadata {
            self.remarks.push(format!(
                "entry `{id}`: what is known about its calls was not about these calls; it is now"
            ));
            *metadata = aligned;
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
