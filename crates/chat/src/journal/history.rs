//! The messages of a request to a model, from the entries of a journal.
//!
//! Every call has its result by construction: results follow their step in the order of its calls, and a call without a
//! recorded result gets one with an unknown outcome.

use std::collections::HashMap;

use toolwright_core::{CallId, ErrorKind, Outcome, ToolName, ToolResult};

use crate::journal::entry::{CallMetadata, Entry, EntryBody};
use crate::model::Message;
use crate::model::item::Step;

/// Returns the messages of a journal, for a request to a model.
pub fn history(entries: &[Entry]) -> Vec<Message> {
    let mut messages = Vec::new();
    let mut open = OpenCalls::default();
    for entry in entries {
        match &entry.body {
            EntryBody::User { content } => {
                open.push_results(&mut messages);
                messages.push(Message::User(content.clone()));
            }
            EntryBody::Assistant { content } => {
                open.push_results(&mut messages);
                messages.push(Message::Assistant(content.clone()));
            }
            EntryBody::Step { step, calls, .. } => {
                open.push_results(&mut messages);
                messages.push(Message::Step(step.as_sent()));
                open.calls = step_calls(step, calls);
                open.sent_as = sent_names(step);
            }
            // The model made no child call, and receives no result of one.
            EntryBody::CallFinished { result } if entry.parent.is_none() => {
                // Only the first result of a call counts.
                let first = open.results.entry(result.call_id.clone());
                first.or_insert_with(|| result.clone());
            }
            EntryBody::ChildCall { .. }
            | EntryBody::CallStarted { .. }
            | EntryBody::CallFinished { .. }
            | EntryBody::ApprovalRequested { .. }
            | EntryBody::ApprovalDecided { .. }
            | EntryBody::TurnEnded { .. }
            | EntryBody::Unknown(_) => {}
        }
    }
    open.push_results(&mut messages);
    messages
}

/// The calls of the newest step, and the results that have been read.
#[derive(Default)]
struct OpenCalls {
    calls: Vec<(CallId, ToolName)>,
    results: HashMap<CallId, ToolResult>,
    /// The names under which the model made the calls that are of other tools.
    sent_as: HashMap<CallId, ToolName>,
}

impl OpenCalls {
    fn push_results(&mut self, messages: &mut Vec<Message>) {
        let results: Vec<ToolResult> = self
            .calls
            .drain(..)
            .map(|(call, tool)| {
                let sent_as = self.sent_as.remove(&call);
                let mut result = match self.results.remove(&call) {
                    Some(result) => result,
                    None => unknown_outcome(call, tool),
                };
                result.tool = sent_as.unwrap_or(result.tool);
                result
            })
            .collect();
        self.results.clear();
        if !results.is_empty() {
            messages.push(Message::Results(results));
        }
    }
}

/// Returns the names of the tools that the model called in a step where it called another tool by them.
fn sent_names(step: &Step) -> HashMap<CallId, ToolName> {
    let sent = step.items.iter().filter_map(|item| item.sent_as.as_ref());
    sent.map(|call| (call.id.clone(), call.name.clone())).collect()
}

/// Returns the calls of a step, each once, with the names of their tools.
///
/// The items of the step decide which calls there are: a call without metadata needs a result all the same, and metadata
/// without a call must have none.
pub(crate) fn step_calls(step: &Step, metadata: &[CallMetadata]) -> Vec<(CallId, ToolName)> {
    let mut calls = Vec::<(CallId, ToolName)>::new();
    for item in &step.items {
        let Some((call, name)) = item.kind.call_id_and_name() else {
            continue;
        };
        if !calls.iter().any(|(known, _)| *known == call) {
            let known = metadata.iter().find(|known| known.call == call);
            let name = known.map_or(name, |known| known.tool.clone());
            calls.push((call, name));
        }
    }
    calls
}

/// Returns the result of a call that was started, and whose own result was never recorded.
pub(crate) fn unknown_outcome(call: CallId, tool: ToolName) -> ToolResult {
    let message = "the outcome is unknown: the call was interrupted, and may or may not have done its work; check before calling again";
    failed_result(call, tool, Outcome::OutcomeUnknown, message)
}

/// Returns the result of a call that did not succeed.
pub(crate) fn failed_result(
    call: CallId,
    tool: ToolName,
    outcome: Outcome,
    message: &str,
) -> ToolResult {
    ToolResult::from_outcome(outcome, ErrorKind::Failed, message).for_call(call, tool)
}
