//! An address in, the store that keeps conversations out.

use std::sync::Arc;

use futures::future::BoxFuture;
use toolwright_chat::{Entry, MemoryStore, Store, StoreError};
use toolwright_core::{Config, Origin, Secret};

use crate::failure::Failure;

/// The store that a chat and its commands share.
#[derive(Clone)]
pub(crate) struct Kept(Arc<dyn Store>);

impl Kept {
    /// Opens the store that `--store` or the settings name; without, conversations are kept in memory.
    pub(crate) fn open(config: &Config) -> Result<Self, Failure> {
        let url: Option<String> = config
            .find("store")
            .map_err(|error| Failure::finding(&error))?;
        match url.as_deref() {
            None | Some("memory:") => Ok(Self(Arc::new(MemoryStore::new()))),
            Some(other) => {
                let message = format!("there is no store `{other}`: only `memory:` is there yet");
                Err(match config.origin("store") {
                    Some(Origin::Flag { name }) => Failure::usage(format!("{name}: {message}")),
                    Some(origin) => Failure::told(format!("{origin}: {message}")),
                    None => Failure::told(message),
                })
            }
        }
    }
}

impl Store for Kept {
    fn append<'a>(
        &'a self,
        conversation: &'a str,
        entries: &'a [Entry],
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        self.0.append(conversation, entries)
    }

    fn load<'a>(&'a self, conversation: &'a str) -> BoxFuture<'a, Result<Vec<Entry>, StoreError>> {
        self.0.load(conversation)
    }

    fn key(&self) -> BoxFuture<'_, Result<Secret, StoreError>> {
        self.0.key()
    }
}
