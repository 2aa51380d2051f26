//! The credentials of a project: encrypted, in the shared state of its store.

use std::path::PathBuf;
use std::sync::Arc;

use futures::future::BoxFuture;
use tokio::sync::OnceCell;
use toolwright_core::{Secret, SharedState, SharedStateError};
use toolwright_mcp::{
    Credential, CredentialError, CredentialFuture, CredentialKey, CredentialKeys, CredentialStore,
    SharedCredentials, StoredCredential,
};

use crate::attach_options::AttachOptions;
use crate::project::Project;
use crate::project::conversation_store::store_url;

/// The setting of the keys; its environment variable is `TOOLWRIGHT_CREDENTIALS_KEY`.
const KEY_SETTING: &str = "credentials.key";

/// The setting of the file of the keys.
const KEY_FILE_SETTING: &str = "credentials.key_file";

/// The file of the keys, in the program's folder of the user's data directory.
const KEY_FILE: &str = "credentials.key";

/// Credentials in the shared state of a store that is opened when the first one is needed.
#[derive(Default)]
pub(super) struct ProjectCredentials {
    /// The shared state of a store that is open.
    state: Option<Arc<dyn SharedState>>,
    /// The URL of the store to open, or why there is none.
    url: Option<Result<String, String>>,
    program: String,
    key: Option<Secret>,
    key_file: Option<PathBuf>,
    opened: OnceCell<SharedCredentials>,
}

impl ProjectCredentials {
    pub(super) fn new(project: &Project, options: &AttachOptions) -> Self {
        let config = project.config();
        let key_file = config.get_optional::<String>(KEY_FILE_SETTING).ok().flatten();
        Self {
            state: options.shared_state.clone(),
            url: Some(store_url(project).map_err(|error| error.to_string())),
            program: project.program_name().to_owned(),
            key: config.secret(KEY_SETTING).ok().flatten(),
            key_file: key_file.map(PathBuf::from).or_else(|| project.data_file(KEY_FILE)),
            opened: OnceCell::new(),
        }
    }

    /// The shared state; `None` if the store is not open.
    pub(super) fn shared_state(&self) -> Option<&Arc<dyn SharedState>> {
        self.state.as_ref()
    }

    /// The name of the program, which its values in the shared state have.
    pub(super) fn program(&self) -> &str {
        &self.program
    }

    /// Opens the store, if it is not open.
    pub(super) async fn open(&self) -> Result<&SharedCredentials, CredentialError> {
        let open = || async {
            let state = match (&self.state, &self.url) {
                (Some(state), _) => Arc::clone(state),
                (None, Some(Ok(url))) => {
                    let store = toolwright_store::open(url).await;
                    store.map_err(SharedStateError::from)?.shared_state()
                }
                (None, Some(Err(message))) => {
                    return Err(SharedStateError::new(message.clone()).into());
                }
                (None, None) => {
                    return Err(SharedStateError::new("there is no store for credentials").into());
                }
            };
            Ok(SharedCredentials::new(state, &*self.program, self.keys()?))
        };
        self.opened.get_or_try_init(open).await
    }

    fn keys(&self) -> Result<CredentialKeys, CredentialError> {
        match (&self.key, &self.key_file) {
            (Some(key), _) => {
                CredentialKeys::from_text(key, &format!("the setting `{KEY_SETTING}`"))
            }
            (None, Some(file)) => Ok(CredentialKeys::from_file(file)),
            (None, None) => Err(CredentialError::Encryption(format!(
                "there is no home to keep a key in: set HOME, `{KEY_FILE_SETTING}` or TOOLWRIGHT_CREDENTIALS_KEY"
            ))),
        }
    }

    /// Encrypts everything with a new key; returns the number of credentials.
    pub(super) async fn rotate_key(&self) -> Result<usize, CredentialError> {
        self.open().await?.rotate_key().await
    }
}

impl CredentialStore for ProjectCredentials {
    fn load<'a>(
        &'a self,
        key: &'a CredentialKey,
    ) -> CredentialFuture<'a, Option<StoredCredential>> {
        Box::pin(async move { self.open().await?.load(key).await })
    }

    fn replace<'a>(
        &'a self,
        key: &'a CredentialKey,
        expected: Option<&'a StoredCredential>,
        credential: &'a Credential,
    ) -> CredentialFuture<'a, bool> {
        Box::pin(async move { self.open().await?.replace(key, expected, credential).await })
    }

    fn put<'a>(
        &'a self,
        key: &'a CredentialKey,
        credential: &'a Credential,
    ) -> CredentialFuture<'a, ()> {
        Box::pin(async move { self.open().await?.put(key, credential).await })
    }

    fn remove<'a>(&'a self, key: &'a CredentialKey) -> CredentialFuture<'a, bool> {
        Box::pin(async move { self.open().await?.remove(key).await })
    }

    fn list<'a>(
        &'a self,
        server: &'a str,
    ) -> CredentialFuture<'a, Vec<(CredentialKey, Credential)>> {
        Box::pin(async move { self.open().await?.list(server).await })
    }

    fn lock<'a>(&'a self, key: &'a CredentialKey) -> CredentialFuture<'a, String> {
        Box::pin(async move { self.open().await?.lock(key).await })
    }

    fn unlock<'a>(&'a self, key: &'a CredentialKey, lock: &'a str) -> BoxFuture<'a, ()> {
        Box::pin(async move {
            if let Ok(credentials) = self.open().await {
                credentials.unlock(key, lock).await;
            }
        })
    }
}
