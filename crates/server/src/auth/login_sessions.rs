//! The sessions of people who have signed in, in the state that all nodes share.

use std::sync::Arc;
use std::time::Duration;

use axum::http::HeaderValue;
use serde::{Deserialize, Serialize};
use toolwright_auth::SignInOutcome;
use toolwright_chat::Owner;
use toolwright_core::__internal::unix_millis_now;
use toolwright_core::{SharedState, SharedStateError, subject_key_prefix};

use super::cookie_rotation::{CookieKeys, CookieStatus, RotationTimes};
use super::session_credential::{ProviderCredential, SessionCredential};
use super::session_seal::{CookieValue, SealKey};
use crate::http::error_response::ErrorResponse;

/// The lifetime of a session.
pub(super) const SESSION_LIFETIME: Duration = Duration::from_secs(12 * 60 * 60);

/// The space of the shared state; the key is the id of a session.
const SPACE: &str = "login_session";

/// The space of the locks of those who renew the tokens of a session.
const RENEWAL_SPACE: &str = "login_renewal";

/// The maximum for the operator, whose token several people may share.
const MAX_OPERATOR_SESSIONS: usize = 1024;

/// The maximum for a subject: one session per browser.
const MAX_SUBJECT_SESSIONS: usize = 16;

/// How often a change is tried again that another node has forestalled.
const MAX_TRIES: usize = 5;

/// The sessions of people who have signed in: lists them, and ends them at all nodes.
///
/// A node that has a connection of a session notices its end within
/// [`session_check_interval`](crate::ServerLimits::session_check_interval).
#[derive(Clone)]
pub struct LoginSessions(Arc<dyn SharedState>);

/// A session of a person who has signed in.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoginSession {
    /// Identifies the session; with it, a session can be ended, and not used.
    pub id: String,
    /// The owner of the session.
    pub owner: Owner,
    /// The name of the owner that other people see.
    pub name: Option<String>,
    /// The name of the provider that the owner has signed in with; `None` for a session that stands for a token.
    pub provider: Option<String>,
    /// When it began, in milliseconds since 1970.
    pub began: u64,
    /// When it ends by itself, in milliseconds since 1970.
    pub expires: u64,
}

/// A session as it is stored.
#[derive(Clone, Serialize, Deserialize)]
struct SessionRecord {
    /// `None` for the operator.
    #[serde(skip_serializing_if = "Option::is_none")]
    subject: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// `None` if the credential is an `Authorization` header.
    #[serde(skip_serializing_if = "Option::is_none")]
    provider: Option<String>,
    began: u64,
    expires: u64,
    /// What the cookie stands for, encrypted with the key of the session.
    credential: String,
    cookies: CookieKeys,
    /// The path of the cookie.
    path: String,
}

/// What a cookie is to the stored sessions.
pub(super) enum FoundSession {
    /// It opens this session.
    Opened(Box<OpenedSession>),
    /// It was replaced by another value, which is used, too.
    Replaced,
    /// There is no session that it opens.
    Unknown,
}

/// A session that a cookie has opened.
pub(super) struct OpenedSession {
    pub(super) stored: StoredCredential,
    pub(super) key: SealKey,
    /// The time until it expires, by the clock of this node.
    pub(super) expires_in: Duration,
    /// The value that replaces the cookie, and its path.
    pub(super) new_cookie: Option<(String, String)>,
}

/// A credential, and the text that it is stored as.
#[derive(Clone)]
pub(super) struct StoredCredential {
    pub(super) sealed: String,
    pub(super) credential: Arc<SessionCredential>,
}

impl SessionRecord {
    fn parse(value: &str) -> Option<Self> {
        serde_json::from_str(value).ok()
    }

    fn to_value(&self) -> Result<String, SharedStateError> {
        serde_json::to_string(self).map_err(|error| {
            SharedStateError::new("a session cannot be encoded").with_source(error)
        })
    }

    fn expires_in(&self) -> Duration {
        let left = Duration::from_millis(self.expires.saturating_sub(unix_millis_now()));
        left.min(SESSION_LIFETIME)
    }

    /// Decrypts the credential of the session of this id; `None` if it belongs to another one, or was changed.
    fn open(&self, id: &str, key: &SealKey) -> Option<StoredCredential> {
        let plain = key.open(id, &self.credential)?;
        let credential = SessionCredential::decode(self.provider.as_deref(), &plain)?;
        Some(StoredCredential { sealed: self.credential.clone(), credential: Arc::new(credential) })
    }
}

