//! Credentials in memory, for one process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tokio::sync::OwnedMutexGuard;
use toolwright_core::BoxFuture;

use super::{
    Credential, CredentialError, CredentialFuture, CredentialKey, CredentialStore, StoredCredential,
};
use crate::lock::lock;

/// Credentials that are lost when the process ends.
#[derive(Default)]
pub struct MemoryCredentials(Mutex<Entries>);

#[derive(Default)]
struct Entries {
    credentials: HashMap<CredentialKey, StoredCredential>,
    next_version: u64,
    refreshes: HashMap<CredentialKey, Arc<tokio::sync::Mutex<()>>>,
    held: HashMap<String, OwnedMutexGuard<()>>,
}

impl Entries {
    fn next_version(&mut self) -> String {
        self.next_version += 1;
        self.next_version.to_string()
    }

    fn set(&mut self, key: &CredentialKey, credential: &Credential) {
        let version = self.next_version();
        let stored = StoredCredential { credential: credential.clone(), version };
        self.credentials.insert(key.clone(), stored);
    }
}

impl MemoryCredentials {
    /// Creates an empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn run<'a, T: Send + 'a>(
        &'a self,
        operation: impl FnOnce(&mut Entries) -> T + Send + 'a,
    ) -> CredentialFuture<'a, T> {
        Box::pin(async move { Ok(operation(&mut lock(&self.0))) })
    }
}

impl CredentialStore for MemoryCredentials {
    fn load<'a>(
        &'a self,
        key: &'a CredentialKey,
    ) -> CredentialFuture<'a, Option<StoredCredential>> {
        self.run(|entries| entries.credentials.get(key).cloned())
    }

    fn replace<'a>(
        &'a self,
        key: &'a CredentialKey,
        expected: Option<&'a StoredCredential>,
        credential: &'a Credential,
    ) -> CredentialFuture<'a, bool> {
        self.run(move |entries| {
            let current = entries.credentials.get(key).map(|stored| &stored.version);
            let is_expected = current == expected.map(|stored| &stored.version);
            if is_expected {
                entries.set(key, credential);
            }
            is_expected
        })
    }

    fn put<'a>(
        &'a self,
        key: &'a CredentialKey,
        credential: &'a Credential,
    ) -> CredentialFuture<'a, ()> {
        self.run(move |entries| entries.set(key, credential))
    }

    fn remove<'a>(&'a self, key: &'a CredentialKey) -> CredentialFuture<'a, bool> {
        self.run(|entries| entries.credentials.remove(key).is_some())
    }

    fn list<'a>(
        &'a self,
        server: &'a str,
    ) -> CredentialFuture<'a, Vec<(CredentialKey, Credential)>> {
        self.run(move |entries| {
            let all = entries.credentials.iter().filter(|(key, _)| key.server == server);
            all.map(|(key, stored)| (key.clone(), stored.credential.clone())).collect()
        })
    }

    fn lock<'a>(&'a self, key: &'a CredentialKey) -> CredentialFuture<'a, String> {
        Box::pin(async move {
            let refresh = Arc::clone(lock(&self.0).refreshes.entry(key.clone()).or_default());
            let guard = refresh.lock_owned().await;
            let mut entries = lock(&self.0);
            let id = entries.next_version();
            entries.held.insert(id.clone(), guard);
            Ok::<_, CredentialError>(id)
        })
    }

    fn unlock<'a>(&'a self, _: &'a CredentialKey, id: &'a str) -> BoxFuture<'a, ()> {
        Box::pin(async move { drop(lock(&self.0).held.remove(id)) })
    }
}
