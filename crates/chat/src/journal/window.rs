//! The window of history that is sent to the model: whole turns, from the newest back.
//!
//! A turn is never split, so a call cannot lose its result. If the current turn alone has too many tokens, its contents are
//! truncated: tool results first, the oldest first.

use serde::{Deserialize, Serialize};
use toolwright_core::wire::BYTES_PER_TOKEN;
use toolwright_core::{Content, ToolResult};

use crate::journal::entry::{Entry, EntryBody, is_turn_over};
use crate::journal::history::history;
use crate::journal::path::PathReader;
use crate::journal::store::{Store, StoreError, TailEnd};
use crate::model::Message;

/// How many entries are read at first: more than the default window has.
const PAGE_SIZE: usize = 128;

/// Limits the history that is sent to the model; a field that is `None` does not limit.
///
/// A user message, a step of the model and each tool result count as one message. The current turn is always sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct HistoryWindow {
    /// The maximum number of messages before the current turn.
    pub messages: Option<usize>,
    /// The maximum number of turns before the current one.
    pub turns: Option<usize>,
    /// The maximum number of tokens in all, estimated.
    pub tokens: Option<usize>,
}

impl Default for HistoryWindow {
    /// 30 messages before the current turn.
    fn default() -> Self {
        Self::all().messages(30)
    }
}

impl HistoryWindow {
    /// Sends the whole conversation.
    pub fn all() -> Self {
        Self { messages: None, turns: None, tokens: None }
    }

    /// Sets the maximum number of messages before the current turn.
    #[must_use]
    pub fn messages(mut self, limit: usize) -> Self {
        self.messages = Some(limit);
        self
    }

    /// Sets the maximum number of turns before the current one.
    #[must_use]
    pub fn turns(mut self, limit: usize) -> Self {
        self.turns = Some(limit);
        self
    }

    /// Sets the maximum number of tokens.
    #[must_use]
    pub fn tokens(mut self, limit: usize) -> Self {
        self.tokens = Some(limit);
        self
    }

    /// Reads the last entries of a conversation, at least those of the window.
    ///
    /// The cost depends on the size of the window, not on the length of the conversation.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub async fn load_entries(
        &self,
        store: &dyn Store,
        conversation: &str,
    ) -> Result<Vec<Entry>, StoreError> {
        self.load_path(store, conversation, None).await
    }

    /// Reads the last entries up to the newest one, or the one of the id `end`, at least those of the window.
    ///
    /// # Errors
    ///
    /// When the store cannot be read.
    pub async fn load_path(
        &self,
        store: &dyn Store,
        conversation: &str,
        end: Option<&str>,
    ) -> Result<Vec<Entry>, StoreError> {
        let mut reader = PathReader::new(store, conversation, end);
        let mut entries = reader.read_page(PAGE_SIZE).await?;
        while reader.has_more() && !self.is_full(&entries) {
            let mut before = reader.read_page(entries.len().max(PAGE_SIZE)).await?;
            before.append(&mut entries);
            entries = before;
        }
        Ok(entries)
    }

    /// Returns the messages of the window.
    pub fn select_messages(&self, entries: &[Entry]) -> Vec<Message> {
        let (from, current) = self.start_indexes(entries);
        let mut messages = history(entries.get(from..).unwrap_or_default());
        if let Some(limit) = self.tokens {
            let earlier = history(entries.get(from..current).unwrap_or_default()).len();
            truncate_messages(messages.get_mut(earlier..).unwrap_or_default(), limit);
        }
        messages
    }

    /// Estimates the tokens of messages, as [`tokens`](Self::tokens) counts them.
    pub fn estimate_tokens(messages: &[Message]) -> usize {
        messages.iter().map(estimate_message_tokens).sum()
    }

    /// Returns true if the window ends within these entries, so that none before them is needed.
    fn is_full(&self, entries: &[Entry]) -> bool {
        let (from, _) = self.start_indexes(entries);
        turn_starts(entries).first().is_some_and(|first| *first < from)
    }

    /// Returns the index of the first entry in the window, and that of the current turn.
    fn start_indexes(&self, entries: &[Entry]) -> (usize, usize) {
        let starts = turn_starts(entries);
        let Some((&current, earlier)) = starts.split_last() else {
            return (0, 0);
        };
        let turn = |from, to| history(entries.get(from..to).unwrap_or_default());
        let mut tokens = HistoryWindow::estimate_tokens(&turn(current, entries.len()));
        let (mut messages, mut from) = (0, current);
        for (turns, &start) in earlier.iter().rev().enumerate() {
            let turn = turn(start, from);
            messages += count_messages(&turn);
            tokens += HistoryWindow::estimate_tokens(&turn);
            let fits =
                |limit: Option<usize>, count: usize| limit.is_none_or(|limit| count <= limit);
            if !fits(self.turns, turns + 1)
                || !fits(self.messages, messages)
                || !fits(self.tokens, tokens)
            {
                break;
            }
            from = start;
        }
        (from, current)
    }
}

