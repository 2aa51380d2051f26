//! Encrypted credentials in the state that all nodes share.

use std::sync::Arc;
use std::time::Duration;

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use toolwright_core::__internal::random_hex;
use toolwright_core::{Backoff, BoxFuture, SharedState, subject_key};

use super::{
    Credential, CredentialError, CredentialFuture, CredentialHolder, CredentialKey, CredentialKeys,
    CredentialStore, StoredCredential,
};
use crate::client::PendingLogin;

/// The space of the credentials; a key is the holder, the program and the server.
const SPACE: &str = "mcp_credential";

/// The space of the locks, with the same keys.
const LOCK_SPACE: &str = "mcp_refresh";

/// The space of the logins that wait for the user; a key is a digest.
const LOGIN_SPACE: &str = "mcp_login";

/// How long a login may take.
const LOGIN_TTL: Duration = Duration::from_secs(600);

/// How long a lock is valid that is not released; longer than a refresh takes.
pub(crate) const LOCK_TTL: Duration = Duration::from_secs(30);

/// How often a lock is tried that another node holds.
const MIN_LOCK_RETRY: Duration = Duration::from_millis(20);
const MAX_LOCK_RETRY: Duration = Duration::from_millis(500);

/// How long to wait for a lock: one that was never released has expired by then.
const LOCK_TIMEOUT: Duration = Duration::from_secs(45);

/// The most credentials that are listed or encrypted again.
const MAX_LISTED: usize = 100_000;

/// Credentials in the shared state of a store, encrypted: a copy of the store contains no token.
///
/// They never expire. The keys of a person's credentials begin with the prefix of the subject, so that they are erased with the
/// person's other data.
pub struct SharedCredentials {
    state: Arc<dyn SharedState>,
    program: String,
    keys: CredentialKeys,
}

impl SharedCredentials {
    /// Stores the credentials of this program in the shared state. Programs of another name have credentials of their own.
    pub fn new(
        state: Arc<dyn SharedState>,
        program: impl Into<String>,
        keys: CredentialKeys,
    ) -> Self {
        Self { state, program: program.into(), keys }
    }

    /// The key in the shared state.
    fn state_key(&self, key: &CredentialKey) -> String {
        let name = format!("{}/{}", self.program, key.server);
        match &key.holder {
            CredentialHolder::Shared => format!("shared/{name}"),
            CredentialHolder::Person(subject) => subject_key(subject.as_deref(), &name),
        }
    }

    fn seal(&self, state_key: &str, credential: &Credential) -> Result<String, CredentialError> {
        let text = serde_json::to_string(credential)
            .map_err(|error| CredentialError::Encryption(error.to_string()))?;
        self.keys.seal(&context(state_key), &text)
    }

    fn open(
        &self,
        state_key: &str,
        server: &str,
        sealed: &str,
    ) -> Result<Credential, CredentialError> {
        let text = self.keys.open(&context(state_key), server, sealed)?;
        // The error of serde could contain a part of the text.
        serde_json::from_str(&text)
            .map_err(|_| CredentialError::Damaged { server: server.to_owned() })
    }

