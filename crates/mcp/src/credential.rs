//! OAuth credentials for attached servers: what a login results in, and where it is stored.

mod keys;
mod memory;
mod shared;
mod value;

use std::io;
use std::path::PathBuf;

use toolwright_core::{BoxFuture, SharedStateError};

pub use keys::CredentialKeys;
pub use memory::MemoryCredentials;
pub use shared::SharedCredentials;
pub use value::Credential;

/// Stores the OAuth credentials for attached servers, each under its [`CredentialKey`].
pub trait CredentialStore: Send + Sync {
    /// Returns a credential; `None` if there is none.
    ///
    /// # Errors
    ///
    /// When it cannot be read or decrypted.
    fn load<'a>(&'a self, key: &'a CredentialKey)
    -> CredentialFuture<'a, Option<StoredCredential>>;

    /// Stores a credential in place of the expected one, `None` for no credential; returns false, and changes nothing, if another
    /// is stored.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    fn replace<'a>(
        &'a self,
        key: &'a CredentialKey,
        expected: Option<&'a StoredCredential>,
        credential: &'a Credential,
    ) -> CredentialFuture<'a, bool>;

    /// Stores a credential, whatever is stored now: a person has logged in.
    ///
    /// # Errors
    ///
    /// When it cannot be written.
    fn put<'a>(
        &'a self,
        key: &'a CredentialKey,
        credential: &'a Credential,
    ) -> CredentialFuture<'a, ()>;

    /// Removes a credential; returns false if there was none.
    ///
    /// # Errors
    ///
    /// When it cannot be removed.
    fn remove<'a>(&'a self, key: &'a CredentialKey) -> CredentialFuture<'a, bool>;

    /// Returns the credentials for a server: the shared one and those of people.
    ///
    /// # Errors
    ///
    /// When they cannot be read.
    fn list<'a>(
        &'a self,
        server: &'a str,
    ) -> CredentialFuture<'a, Vec<(CredentialKey, Credential)>>;

    /// Waits until no other node refreshes a credential, and then lets none do so until [`unlock`](CredentialStore::unlock), or
    /// until the lock expires after half a minute. The returned text identifies the lock.
    ///
    /// # Errors
    ///
    /// When another node does not release it in time, or the lock cannot be written.
    fn lock<'a>(&'a self, key: &'a CredentialKey) -> CredentialFuture<'a, String>;

    /// Releases a lock. One that is not released expires.
    fn unlock<'a>(&'a self, key: &'a CredentialKey, lock: &'a str) -> BoxFuture<'a, ()>;
}

/// The future of an operation of a [`CredentialStore`].
pub type CredentialFuture<'a, T> = BoxFuture<'a, Result<T, CredentialError>>;

/// The server that a credential is for, and its holder.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CredentialKey {
    /// The name of the server.
    pub server: String,
    /// The holder.
    pub holder: CredentialHolder,
}

impl CredentialKey {
    /// The credential that all callers share.
    pub fn shared(server: impl Into<String>) -> Self {
        Self { server: server.into(), holder: CredentialHolder::Shared }
    }

    /// The credential of one person; `None` is the operator.
    pub fn personal(server: impl Into<String>, subject: Option<&str>) -> Self {
        let holder = CredentialHolder::Person(subject.map(str::to_owned));
        Self { server: server.into(), holder }
    }
}

/// The holder of a credential.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CredentialHolder {
    /// All callers share it.
    Shared,
    /// One person, by the subject; `None` is the operator.
    Person(Option<String>),
}

/// A credential as it is stored.
#[derive(Clone, Debug)]
pub struct StoredCredential {
    /// The credential.
    pub credential: Credential,
    /// Identifies this version of it, for [`CredentialStore::replace`].
    pub version: String,
}

/// Why a credential cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CredentialError {
    /// The shared state cannot be read or written.
    #[error("the credentials for attached servers cannot be read or written now")]
    Unreachable(#[from] SharedStateError),
    /// Another node refreshes the credential, and does not end.
    #[error("another process has been refreshing the credential for too long; try again")]
    Locked,
    /// No key decrypts the credential.
    #[error(
        "the credential for `{server}` was encrypted with a key that is not known here: use the same key at every node, or log in again"
    )]
    UnknownKey {
        /// The name of the server.
        server: String,
    },
    /// The credential was changed or belongs elsewhere.
    #[error("the credential for `{server}` is damaged: log in again")]
    Damaged {
        /// The name of the server.
        server: String,
    },
    /// The keys are malformed.
    #[error("{origin} has no valid key: a key is 64 hexadecimal digits")]
    InvalidKeys {
        /// The file or the variable.
        origin: String,
    },
    /// The file of the keys cannot be read or written.
    #[error("the key file {} cannot be read or written", path.display())]
    KeyFile {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// Others may read the keys.
    #[error("others may read the keys in {}: allow only its owner to (chmod 600)", path.display())]
    ReadableByOthers {
        /// The file.
        path: PathBuf,
    },
    /// The operating system has no random numbers, or encryption failed.
    #[error("nothing can be encrypted: {0}")]
    Encryption(String),
}
