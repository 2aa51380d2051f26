//! Links by which owners share their conversations, and who has accepted them, in the state that all nodes share.
//!
//! What belongs to a person is stored under the key of that person, so that `store erase` removes it: the share under its
//! owner's, the acceptance under that of the principal that has accepted. Both have to exist. The acceptance may outlive the share.

use std::sync::Arc;
use std::time::Duration;

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use toolwright_chat::{Owner, random_hex};
use toolwright_conversation::ConversationError;
use toolwright_core::__internal::unix_millis_now;
use toolwright_core::{SharedState, SharedStateError, subject_key, subject_key_prefix};

/// Shares, by the key of the owner and their id.
const SHARES: &str = "share";

/// The key of a share, by the digest of the token in its link.
const LINKS: &str = "share_link";

/// Acceptances, by the key of the principal that has accepted and the id of the share.
const ACCEPTANCES: &str = "share_acceptance";

/// The keys of the principals that have accepted, by the key of the share and theirs.
const PARTICIPANTS: &str = "share_participant";

/// The maximum number of shares of one owner.
const MAX_SHARES: usize = 1000;

/// The maximum number of principals that may accept one link.
const MAX_PARTICIPANTS: usize = 1000;

/// The maximum number of conversations that a principal sees in its list because they are shared with it.
const MAX_ACCEPTED: usize = 200;

/// What those who accept a link may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ShareAccess {
    Read,
    Participate,
}

impl ShareAccess {
    /// As clients read it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Participate => "participate",
        }
    }
}

/// A conversation that its owner shares by a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Share {
    pub(crate) id: String,
    /// The stored name of the conversation.
    pub(crate) conversation: String,
    /// The id of one of its entries: a conversation that begins later under the same name does not have it.
    pub(crate) entry: String,
    pub(crate) access: ShareAccess,
    /// In milliseconds since 1970.
    pub(crate) created: u64,
    /// When it ends, to be shown, in milliseconds since 1970; never, if `None`.
    pub(crate) expires: Option<u64>,
    /// The name of the owner that others see.
    pub(crate) owner_name: Option<String>,
    /// The digest of the token in the link: the token itself is not stored.
    link: String,
}

impl Share {
    /// How long it is valid from its creation on. The store counts the time: the clocks of nodes differ.
    fn lifetime(&self) -> Option<Duration> {
        Some(Duration::from_millis(self.expires?.saturating_sub(self.created).max(1)))
    }

    fn key(&self) -> String {
        share_key(&Owner::split_stored_name(&self.conversation).0, &self.id)
    }
}

/// A principal that has accepted a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Acceptance {
    /// The key of the share.
    share: String,
    /// `None` for the operator.
    subject: Option<String>,
    /// The name that others see.
    name: Option<String>,
    /// In milliseconds since 1970.
    pub(crate) at: u64,
}

impl Acceptance {
    /// The name that others see: the display name, else the subject.
    pub(crate) fn visible_name(&self) -> Option<&str> {
        self.name.as_deref().or(self.subject.as_deref())
    }
}

/// The shares of all owners.
#[derive(Clone)]
pub(crate) struct Shares(Arc<dyn SharedState>);

fn subject_of(owner: &Owner) -> Option<&str> {
    match owner {
        Owner::Subject(subject) => Some(subject),
        _ => None,
    }
}

fn share_key(owner: &Owner, id: &str) -> String {
    subject_key(subject_of(owner), id)
}

/// The key of one principal among those that have accepted a share.
fn participant_key(share_key: &str, subject: Option<&str>) -> String {
    format!("{share_key}/{}", subject_key_prefix(subject))
}

fn token_digest(token: &str) -> String {
    HEXLOWER.encode(&Sha256::digest(token))
}

fn parse<T: for<'a> Deserialize<'a>>(value: &str) -> Option<T> {
    serde_json::from_str(value).ok()
}

fn encode<T: Serialize>(value: &T) -> Result<String, ConversationError> {
    serde_json::to_string(value).map_err(ConversationError::unencodable)
}

