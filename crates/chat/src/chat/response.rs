//! What came of a prompt.

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
use crate::model::usage::Usage;

/// What came of a prompt: an answer, or what the turn waits for.
#[derive(Clone)]
pub struct Response {
    /// The prompt without what it said, to go on with.
    pub(crate) request: TurnRequest,
    pub(crate) journal: Arc<Journal>,
    /// The entries of the turn.
    pub(crate) entries: Vec<Entry>,
    pub(crate) state: ResponseState,
    pub(crate) usage: Usage,
    pub(crate) cost: Option<f64>,
}

/// How a turn stands.
#[derive(Clone, Debug)]
pub(crate) enum ResponseState {
    Ended(TurnEnd),
    /// Somebody decides about these calls.
    AwaitingApproval(Vec<PendingApproval>),
    /// The caller brings the results of these calls.
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

    /// Returns the answer.
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
        if let Some(said) = self.partial_content() {
            return said.to_vec();
        }
        let Some(step) = self.steps().last() else {
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

    /// What there is of an answer that broke off: said after the question, or after the last step.
    fn partial_content(&self) -> Option<&[Content]> {
        let told = self.entries.iter().map(|entry| &entry.body);
        let mut told = told.rev().filter(|what| {
            matches!(
                what,
                EntryBody::User { .. } | EntryBody::Assistant { .. } | EntryBody::Step { .. }
            )
        });
        match (told.next(), told.next()) {
            (Some(EntryBody::Assistant { content }), Some(_)) => Some(content),
            _ => None,
        }
    }

    /// Returns why the turn ended; nothing while it waits.
    pub fn end(&self) -> Option<&TurnEnd> {
        match &self.state {
            ResponseState::Ended(end) => Some(end),
            _ => None,
        }
    }

    /// Returns the calls that wait for a decision.
    pub fn pending_approvals(&self) -> &[PendingApproval] {
        match &self.state {
            ResponseState::AwaitingApproval(asked) => asked,
            _ => &[],
        }
    }

    /// Tells whether the caller is to run calls, because automatic execution is off.
    pub fn has_calls(&self) -> bool {
        !self.calls().is_empty()
    }

    /// Returns the calls that the caller is to run.
    pub fn calls(&self) -> &[ToolCall] {
        match &self.state {
            ResponseState::AwaitingResults(calls) => calls,
            _ => &[],
        }
    }

    /// Goes on with the results of the calls; a call without one counts as not run.
    pub fn submit_results(self, results: Vec<ToolResult>) -> TurnRequest {
        self.into_request().call_results(results)
    }

    /// Goes on with decisions about the calls that wait.
    pub fn submit_approvals(self, decided: Vec<ApprovalResponse>) -> TurnRequest {
        self.into_request().approval_responses(decided)
    }

    pub(crate) fn into_request(self) -> TurnRequest {
        TurnRequest {
            journal: Some(self.journal),
            ..self.request
        }
    }

    /// Returns the steps of the model in this turn, in order.
    pub fn steps(&self) -> impl DoubleEndedIterator<Item = &Step> {
        self.entries.iter().filter_map(|entry| match &entry.body {
            EntryBody::Step { step, .. } => Some(&**step),
            _ => None,
        })
    }

    /// Returns the results of the turn's calls, in the order they came.
    pub fn results(&self) -> Vec<ToolResult> {
        let results = self.entries.iter().filter_map(|entry| match &entry.body {
            EntryBody::CallFinished { result } => Some(result.clone()),
            _ => None,
        });
        results.collect()
    }

    /// Returns what was told to the journal in this turn.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns the conversation it belongs to.
    pub fn conversation(&self) -> &str {
        &self.journal.conversation
    }

    /// Returns what the whole turn took.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// Returns what the whole turn cost, if every price is known.
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
