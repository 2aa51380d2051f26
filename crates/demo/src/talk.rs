//! A conversation, turn by turn: each question, and what was said and done about it.

use toolwright_chat::Message;
use toolwright_core::{ToolCall, ToolResult};

use crate::recall::text_of;

/// A call, and what it came to.
pub(crate) type Made<'m> = (&'m ToolCall, Option<&'m ToolResult>);

/// A conversation by its questions.
pub(crate) struct Talk<'m> {
    messages: &'m [Message],
    /// Where the questions stand.
    pub(crate) users: Vec<usize>,
}

impl<'m> Talk<'m> {
    /// Finds the questions.
    pub(crate) fn new(messages: &'m [Message]) -> Self {
        let all = messages.iter().enumerate();
        let users = all.filter(|(_, message)| matches!(message, Message::User(_)));
        Self {
            messages,
            users: users.map(|(place, _)| place).collect(),
        }
    }

    /// Returns the text of a question.
    pub(crate) fn question(&self, turn: usize) -> String {
        let message = self
            .users
            .get(turn)
            .and_then(|place| self.messages.get(*place));
        match message {
            Some(Message::User(contents)) => text_of(contents),
            _ => String::new(),
        }
    }

    /// Everything before a question; behind the last one, everything.
    pub(crate) fn until(&self, turn: usize) -> &'m [Message] {
        let end = self.users.get(turn).copied().unwrap_or(self.messages.len());
        self.messages.get(..end).unwrap_or_default()
    }

    /// What was said and done since a question.
    pub(crate) fn since(&self, turn: usize) -> &'m [Message] {
        let from = self.users.get(turn).map_or(0, |place| place + 1);
        self.until(turn + 1).get(from..).unwrap_or_default()
    }

    /// The calls since a question, and what they came to.
    pub(crate) fn made(&self, turn: usize) -> Vec<Made<'m>> {
        let mut made: Vec<Made<'m>> = Vec::new();
        for message in self.since(turn) {
            match message {
                Message::Step(step) => made.extend(step.calls().map(|call| (call, None))),
                Message::Results(results) => {
                    for result in results {
                        let mut open = made.iter_mut().filter(|(_, known)| known.is_none());
                        if let Some((_, known)) = open.find(|(call, _)| call.id == result.call_id) {
                            *known = Some(result);
                        }
                    }
                }
                _ => {}
            }
        }
        made
    }

    /// Whether the last words since a question ask something back.
    pub(crate) fn asked(&self, turn: usize) -> bool {
        let last = self
            .since(turn)
            .iter()
            .rev()
            .find_map(|message| match message {
                Message::Step(step) => {
                    Some(step.model.vendor == crate::VENDOR && step.text().contains('?'))
                }
                _ => None,
            });
        last.unwrap_or(false)
    }
}