/// Ends the shares of a conversation that was deleted, by its stored name.
///
/// A [`Server`](crate::Server) does this by itself; for programs that delete conversations of its store.
///
/// # Errors
///
/// When the shared state cannot be read or written. The links lead nowhere then, either, and are listed until they expire.
pub async fn end_shares(
    state: &Arc<dyn SharedState>,
    conversation: &str,
) -> Result<(), SharedStateError> {
    Shares::new(state).revoke_all(conversation).await
}

impl Shares {
    pub(crate) fn new(state: &Arc<dyn SharedState>) -> Self {
        Self(Arc::clone(state))
    }

    /// Shares a conversation; returns the share and the token of its link, which is not stored.
    pub(crate) async fn create(
        &self,
        conversation: &str,
        entry: &str,
        access: ShareAccess,
        lifetime: Option<Duration>,
        owner_name: Option<&str>,
    ) -> Result<(Share, String), ConversationError> {
        let (owner, _) = Owner::split_stored_name(conversation);
        let prefix = subject_key_prefix(subject_of(&owner));
        if self.0.list(SHARES, &prefix, MAX_SHARES).await?.len() >= MAX_SHARES {
            let message = "too many links are shared already: end some of them";
            return Err(ConversationError::Full { message });
        }
        let token = random_hex(16)?;
        let created = unix_millis_now();
        let expires = lifetime.map(|lifetime| {
            created.saturating_add(u64::try_from(lifetime.as_millis()).unwrap_or(u64::MAX))
        });
        let share = Share {
            id: random_hex(8)?,
            conversation: conversation.to_owned(),
            entry: entry.to_owned(),
            access,
            created,
            expires,
            owner_name: owner_name.map(str::to_owned),
            link: token_digest(&token),
        };
        let key = share.key();
        self.0.put(SHARES, &key, &encode(&share)?, share.lifetime()).await?;
        self.0.put(LINKS, &share.link, &key, share.lifetime()).await?;
        Ok((share, token))
    }

    /// The shares of a conversation, the oldest first.
    pub(crate) async fn of_conversation(
        &self,
        conversation: &str,
    ) -> Result<Vec<Share>, SharedStateError> {
        let (owner, _) = Owner::split_stored_name(conversation);
        let mut shares = self.of_owner(&owner).await?;
        shares.retain(|share| share.conversation == conversation);
        Ok(shares)
    }

    /// The shares of an owner, the oldest first.
    pub(crate) async fn of_owner(&self, owner: &Owner) -> Result<Vec<Share>, SharedStateError> {
        let prefix = subject_key_prefix(subject_of(owner));
        let listed = self.0.list(SHARES, &prefix, MAX_SHARES).await?;
        let shares = listed.into_iter().filter_map(|(_, value)| parse(&value));
        let mut shares: Vec<Share> = shares.collect();
        shares.sort_by_key(|share| share.created);
        Ok(shares)
    }

    /// Ends a share of a conversation; returns false if there is none.
    pub(crate) async fn revoke(
        &self,
        conversation: &str,
        id: &str,
    ) -> Result<bool, SharedStateError> {
        let (owner, _) = Owner::split_stored_name(conversation);
        let key = share_key(&owner, id);
        let share: Option<Share> = self.0.get(SHARES, &key).await?.as_deref().and_then(parse);
        let Some(share) = share.filter(|share| share.conversation == conversation) else {
            return Ok(false);
        };
        let ended = self.0.remove(SHARES, &key).await?.is_some();
        // Without the share, what is left grants nothing.
        self.0.remove(LINKS, &share.link).await?;
        self.0.remove_prefix(&format!("{key}/")).await?;
        Ok(ended)
    }

    /// Ends all shares of a conversation: it was deleted.
    pub(crate) async fn revoke_all(&self, conversation: &str) -> Result<(), SharedStateError> {
        for share in self.of_conversation(conversation).await? {
            self.revoke(conversation, &share.id).await?;
        }
        Ok(())
    }