impl LoginSessions {
    /// The sessions in the shared state of a server, which is by default that of its store.
    pub fn new(state: Arc<dyn SharedState>) -> Self {
        Self(state)
    }

    /// Returns at most `limit` sessions: of one owner, or of all.
    ///
    /// # Errors
    ///
    /// When the shared state cannot be read.
    pub async fn list(
        &self,
        owner: Option<&Owner>,
        limit: usize,
    ) -> Result<Vec<LoginSession>, SharedStateError> {
        let prefix = owner.map(key_prefix).unwrap_or_default();
        let listed = self.0.list(SPACE, &prefix, limit).await?;
        let sessions = listed.into_iter().filter_map(|(id, value)| {
            let SessionRecord { subject, name, provider, began, expires, .. } =
                SessionRecord::parse(&value)?;
            let owner = subject.map_or(Owner::Operator, Owner::Subject);
            Some(LoginSession { id, owner, name, provider, began, expires })
        });
        Ok(sessions.collect())
    }

    /// Ends a session by its id; returns false if there is none.
    ///
    /// # Errors
    ///
    /// When the shared state cannot be written.
    pub async fn end(&self, id: &str) -> Result<bool, SharedStateError> {
        Ok(self.0.remove(SPACE, id).await?.is_some())
    }

    /// Begins a session that stands for a token, and returns the value of its cookie.
    pub(super) async fn begin(
        &self,
        owner: &Owner,
        authorization: &HeaderValue,
        path: &str,
    ) -> Result<String, ErrorResponse> {
        self.store_new(owner, None, None, Some(authorization.as_bytes()), path).await
    }

    /// Begins the session of a person who has signed in with a provider, and returns the value of its cookie.
    pub(super) async fn begin_signed_in(
        &self,
        provider: &str,
        signed_in: SignInOutcome,
        path: &str,
    ) -> Result<String, ErrorResponse> {
        let owner = Owner::Subject(signed_in.identity.subject.clone());
        let name = signed_in.identity.display_name.clone();
        let now = unix_millis_now();
        let credential = ProviderCredential::new(provider, signed_in, now, session_end(now));
        let (provider, credential) = (Some(provider.to_owned()), credential.encode());
        self.store_new(&owner, name, provider, credential.as_deref(), path).await
    }

    /// Stores a session with this credential, and returns the value of its cookie.
    async fn store_new(
        &self,
        owner: &Owner,
        name: Option<String>,
        provider: Option<String>,
        credential: Option<&[u8]>,
        path: &str,
    ) -> Result<String, ErrorResponse> {
        let text = CookieValue::generate(&key_prefix(owner))?;
        let key = SealKey::generate()?;
        let began = unix_millis_now();
        let sealed = CookieValue::parse(&text).and_then(|cookie| {
            let id = cookie.key();
            let sealed = key.seal(&id, credential?)?;
            Some((id, sealed, CookieKeys::new(&cookie, &key, began)?))
        });
        let (id, credential, cookies) =
            sealed.ok_or_else(|| ErrorResponse::unencodable("the session cannot be encrypted"))?;
        let subject = match owner {
            Owner::Subject(subject) => Some(subject.clone()),
            _ => None,
        };
        let (expires, path) = (session_end(began), path.to_owned());
        let record =
            SessionRecord { subject, name, provider, began, expires, credential, cookies, path };
        self.0.put(SPACE, &id, &record.to_value()?, Some(SESSION_LIFETIME)).await?;
        Ok(text)
    }

    /// Returns the ids of the owner's oldest sessions, if there are too many beside the new one.
    pub(super) async fn excess(
        &self,
        owner: &Owner,
        new: &CookieValue<'_>,
    ) -> Result<Vec<String>, SharedStateError> {
        let max = match owner {
            Owner::Operator => MAX_OPERATOR_SESSIONS,
            _ => MAX_SUBJECT_SESSIONS,
        };
        // Nodes that begin sessions at the same time may each find too many: then all of these are listed.
        let mut sessions = self.list(Some(owner), 2 * max).await?;
        // By the clock of another node, others may be newer.
        let new = new.key();
        sessions.retain(|session| session.id != new);
        sessions.sort_by_key(|session| session.began);
        let excess = (sessions.len() + 1).saturating_sub(max);
        Ok(sessions.into_iter().take(excess).map(|session| session.id).collect())
    }

