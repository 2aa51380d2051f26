//! Journal in, as much of it as a model is told out: whole turns, the newest first to stay.
//!
//! A turn is never cut in two, so a call cannot lose its result. If the current turn alone is too much, its parts shrink:
//! what tools returned first, the oldest first.

use serde::{Deserialize, Serialize};
use toolwright_core::{Content, ToolResult};

use crate::journal::entry::{Entry, EntryBody};
use crate::journal::history::history;
use crate::model::Message;

/// How much of a conversation a model is told; what is not set does not limit.
///
/// A user message, a step of the model and each tool result count as one message. The current turn is always told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct HistoryWindow {
    /// The most messages before the current turn.
    pub messages: Option<usize>,
    /// The most turns before the current one.
    pub turns: Option<usize>,
    /// The most tokens in all, estimated.
    pub tokens: Option<usize>,
}

impl Default for HistoryWindow {
    /// Tells 30 messages before the current turn.
    fn default() -> Self {
        Self::all().messages(30)
    }
}

impl HistoryWindow {
    /// Tells everything.
    pub fn all() -> Self {
        Self {
            messages: None,
            turns: None,
            tokens: None,
        }
    }

    /// Tells so many messages before the current turn.
    #[must_use]
    pub fn messages(mut self, most: usize) -> Self {
        self.messages = Some(most);
        self
    }

    /// Tells so many turns before the current one.
    #[must_use]
    pub fn turns(mut self, most: usize) -> Self {
        self.turns = Some(most);
        self
    }

    /// Tells so many tokens.
    #[must_use]
    pub fn tokens(mut self, most: usize) -> Self {
        self.tokens = Some(most);
        self
    }

    /// Writes what the model is told.
    pub fn select_messages(&self, entries: &[Entry]) -> Vec<Message> {
        let (from, current) = self.start_indexes(entries);
        let mut told = history(entries.get(from..).unwrap_or_default());
        let spare = history(entries.get(from..current).unwrap_or_default()).len();
        if let Some(most) = self.tokens
            && let Some(current) = told.get_mut(spare..)
        {
            truncate_messages(current, most);
        }
        told
    }

    /// Estimates how many tokens messages are, as a limit of tokens counts them.
    pub fn estimate_tokens(messages: &[Message]) -> usize {
        messages.iter().map(estimate_message_tokens).sum()
    }

    /// Whether nothing that came before these entries would be told.
    pub(crate) fn is_full(&self, entries: &[Entry]) -> bool {
        let (from, _) = self.start_indexes(entries);
        turn_starts(entries)
            .first()
            .is_some_and(|first| *first < from)
    }

    /// Where to begin, and where the current turn begins.
    fn start_indexes(&self, entries: &[Entry]) -> (usize, usize) {
        let begins: Vec<usize> = turn_starts(entries);
        let Some((&current, earlier)) = begins.split_last() else {
            return (0, 0);
        };
        let turn = |from, to| history(entries.get(from..to).unwrap_or_default());
        let mut tokens = HistoryWindow::estimate_tokens(&turn(current, entries.len()));
        let (mut messages, mut from) = (0, current);
        for (kept, &begin) in earlier.iter().rev().enumerate() {
            let turn = turn(begin, from);
            messages += count_messages(&turn);
            tokens += HistoryWindow::estimate_tokens(&turn);
            let fits = |most: Option<usize>, is: usize| most.is_none_or(|most| is <= most);
            if !fits(self.turns, kept + 1)
                || !fits(self.messages, messages)
                || !fits(self.tokens, tokens)
            {
                break;
            }
            from = begin;
        }
        (from, current)
    }
}

/// Where turns begin: with a person's word, or with the model's own after the turn before has ended.
fn turn_starts(entries: &[Entry]) -> Vec<usize> {
    let mut over = true;
    let mut begins = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        match entry.body {
            EntryBody::User { .. } | EntryBody::Assistant { .. } if over => {
                begins.push(at);
                over = false;
            }
            // What is said in one breath is one turn: nobody has answered yet.
            EntryBody::User { .. } if has_step_since(entries, begins.last().copied(), at) => {
                begins.push(at);
            }
            EntryBody::TurnEnded { .. } => over = true,
            _ => {}
        }
    }
    begins
}

fn has_step_since(entries: &[Entry], begin: Option<usize>, at: usize) -> bool {
    let since = entries
        .get(begin.unwrap_or_default()..at)
        .unwrap_or_default();
    since
        .iter()
        .any(|entry| matches!(entry.body, EntryBody::Step { .. }))
}

fn count_messages(messages: &[Message]) -> usize {
    let count = messages.iter().map(|message| match message {
        Message::Results(results) => results.len(),
        _ => 1,
    });
    count.sum()
}

/// A few bytes make a token; each message costs a few besides.
fn estimate_message_tokens(message: &Message) -> usize {
    let bytes = match message {
        Message::User(content) | Message::Assistant(content) => content_bytes(content),
        Message::Step(step) => {
            let items = step.items.iter().map(|item| match &item.raw {
                Some(raw) => raw.json.get().len(),
                None => serde_json::to_string(item).map_or(0, |text| text.len()),
            });
            items.sum()
        }
        Message::Results(results) => results
            .iter()
            .map(|result| content_bytes(&result.content))
            .sum(),
    };
    bytes.div_ceil(4) + 4
}

fn content_bytes(content: &[Content]) -> usize {
    content.iter().map(Content::len).sum()
}

/// Shrinks a turn that is too much: the results of tools from the oldest on, then what was said.
fn truncate_messages(messages: &mut [Message], most: usize) {
    let mut total = HistoryWindow::estimate_tokens(messages);
    for results in [true, false] {
        for at in 0..messages.len() {
            if total <= most {
                return;
            }
            let Some(message) = messages.get_mut(at) else {
                return;
            };
            let before = estimate_message_tokens(message);
            match message {
                Message::Results(all) if results => all.iter_mut().for_each(omit_result_content),
                Message::User(content) | Message::Assistant(content) if !results => {
                    truncate_content(content, (total - most).saturating_mul(4));
                }
                _ => continue,
            }
            total = total + estimate_message_tokens(message) - before;
        }
    }
}

/// Leaves of a result only that there was one.
fn omit_result_content(result: &mut ToolResult) {
    let bytes = content_bytes(&result.content);
    let note = format!("[left out: {bytes} bytes that the tool returned]");
    if note.len() < bytes {
        result.content = vec![Content::text(note)];
        result.structured = None;
    }
}

/// Takes so many bytes out of a text, from its middle; pictures and the like go first.
fn truncate_content(content: &mut [Content], too_many: usize) {
    let mut left = too_many;
    for item in content.iter_mut().rev() {
        let size = item.len();
        match item {
            Content::Text { text } => {
                let note = format!(" [left out: {left} bytes] ");
                let keep = size.saturating_sub(left.saturating_add(note.len()));
                let head = text.floor_char_boundary(keep.div_ceil(2));
                let tail = text.ceil_char_boundary(size - keep / 2);
                let (before, after) = (text.get(..head), text.get(tail..));
                let short = format!(
                    "{}{note}{}",
                    before.unwrap_or_default(),
                    after.unwrap_or_default()
                );
                if short.len() < size {
                    left = left.saturating_sub(size - short.len());
                    *text = short;
                }
            }
            other => {
                left = left.saturating_sub(size);
                *other = Content::text(format!("[left out: {size} bytes]"));
            }
        }
        if left == 0 {
            return;
        }
    }
}
