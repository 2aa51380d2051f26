//! The turns of a conversation: each question, and what happened about it.

use toolwright_chat::{Message, Step};
use toolwright_core::{Content, ToolCall, ToolResult};

use crate::text::{MAX_BYTES, head};

/// A conversation by its user messages.
pub(crate) struct History<'m> {
    messages: &'m [Message],
    /// The positions of the user messages.
    questions: Vec<usize>,
}

impl<'m> History<'m> {
    pub(crate) fn new(messages: &'m [Message]) -> Self {
        let is_question = |at: &usize| matches!(messages.get(*at), Some(Message::User(_)));
        Self { messages, questions: (0..messages.len()).filter(is_question).collect() }
    }

    /// Returns the number of the last turn.
    pub(crate) fn last_turn(&self) -> Option<usize> {
        self.questions.len().checked_sub(1)
    }

    /// Returns the first [`MAX_BYTES`] of a turn's question.
    pub(crate) fn question(&self, turn: usize) -> String {
        let question = self.questions.get(turn);
        let message = question.and_then(|at| self.messages.get(*at));
        let Some(Message::User(contents)) = message else {
            return String::new();
        };
        let texts = contents.iter().filter_map(|content| match content {
            Content::Text { text } => Some(head(text, MAX_BYTES)),
            _ => None,
        });
        let mut question = texts.collect::<Vec<_>>().join("\n");
        question.truncate(question.floor_char_boundary(MAX_BYTES));
        question
    }

    /// Returns the messages before a turn; all of them for a turn behind the last.
    pub(crate) fn before(&self, turn: usize) -> &'m [Message] {
        let end = self.questions.get(turn).copied();
        let end = end.unwrap_or(self.messages.len());
        self.messages.get(..end).unwrap_or_default()
    }

    /// Returns the messages of a turn behind its question.
    pub(crate) fn after_question(&self, turn: usize) -> &'m [Message] {
        let start = self.questions.get(turn).map_or(0, |at| at + 1);
        self.before(turn + 1).get(start..).unwrap_or_default()
    }

    fn steps(&self, turn: usize) -> impl DoubleEndedIterator<Item = &'m Step> {
        let messages = self.after_question(turn).iter();
        messages.filter_map(|message| match message {
            Message::Step(step) => Some(&**step),
            _ => None,
        })
    }

    /// Returns the calls of a turn with their results.
    pub(crate) fn calls(&self, turn: usize) -> Vec<(&'m ToolCall, Option<&'m ToolResult>)> {
        let results = self.after_question(turn).iter().filter_map(|message| match message {
            Message::Results(results) => Some(results),
            _ => None,
        });
        let result = |call: &ToolCall| results.clone().flatten().find(|it| it.call_id == call.id);
        let calls = self.steps(turn).flat_map(|step| step.calls());
        calls.map(|call| (call, result(call))).collect()
    }

    /// Returns true if the demo model ended a turn with a question.
    pub(crate) fn ends_with_question(&self, turn: usize) -> bool {
        let last = self.steps(turn).next_back();
        last.is_some_and(|step| step.model.vendor == crate::VENDOR && step.text().contains('?'))
    }
}