    /// Finds the session of a cookie, and replaces the cookie if that is due and `may_rotate`.
    pub(super) async fn open(
        &self,
        cookie: &CookieValue<'_>,
        times: RotationTimes,
        may_rotate: bool,
    ) -> Result<FoundSession, SharedStateError> {
        let id = cookie.key();
        for tries_left in (0..MAX_TRIES).rev() {
            let Some(value) = self.0.get(SPACE, &id).await? else {
                return Ok(FoundSession::Unknown);
            };
            let Some(mut record) = SessionRecord::parse(&value) else {
                return Ok(FoundSession::Unknown);
            };
            let now = unix_millis_now();
            let (key, mut is_changed) = match record.cookies.admit(cookie, times, now) {
                (CookieStatus::Valid(key), is_changed) => (key, is_changed),
                (CookieStatus::Replaced, _) => return Ok(FoundSession::Replaced),
                (CookieStatus::Unknown, _) => return Ok(FoundSession::Unknown),
            };
            let Some(stored) = record.open(&id, &key) else {
                return Ok(FoundSession::Unknown);
            };
            let mut new_cookie = None;
            if may_rotate && let Some(value) = record.cookies.rotate(cookie, &key, times, now) {
                new_cookie = Some((value, record.path.clone()));
                is_changed = true;
            }
            let expires_in = record.expires_in();
            if is_changed {
                let changed = record.to_value()?;
                let replaced = self.0.replace(SPACE, &id, &value, &changed, Some(expires_in));
                if !replaced.await? {
                    if tries_left > 0 {
                        continue;
                    }
                    // Others change it all the time: the cookie is valid, and replaced next time.
                    new_cookie = None;
                }
            }
            let opened = OpenedSession { stored, key, expires_in, new_cookie };
            return Ok(FoundSession::Opened(Box::new(opened)));
        }
        Ok(FoundSession::Unknown)
    }

    /// Reads the credential of a session again; `None` if the session has ended. `known` is returned if it is unchanged.
    pub(super) async fn read_credential(
        &self,
        id: &str,
        key: &SealKey,
        known: &StoredCredential,
    ) -> Result<Option<StoredCredential>, SharedStateError> {
        let Some(value) = self.0.get(SPACE, id).await? else {
            return Ok(None);
        };
        Ok(SessionRecord::parse(&value).and_then(|record| {
            match record.credential == known.sealed {
                true => Some(known.clone()),
                false => record.open(id, key),
            }
        }))
    }

    /// Stores the renewed credential of a session; `None` if the session has ended meanwhile.
    pub(super) async fn update_credential(
        &self,
        id: &str,
        key: &SealKey,
        renewed: ProviderCredential,
    ) -> Result<Option<StoredCredential>, SharedStateError> {
        let name = renewed.display_name().map(str::to_owned);
        let sealed = renewed.encode().and_then(|plain| key.seal(id, &plain));
        let sealed =
            sealed.ok_or_else(|| SharedStateError::new("a session cannot be encrypted"))?;
        let credential = Arc::new(SessionCredential::Provider(Box::new(renewed)));
        for _ in 0..MAX_TRIES {
            let Some(value) = self.0.get(SPACE, id).await? else {
                return Ok(None);
            };
            let Some(mut record) = SessionRecord::parse(&value) else {
                return Ok(None);
            };
            (record.credential, record.name) = (sealed.clone(), name.clone());
            let (changed, ttl) = (record.to_value()?, record.expires_in());
            if self.0.replace(SPACE, id, &value, &changed, Some(ttl)).await? {
                return Ok(Some(StoredCredential { sealed, credential }));
            }
        }
        Err(SharedStateError::new("a session cannot be changed now: try again"))
    }

    /// Acquires the right to renew the tokens of a session; false if another node has it.
    pub(super) async fn lock_renewal(
        &self,
        id: &str,
        ttl: Duration,
    ) -> Result<bool, SharedStateError> {
        self.0.insert(RENEWAL_SPACE, id, "", Some(ttl)).await
    }

    /// Releases the right to renew the tokens of a session, which otherwise expires by itself.
    pub(super) async fn unlock_renewal(&self, id: &str) {
        let _ = self.0.remove(RENEWAL_SPACE, id).await;
    }
}

/// When a session that begins at this time ends by itself, in milliseconds since 1970.
fn session_end(began: u64) -> u64 {
    began.saturating_add(u64::try_from(SESSION_LIFETIME.as_millis()).unwrap_or(u64::MAX))
}

/// What the ids of an owner's sessions begin with.
pub(super) fn key_prefix(owner: &Owner) -> String {
    match owner {
        Owner::Subject(subject) => subject_key_prefix(Some(subject)),
        _ => subject_key_prefix(None),
    }
}
