//! The titles that people give their conversations, in the state that all nodes share.

use std::collections::HashMap;
use std::sync::Arc;

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use toolwright_chat::{ConversationSummary, Owner};
use toolwright_core::{SharedState, SharedStateError, subject_key, subject_key_prefix};

/// Titles, by the key of the conversation's owner and the digest of its stored name.
const SPACE: &str = "conversation_title";

/// The maximum length of a title, in characters.
const MAX_TITLE_CHARS: usize = 200;

/// The titles that people give their conversations; without one, a conversation has the beginning of its first message.
#[derive(Clone)]
pub struct ConversationTitles(Arc<dyn SharedState>);

#[derive(Serialize, Deserialize)]
struct TitleRecord {
    conversation: String,
    /// The time of the first entry: a conversation that begins later under the same name has a title of its own.
    began: u64,
    title: String,
}

impl ConversationTitles {
    /// The titles in the shared state of a server, which is by default that of its store.
    pub fn new(state: Arc<dyn SharedState>) -> Self {
        Self(state)
    }

    /// Sets the title of a conversation, by its stored name and the time of its first entry; an empty one removes it.
    ///
    /// # Errors
    ///
    /// When the shared state cannot be written.
    pub async fn set(
        &self,
        conversation: &str,
        began: u64,
        title: &str,
    ) -> Result<(), SharedStateError> {
        let key = title_key(conversation);
        let title = to_title(title);
        if title.is_empty() {
            return self.0.remove(SPACE, &key).await.map(drop);
        }
        let record = TitleRecord { conversation: conversation.to_owned(), began, title };
        let value = serde_json::to_string(&record);
        let value = value.map_err(|error| SharedStateError::new(error.to_string()))?;
        self.0.put(SPACE, &key, &value, None).await
    }

    /// Replaces the titles of conversations of one owner by those that were set.
    ///
    /// # Errors
    ///
    /// When the shared state cannot be read.
    pub async fn apply(
        &self,
        owner: &Owner,
        summaries: &mut [ConversationSummary],
    ) -> Result<(), SharedStateError> {
        self.apply_under(&subject_key_prefix(subject_of(owner)), summaries).await
    }

    /// Replaces the titles of conversations of any owners by those that were set.
    ///
    /// # Errors
    ///
    /// When the shared state cannot be read.
    pub async fn apply_to_all(
        &self,
        summaries: &mut [ConversationSummary],
    ) -> Result<(), SharedStateError> {
        self.apply_under("", summaries).await
    }

    async fn apply_under(
        &self,
        prefix: &str,
        summaries: &mut [ConversationSummary],
    ) -> Result<(), SharedStateError> {
        let listed = self.0.list(SPACE, prefix, usize::MAX).await?;
        let records = listed.iter().filter_map(|(_, value)| serde_json::from_str(value).ok());
        let records = records.map(|it: TitleRecord| ((it.conversation, it.began), it.title));
        let mut titles: HashMap<(String, u64), String> = records.collect();
        for summary in summaries {
            let key = (summary.conversation.clone(), summary.began);
            if let Some(title) = titles.remove(&key) {
                summary.title = title;
            }
        }
        Ok(())
    }

    /// Returns the title of one conversation, if it was set.
    pub(crate) async fn of(
        &self,
        conversation: &str,
        began: u64,
    ) -> Result<Option<String>, SharedStateError> {
        let value = self.0.get(SPACE, &title_key(conversation)).await?;
        let record = value.and_then(|value| serde_json::from_str::<TitleRecord>(&value).ok());
        Ok(record.filter(|record| record.began == began).map(|record| record.title))
    }

    /// Moves the title of a conversation, if it was set, to another stored name.
    ///
    /// # Errors
    ///
    /// When the shared state cannot be read or written.
    pub async fn move_title(
        &self,
        from: &str,
        to: &str,
        began: u64,
    ) -> Result<(), SharedStateError> {
        if let Some(title) = self.of(from, began).await? {
            self.set(to, began, &title).await?;
            self.remove(from).await?;
        }
        Ok(())
    }

    /// Removes the title of a conversation.
    pub(crate) async fn remove(&self, conversation: &str) -> Result<(), SharedStateError> {
        self.0.remove(SPACE, &title_key(conversation)).await.map(drop)
    }
}

fn subject_of(owner: &Owner) -> Option<&str> {
    match owner {
        Owner::Subject(subject) => Some(subject),
        _ => None,
    }
}

fn title_key(conversation: &str) -> String {
    let (owner, _) = Owner::split_stored_name(conversation);
    subject_key(subject_of(&owner), &HEXLOWER.encode(&Sha256::digest(conversation)))
}

/// A text as a title: on one line, without control characters, and not too long.
fn to_title(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let visible = |c: &char| !c.is_control();
    words.join(" ").chars().filter(visible).take(MAX_TITLE_CHARS).collect()
}