    /// Stores a login that waits for the user, for ten minutes, with the person it is for and a key that the browser has.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    pub async fn put_pending(
        &self,
        key: &CredentialKey,
        pending: &PendingLogin,
        browser_key: &str,
    ) -> Result<(), CredentialError> {
        let state_key = pending_key(pending.state(), browser_key);
        let (is_personal, subject) = match &key.holder {
            CredentialHolder::Shared => (false, None),
            CredentialHolder::Person(subject) => (true, subject.as_deref()),
        };
        let text = serde_json::to_string(&(&key.server, is_personal, subject, pending))
            .map_err(|error| CredentialError::Encryption(error.to_string()))?;
        let sealed = self.keys.seal(&context(&state_key), &text)?;
        Ok(self.state.put(LOGIN_SPACE, &state_key, &sealed, Some(LOGIN_TTL)).await?)
    }

    /// Removes the login that waits for a redirect with this `state`, in the browser that has this key; `None` if there is none,
    /// or it was taken already.
    ///
    /// # Errors
    ///
    /// When it cannot be read or decrypted.
    pub async fn take_pending(
        &self,
        state: &str,
        browser_key: &str,
    ) -> Result<Option<(CredentialKey, PendingLogin)>, CredentialError> {
        let state_key = pending_key(state, browser_key);
        let Some(sealed) = self.state.remove(LOGIN_SPACE, &state_key).await? else {
            return Ok(None);
        };
        let text = self.keys.open(&context(&state_key), "the login", &sealed)?;
        let parsed: (String, bool, Option<String>, PendingLogin) = serde_json::from_str(&text)
            .map_err(|_| CredentialError::Damaged { server: "the login".to_owned() })?;
        let (server, is_personal, subject, pending) = parsed;
        let key = match is_personal {
            false => CredentialKey::shared(server),
            true => CredentialKey::personal(server, subject.as_deref()),
        };
        Ok(Some((key, pending)))
    }

    /// Adds a key to the key file, if the keys are in a file, and encrypts everything with the newest key; returns how many
    /// credentials are encrypted with it now.
    ///
    /// # Errors
    ///
    /// When a credential cannot be read or written; those before it are encrypted with the newest key.
    pub async fn rotate_key(&self) -> Result<usize, CredentialError> {
        // Before the rotation too: it drops keys that a rotation which was interrupted may have left in use.
        self.seal_all_again().await?;
        self.keys.rotate()?;
        self.seal_all_again().await
    }

    /// Encrypts all credentials of this program with the newest key; returns their number.
    async fn seal_all_again(&self) -> Result<usize, CredentialError> {
        let mut sealed = self.state.list(SPACE, "", MAX_LISTED).await?;
        sealed.retain(|(key, _)| self.server_of(key).is_some());
        for (key, _) in &sealed {
            self.seal_again(key).await?;
        }
        Ok(sealed.len())
    }

    /// Encrypts one credential with the newest key, unless it is removed meanwhile.
    async fn seal_again(&self, key: &str) -> Result<(), CredentialError> {
        let server = self.server_of(key).unwrap_or_default();
        while let Some(old) = self.state.get(SPACE, key).await? {
            if self.keys.is_newest(&old)? {
                break;
            }
            let new = self.seal(key, &self.open(key, server, &old)?)?;
            if self.state.replace(SPACE, key, &old, &new, None).await? {
                break;
            }
        }
        Ok(())
    }

    /// The name of the server in a key; `None` if it belongs to another program.
    fn server_of<'k>(&self, state_key: &'k str) -> Option<&'k str> {
        let (_, name) = state_key.split_once('/')?;
        name.strip_prefix(&*self.program)?.strip_prefix('/')
    }
}

/// The key of a pending login: neither the `state` nor the key of the browser is in the store.
fn pending_key(state: &str, browser_key: &str) -> String {
    HEXLOWER.encode(&Sha256::digest(format!("{state} {browser_key}")))
}

/// What an encrypted credential is bound to.
fn context(state_key: &str) -> String {
    format!("{SPACE} {state_key}")
}