/// Loads the last turn of a conversation, from its message on; `None` if it has ended, or there is none.
///
/// # Errors
///
/// When the store cannot be read.
pub async fn load_unfinished_turn(
    store: &dyn Store,
    conversation: &str,
) -> Result<Option<Vec<Entry>>, StoreError> {
    let mut max = 1;
    loop {
        let entries = store.tail(conversation, TailEnd::Newest, max).await?;
        if entries.is_empty() || is_turn_over(&entries) {
            return Ok(None);
        }
        if entries.len() < max || entries.iter().any(Entry::is_message) {
            return Ok(Some(entries));
        }
        max *= 8;
    }
}

/// Returns the indexes at which turns start: a user message, or an assistant message after the end of the previous turn.
fn turn_starts(entries: &[Entry]) -> Vec<usize> {
    let mut over = true;
    let mut starts = Vec::new();
    for (at, entry) in entries.iter().enumerate() {
        match entry.body {
            EntryBody::User { .. } | EntryBody::Assistant { .. } if over => {
                starts.push(at);
                over = false;
            }
            // Consecutive user messages form one turn.
            EntryBody::User { .. } if has_step_since(entries, starts.last().copied(), at) => {
                starts.push(at);
            }
            EntryBody::TurnEnded { .. } => over = true,
            _ => {}
        }
    }
    starts
}

fn has_step_since(entries: &[Entry], start: Option<usize>, at: usize) -> bool {
    let since = entries.get(start.unwrap_or_default()..at).unwrap_or_default();
    since.iter().any(|entry| matches!(entry.body, EntryBody::Step { .. }))
}

fn count_messages(messages: &[Message]) -> usize {
    let count = messages.iter().map(|message| match message {
        Message::Results(results) => results.len(),
        _ => 1,
    });
    count.sum()
}

/// Estimates four bytes per token, and four tokens of overhead per message.
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
        Message::Results(results) => {
            results.iter().map(|result| content_bytes(&result.content)).sum()
        }
    };
    estimate_text_tokens(bytes) + 4
}

/// Estimates the tokens of a text of so many bytes.
pub(crate) fn estimate_text_tokens(bytes: usize) -> usize {
    bytes.div_ceil(BYTES_PER_TOKEN)
}

/// An image or a recording counts as at most so many bytes, which are 1,500 tokens: vendors do not count those of its base64.
const MAX_MEDIA_BYTES: usize = 6_000;

fn content_bytes(content: &[Content]) -> usize {
    content.iter().map(counted_bytes).sum()
}

/// Counts the bytes of an item for an estimate.
fn counted_bytes(item: &Content) -> usize {
    let is_media = match item {
        Content::Image { .. } | Content::Audio { .. } => true,
        Content::Resource { resource } => resource.text.is_none(),
        _ => false,
    };
    if is_media { item.len().min(MAX_MEDIA_BYTES) } else { item.len() }
}

/// Truncates a turn until it fits: tool results from the oldest on, then user and assistant messages.
fn truncate_messages(messages: &mut [Message], limit: usize) {
    let mut total = HistoryWindow::estimate_tokens(messages);
    for results in [true, false] {
        for at in 0..messages.len() {
            if total <= limit {
                return;
            }
            let Some(message) = messages.get_mut(at) else {
                return;
            };
            let before = estimate_message_tokens(message);
            match message {
                Message::Results(all) if results => all.iter_mut().for_each(omit_result_content),
                Message::User(content) | Message::Assistant(content) if !results => {
                    truncate_content(content, (total - limit).saturating_mul(4));
                }
                _ => continue,
            }
            total = total + estimate_message_tokens(message) - before;
        }
    }
}

/// Replaces the content of a result with a note, unless the note is longer.
fn omit_result_content(result: &mut ToolResult) {
    let bytes: usize = result.content.iter().map(Content::len).sum();
    let note = format!("[left out: {bytes} bytes that the tool returned]");
    if note.len() < bytes {
        result.content = vec![Content::text(note)];
        result.structured = None;
    }
}

/// Removes `excess` bytes, from the last item on: from the middle of a text, and all of an image or another kind of content.
fn truncate_content(content: &mut [Content], mut excess: usize) {
    for item in content.iter_mut().rev() {
        let size = item.len();
        match item {
            Content::Text { text } => {
                let note = format!(" [left out: {excess} bytes] ");
                let keep = size.saturating_sub(excess.saturating_add(note.len()));
                let head = text.floor_char_boundary(keep.div_ceil(2));
                let tail = text.ceil_char_boundary(size - keep / 2);
                let (before, after) = (text.get(..head), text.get(tail..));
                let short =
                    format!("{}{note}{}", before.unwrap_or_default(), after.unwrap_or_default());
                if short.len() < size {
                    excess = excess.saturating_sub(size - short.len());
                    *text = short;
                }
            }
            other => {
                excess = excess.saturating_sub(counted_bytes(other));
                *other = Content::text(format!("[left out: {size} bytes]"));
            }
        }
        if excess == 0 {
            return;
        }
    }
}
