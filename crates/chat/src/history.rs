//! Journal in, what a model is told of it out.
//!
//! A call and its result stay together by construction: results follow their step in the order of its calls, and a call whose
//! end nobody saw says so.

use std::collections::HashMap;

use toolwright_core::{CallId, ErrorKind, Outcome, ToolName, ToolResult};

use crate::entry::{CallFacts, Entry, What};
use crate::model::Message;

/// Writes what has been said, for a model to read.
pub fn history(entries: &[Entry]) -> Vec<Message> {
    let mut messages = Vec::new();
    let mut open = Open::default();
    for entry in entries {
        match &entry.what {
            What::User { content } => {
                open.close(&mut messages);
                messages.push(Message::User(content.clone()));
            }
            What::Assistant { content } => {
                open.close(&mut messages);
                messages.push(Message::Assistant(content.clone()));
            }
            What::Step { step, calls, .. } => {
                open.close(&mut messages);
                messages.push(Message::Step(step.clone()));
                open.calls.clone_from(calls);
            }
            What::Finished { result } => {
                open.results.insert(result.call.clone(), result.clone());
            }
            What::Started { .. }
            | What::Asked { .. }
            | What::Decided { .. }
            | What::Ended { .. } => {}
        }
    }
    open.close(&mut messages);
    messages
}

/// The calls of the newest step, and what came of them.
#[derive(Default)]
struct Open {
    calls: Vec<CallFacts>,
    results: HashMap<CallId, ToolResult>,
}

impl Open {
    fn close(&mut self, messages: &mut Vec<Message>) {
        let results: Vec<ToolResult> = self
            .calls
            .drain(..)
            .map(|facts| match self.results.remove(&facts.call) {
                Some(result) => result,
                None => unknown(facts.call, facts.tool),
            })
            .collect();
        self.results.clear();
        if !results.is_empty() {
            messages.push(Message::Results(results));
        }
    }
}

/// The result of a call whose end nobody saw.
pub(crate) fn unknown(call: CallId, tool: ToolName) -> ToolResult {
    let message = "the outcome is unknown: the call was interrupted, and may or may not have done its work; check before calling again";
    let mut result = ToolResult::refused(Outcome::OutcomeUnknown, ErrorKind::Failed, message);
    (result.call, result.tool) = (call, tool);
    result
}