impl CredentialStore for SharedCredentials {
    fn load<'a>(
        &'a self,
        key: &'a CredentialKey,
    ) -> CredentialFuture<'a, Option<StoredCredential>> {
        Box::pin(async move {
            let state_key = self.state_key(key);
            let Some(version) = self.state.get(SPACE, &state_key).await? else {
                return Ok(None);
            };
            let credential = self.open(&state_key, &key.server, &version)?;
            Ok(Some(StoredCredential { credential, version }))
        })
    }

    fn replace<'a>(
        &'a self,
        key: &'a CredentialKey,
        expected: Option<&'a StoredCredential>,
        credential: &'a Credential,
    ) -> CredentialFuture<'a, bool> {
        Box::pin(async move {
            let state_key = self.state_key(key);
            let sealed = self.seal(&state_key, credential)?;
            Ok(match expected {
                Some(old) => {
                    self.state.replace(SPACE, &state_key, &old.version, &sealed, None).await?
                }
                None => self.state.insert(SPACE, &state_key, &sealed, None).await?,
            })
        })
    }

    fn put<'a>(
        &'a self,
        key: &'a CredentialKey,
        credential: &'a Credential,
    ) -> CredentialFuture<'a, ()> {
        Box::pin(async move {
            let state_key = self.state_key(key);
            let sealed = self.seal(&state_key, credential)?;
            Ok(self.state.put(SPACE, &state_key, &sealed, None).await?)
        })
    }

    fn remove<'a>(&'a self, key: &'a CredentialKey) -> CredentialFuture<'a, bool> {
        Box::pin(async move { Ok(self.state.remove(SPACE, &self.state_key(key)).await?.is_some()) })
    }

    fn list<'a>(
        &'a self,
        server: &'a str,
    ) -> CredentialFuture<'a, Vec<(CredentialKey, Credential)>> {
        Box::pin(async move {
            let sealed = self.state.list(SPACE, "", MAX_LISTED).await?;
            let own = sealed.into_iter().filter(|(key, _)| self.server_of(key) == Some(server));
            let open = |(state_key, sealed): (String, String)| {
                let credential = self.open(&state_key, server, &sealed)?;
                let key = match state_key.starts_with("shared/") {
                    true => CredentialKey::shared(server),
                    false => CredentialKey::personal(server, credential.subject.as_deref()),
                };
                Ok((key, credential))
            };
            own.map(open).collect()
        })
    }

    fn lock<'a>(&'a self, key: &'a CredentialKey) -> CredentialFuture<'a, String> {
        Box::pin(async move {
            let state_key = self.state_key(key);
            let id =
                random_hex(16).map_err(|error| CredentialError::Encryption(error.to_string()))?;
            let acquire = async {
                let mut delays = Backoff::new(MIN_LOCK_RETRY, MAX_LOCK_RETRY).jitter(0.5..1.0);
                while !self.state.insert(LOCK_SPACE, &state_key, &id, Some(LOCK_TTL)).await? {
                    tokio::time::sleep(delays.next().unwrap_or(MAX_LOCK_RETRY)).await;
                }
                Ok(())
            };
            match tokio::time::timeout(LOCK_TIMEOUT, acquire).await {
                Ok(acquired) => acquired.map(|()| id.clone()),
                Err(_) => Err(CredentialError::Locked),
            }
        })
    }

    fn unlock<'a>(&'a self, key: &'a CredentialKey, lock: &'a str) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            let state_key = self.state_key(key);
            // Only if it is still ours: it may have expired, and be held by another node. If this fails, it expires.
            let now = Some(Duration::from_millis(1));
            let _ = self.state.replace(LOCK_SPACE, &state_key, lock, "", now).await;
        })
    }
}

#[cfg(test)]
mod tests {
    use toolwright_core::{MemorySharedState, Secret, subject_key_prefix};

    use super::super::value::tests::credential;
    use super::*;

    const ONE: &str = "11111111111111111111111111111111aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
    const TWO: &str = "22222222222222222222222222222222bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

    fn node(state: &Arc<MemorySharedState>, keys: &str) -> SharedCredentials {
        let keys = CredentialKeys::from_text(&Secret::new(keys), "TEST").unwrap();
        SharedCredentials::new(Arc::clone(state) as Arc<dyn SharedState>, "app", keys)
    }

    #[tokio::test]
    async fn what_one_node_stores_another_reads_and_nothing_of_it_is_in_the_clear() {
        let state = Arc::new(MemorySharedState::new());
        let [one, two] = [node(&state, ONE), node(&state, ONE)];
        let ada = CredentialKey::personal("wiki", Some("ada"));
        let mut personal = credential("access-secret");
        personal.subject = Some("ada".to_owned());
        one.put(&ada, &personal).await.unwrap();
        one.put(&CredentialKey::shared("wiki"), &credential("shared-secret")).await.unwrap();
        let loaded = two.load(&ada).await.unwrap().unwrap().credential;
        assert_eq!(loaded.access_token, "access-secret");
        assert!(two.load(&CredentialKey::personal("wiki", None)).await.unwrap().is_none());
        assert!(two.load(&CredentialKey::shared("shop")).await.unwrap().is_none());
        let mut holders: Vec<_> = two.list("wiki").await.unwrap();
        holders.sort_by_key(|(key, _)| format!("{key:?}"));
        assert_eq!(holders[0].0, ada);
        assert_eq!(holders[1].0, CredentialKey::shared("wiki"));
        let all = state.list(SPACE, "", 10).await.unwrap();
        assert_eq!(all.len(), 2);
        assert!(!format!("{all:?}").contains("secret"), "{all:?}");
        // Erasing a person erases their credentials.
        state.remove_prefix(&subject_key_prefix(Some("ada"))).await.unwrap();
        assert!(two.load(&ada).await.unwrap().is_none());
    }

    #[tokio::test]
    async fn an_encrypted_credential_cannot_be_moved_to_another_person() {
        let state = Arc::new(MemorySharedState::new());
        let store = node(&state, ONE);
        let [ada, bob] = ["ada", "bob"].map(|name| CredentialKey::personal("wiki", Some(name)));
        store.put(&ada, &credential("a")).await.unwrap();
        let sealed = state.get(SPACE, &store.state_key(&ada)).await.unwrap().unwrap();
        state.put(SPACE, &store.state_key(&bob), &sealed, None).await.unwrap();
        let error = store.load(&bob).await.unwrap_err();
        assert!(matches!(error, CredentialError::Damaged { .. }), "{error}");
    }