    /// Accepts a link in the name of a principal; `None` if the link is not valid, or no longer.
    pub(crate) async fn accept(
        &self,
        subject: Option<&str>,
        name: Option<&str>,
        token: &str,
    ) -> Result<Option<Share>, ConversationError> {
        let Some(key) = self.0.get(LINKS, &token_digest(token)).await? else {
            return Ok(None);
        };
        let Some(share) = self.share_at(&key).await? else {
            // The data of its owner was erased.
            self.0.remove(LINKS, &token_digest(token)).await?;
            return Ok(None);
        };
        let (owner, _) = Owner::split_stored_name(&share.conversation);
        if subject_of(&owner) == subject {
            return Ok(Some(share));
        }
        let participant = participant_key(&key, subject);
        let is_known = self.0.get(PARTICIPANTS, &participant).await?.is_some();
        if !is_known && self.participant_keys(&key).await?.len() >= MAX_PARTICIPANTS {
            let message = "too many people have accepted this link: ask its owner for another one";
            return Err(ConversationError::Conflict { message });
        }
        let acceptance = Acceptance {
            share: key,
            subject: subject.map(str::to_owned),
            name: name.map(str::to_owned),
            at: unix_millis_now(),
        };
        let own_key = subject_key(subject, &share.id);
        self.0.put(ACCEPTANCES, &own_key, &encode(&acceptance)?, share.lifetime()).await?;
        self.0.put(PARTICIPANTS, &participant, &own_key, share.lifetime()).await?;
        Ok(Some(share))
    }

    /// Returns a share that a principal has accepted; `None` if it has not, or the share has ended.
    pub(crate) async fn accepted(
        &self,
        subject: Option<&str>,
        id: &str,
    ) -> Result<Option<Share>, SharedStateError> {
        // Longer keys are errors, which differ from the response to an unknown id.
        if id.len() > 64 {
            return Ok(None);
        }
        let own_key = subject_key(subject, id);
        let acceptance = self.0.get(ACCEPTANCES, &own_key).await?;
        match acceptance.as_deref().and_then(parse::<Acceptance>) {
            Some(acceptance) => self.share_at(&acceptance.share).await,
            None => Ok(None),
        }
    }

    /// All shares that a principal has accepted and that have not ended.
    pub(crate) async fn all_accepted(
        &self,
        subject: Option<&str>,
    ) -> Result<Vec<Share>, SharedStateError> {
        let listed = self.0.list(ACCEPTANCES, &subject_key_prefix(subject), MAX_ACCEPTED).await?;
        let mut shares = Vec::new();
        for acceptance in listed.iter().filter_map(|(_, value)| parse::<Acceptance>(value)) {
            shares.extend(self.share_at(&acceptance.share).await?);
        }
        Ok(shares)
    }

    /// Ends what a principal has accepted; returns the share, if there was one.
    pub(crate) async fn leave(
        &self,
        subject: Option<&str>,
        id: &str,
    ) -> Result<Option<Share>, SharedStateError> {
        let Some(share) = self.accepted(subject, id).await? else {
            return Ok(None);
        };
        self.0.remove(ACCEPTANCES, &subject_key(subject, id)).await?;
        self.0.remove(PARTICIPANTS, &participant_key(&share.key(), subject)).await?;
        Ok(Some(share))
    }

    /// The principals that have accepted a share.
    pub(crate) async fn participants(
        &self,
        share: &Share,
    ) -> Result<Vec<Acceptance>, SharedStateError> {
        let mut participants = Vec::new();
        for key in self.participant_keys(&share.key()).await? {
            // One whose data was erased has none any more.
            let acceptance = self.0.get(ACCEPTANCES, &key).await?;
            participants.extend(acceptance.as_deref().and_then(parse::<Acceptance>));
        }
        participants.sort_by_key(|acceptance| acceptance.at);
        Ok(participants)
    }

    async fn participant_keys(&self, share_key: &str) -> Result<Vec<String>, SharedStateError> {
        let prefix = format!("{share_key}/");
        let listed = self.0.list(PARTICIPANTS, &prefix, MAX_PARTICIPANTS).await?;
        Ok(listed.into_iter().map(|(_, key)| key).collect())
    }

    async fn share_at(&self, key: &str) -> Result<Option<Share>, SharedStateError> {
        Ok(self.0.get(SHARES, key).await?.as_deref().and_then(parse))
    }
}
