//! [`Response`]: the outcome of a request for a turn.

use std::fmt;
use std::sync::Arc;

use toolwright_core::{Content, ToolCall, ToolResult};

use crate::chat::event::{ApprovalResponse, PendingApproval};
use crate::chat::turn_request::TurnRequest;
use crate::journal::Journal;
use crate::journal::entry::{Entry, EntryBody, TurnEnd};
use crate::journal::history::history;
use crate::model::Message;
use crate::model::item::{ItemKind, Step};
use crate::model::usage::{StopReason, Usage};

/// The outcome of a [`TurnRequest`]: an answer, or what the turn waits for.
#[derive(Clone)]
pub struct Response {
    /// The request without its inputs, for a turn that follows.
    pub(crate) request: Box<TurnRequest>,
    pub(crate) journal: Arc<Journal>,
    /// The entries of the turn.
    pub(crate) entries: Vec<Entry>,
    pub(crate) state: ResponseState,
    pub(crate) usage: Usage,
    pub(crate) cost: Option<f64>,
}

/// The state of a turn when its request returned.
#[derive(Clone, Debug)]
pub(crate) enum ResponseState {
    Ended(TurnEnd),
    /// These calls need approval.
    AwaitingApproval(Vec<PendingApproval>),
    /// The caller runs these calls and submits their results.
    AwaitingResults(Vec<ToolCall>),
}

impl Response {
    /// Returns the text of the answer: the model's, or that of the tools whose results are the answer.
    pub fn text(&self) -> String {
        let texts = self.content().into_iter().filter_map(|item| match item {
            Content::Text { text } => Some(text),
            _ => None,
        });
        let texts: Vec<String> = texts.collect();
        texts.join("\n")
    }

    /// Returns the content of the answer.
    pub fn content(&self) -> Vec<Content> {
        if let ResponseState::Ended(TurnEnd::Direct) = self.state {
            return match history(&self.entries).pop() {
                Some(Message::Results(results)) => {
                    let content = results.into_iter().map(|result| result.content);
                    content.flatten().collect()
                }
                _ => Vec::new(),
            };
        }
        let is_empty = |step: &Step| step.stop == StopReason::Interrupted && step.items.is_empty();
        let Some(step) = self.steps().rfind(|step| !is_empty(step)) else {
            return Vec::new();
        };
        let mut text = step.text();
        if text.is_empty() {
            let refusals = step.items.iter().filter_map(|item| match &item.kind {
                ItemKind::Refusal { text } => Some(text.as_str()),
                _ => None,
            });
            text = refusals.collect();
        }
        match text.is_empty() {
            true => Vec::new(),
            false => vec![Content::text(text)],
        }
    }

    /// Returns why the turn ended; `None` while it waits.
    pub fn end(&self) -> Option<&TurnEnd> {
        match &self.state {
            ResponseState::Ended(end) => Some(end),
            _ => None,
        }
    }

    /// Returns the calls that wait for approval.
    pub fn pending_approvals(&self) -> &[PendingApproval] {
        match &self.state {
            ResponseState::AwaitingApproval(approvals) => approvals,
            _ => &[],
        }
    }

    /// Returns true if the caller is to run calls: see [`TurnRequest::manual_calls`].
    pub fn has_calls(&self) -> bool {
        !self.calls().is_empty()
    }

    /// Returns the calls that the caller is to run; empty unless [`TurnRequest::manual_calls`] was set.
    pub fn calls(&self) -> &[ToolCall] {
        match &self.state {
            ResponseState::AwaitingResults(calls) => calls,
            _ => &[],
        }
    }

    /// Resumes the turn with the results of the calls; a call without one counts as not run.
    pub fn submit_results(self, results: Vec<ToolResult>) -> TurnRequest {
        self.into_request().call_results(results)
    }

    /// Resumes the turn with responses about the calls that wait for approval.
    pub fn submit_approvals(self, responses: Vec<ApprovalResponse>) -> TurnRequest {
        self.into_request().approval_responses(responses)
    }

    pub(crate) fn into_request(self) -> TurnRequest {
        TurnRequest { journal: Some(self.journal), ..*self.request }
    }

    /// Returns the steps of the model in this turn, in order.
    pub fn steps(&self) -> impl DoubleEndedIterator<Item = &Step> {
        self.entries.iter().filter_map(|entry| match &entry.body {
            EntryBody::Step { step, .. } => Some(&**step),
            _ => None,
        })
    }

    /// Returns the results of the model's calls, in the order they came.
    pub fn results(&self) -> Vec<ToolResult> {
        let results = self.entries.iter().filter_map(|entry| match &entry.body {
            EntryBody::CallFinished { result } if entry.parent.is_none() => Some(result.clone()),
            _ => None,
        });
        results.collect()
    }

    /// Returns the journal entries of this turn.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns the name of the conversation; random if the request had none.
    pub fn conversation(&self) -> &str {
        &self.journal.conversation
    }

    /// Returns the tokens of the whole turn.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// Returns the cost of the whole turn; `None` if a price is not known.
    pub fn cost(&self) -> Option<f64> {
        self.cost
    }
}

impl fmt::Debug for Response {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Response")
            .field("text", &self.text())
            .field("state", &self.state)
            .finish_non_exhaustive()
    }
}