    #[tokio::test]
    async fn of_two_that_replace_one_credential_one_succeeds_and_a_removed_one_stays_removed() {
        let state = Arc::new(MemorySharedState::new());
        let [one, two] = [node(&state, ONE), node(&state, ONE)];
        let key = CredentialKey::shared("wiki");
        assert!(one.replace(&key, None, &credential("a")).await.unwrap());
        assert!(!two.replace(&key, None, &credential("b")).await.unwrap());
        let old = two.load(&key).await.unwrap().unwrap();
        assert!(two.replace(&key, Some(&old), &credential("b")).await.unwrap());
        assert!(!one.replace(&key, Some(&old), &credential("c")).await.unwrap());
        let old = one.load(&key).await.unwrap().unwrap();
        assert!(two.remove(&key).await.unwrap() && !two.remove(&key).await.unwrap());
        assert!(!one.replace(&key, Some(&old), &credential("c")).await.unwrap());
        assert!(one.load(&key).await.unwrap().is_none());
    }

    #[tokio::test]
    async fn a_pending_login_is_taken_once_by_the_browser_that_began_it() {
        let state = Arc::new(MemorySharedState::new());
        let [one, two] = [node(&state, ONE), node(&state, ONE)];
        let pending: PendingLogin = serde_json::from_value(serde_json::json!({
            "url": "https://wiki.example/mcp", "page": "https://login.example/?state=s", "challenge": "",
            "client_id": "client", "client_secret": "client-secret", "redirect": "https://app.example/cb",
            "is_registered": true, "state": "s", "issuer": null, "scopes": [],
            "verifier": { "pkce_verifier": "pkce-secret", "csrf_token": "s", "created_at": 0 },
        }))
        .unwrap();
        for key in [
            CredentialKey::shared("wiki"),
            CredentialKey::personal("wiki", None),
            CredentialKey::personal("wiki", Some("ada")),
        ] {
            one.put_pending(&key, &pending, "browser-secret").await.unwrap();
            let stored = state.list(LOGIN_SPACE, "", 10).await.unwrap();
            assert!(!format!("{stored:?}").contains("secret"), "{stored:?}");
            assert!(two.take_pending("s", "another").await.unwrap().is_none());
            assert!(two.take_pending("t", "browser-secret").await.unwrap().is_none());
            let (taken, _) = two.take_pending("s", "browser-secret").await.unwrap().unwrap();
            assert_eq!(taken, key);
            assert!(one.take_pending("s", "browser-secret").await.unwrap().is_none());
        }
    }

    #[tokio::test]
    async fn credentials_are_encrypted_with_the_new_key_while_nodes_have_both() {
        let state = Arc::new(MemorySharedState::new());
        let key = CredentialKey::shared("wiki");
        node(&state, ONE).put(&key, &credential("a")).await.unwrap();
        let both = node(&state, &format!("{TWO},{ONE}"));
        assert_eq!(both.rotate_key().await.unwrap(), 1);
        assert!(node(&state, TWO).load(&key).await.unwrap().is_some());
        let error = node(&state, ONE).load(&key).await.unwrap_err();
        assert!(matches!(error, CredentialError::UnknownKey { .. }), "{error}");
    }

    #[tokio::test(start_paused = true)]
    async fn one_node_at_a_time_refreshes_and_a_lost_lock_expires() {
        let state = Arc::new(MemorySharedState::new());
        let [one, two] = [node(&state, ONE), node(&state, ONE)];
        let key = CredentialKey::shared("wiki");
        let held = one.lock(&key).await.unwrap();
        let waiting = async { two.lock(&key).await.unwrap() };
        tokio::pin!(waiting);
        assert!(futures::poll!(&mut waiting).is_pending());
        one.unlock(&key, &held).await;
        let held = waiting.await;
        // A lock that is no longer ours is not released.
        one.unlock(&key, "another").await;
        let started = tokio::time::Instant::now();
        one.lock(&key).await.unwrap();
        assert!(started.elapsed() >= LOCK_TTL - Duration::from_secs(1));
        two.unlock(&key, &held).await;
        assert!(!state.insert(LOCK_SPACE, &one.state_key(&key), "x", None).await.unwrap());
    }
}
