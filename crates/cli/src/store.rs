//! An address in, the store that keeps conversations out.

use std::sync::Arc;

use toolwright_chat::{Store, StoreError};
use toolwright_core::{Config, Origin};

use crate::data;
use crate::failure::{Failure, chain};

const MEMORY: &str = "memory:";

/// Every address that can be opened, by how it begins.
const SCHEMES: [&str; 4] = [MEMORY, "sqlite:", "postgres:", "postgresql:"];

/// Where conversations are kept when nobody says where.
#[derive(Clone, Copy)]
pub(crate) enum Otherwise {
    /// For as long as the process lives.
    Memory,
    /// In a SQLite file among the user's data.
    Data,
}

/// The store that a chat and its commands share.
#[derive(Clone)]
pub(crate) struct Kept {
    store: Arc<dyn Store>,
    url: String,
}

impl Kept {
    /// Opens the store that `--store` or the settings name.
    pub(crate) async fn open(config: &Config, otherwise: Otherwise) -> Result<Self, Failure> {
        let url = match (named(config)?, otherwise) {
            (Some(url), _) => url,
            (None, Otherwise::Memory) => MEMORY.to_owned(),
            (None, Otherwise::Data) => file()?,
        };
        let opened = toolwright_memory::open(&url).await;
        Self::opened(config, url, opened)
    }

    /// Opens the store as [`open`](Self::open) does, but makes none where one is named: there is nothing in it to look at.
    pub(crate) async fn open_existing(config: &Config) -> Result<Self, Failure> {
        match named(config)? {
            Some(url) => {
                let opened = toolwright_memory::open_existing(&url).await;
                Self::opened(config, url, opened)
            }
            None => Self::open(config, Otherwise::Data).await,
        }
    }

    fn opened(
        config: &Config,
        url: String,
        opened: Result<Arc<dyn Store>, StoreError>,
    ) -> Result<Self, Failure> {
        match opened {
            Ok(store) => Ok(Self { store, url }),
            Err(error) => Err(refused(config.origin("store"), &url, &error)),
        }
    }

    /// The store.
    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Whether anything is left when the process ends.
    pub(crate) fn keeps(&self) -> bool {
        self.url != MEMORY
    }

    /// Where that is, without the passwords that an address may have.
    pub(crate) fn place(&self) -> &str {
        match self.url.strip_prefix("sqlite:") {
            Some(file) => file,
            None if self.keeps() => "PostgreSQL",
            None => "memory",
        }
    }
}

/// The address that `--store` or the settings name.
fn named(config: &Config) -> Result<Option<String>, Failure> {
    let named = config.get_optional("store");
    named.map_err(|error| Failure::finding(&error))
}

/// The address of the file among the user's data; memory where this program has no SQLite.
fn file() -> Result<String, Failure> {
    if !cfg!(feature = "sqlite") {
        return Ok(MEMORY.to_owned());
    }
    let file = data::place("conversations.sqlite");
    let file = file.as_deref().and_then(|file| file.to_str());
    match file {
        Some(file) => Ok(format!("sqlite:{file}")),
        None => Err(Failure::told(
            "there is no home to keep conversations in: set HOME, or pass --store sqlite:FILE or --store memory:",
        )),
    }
}

/// Says who named the store that cannot be opened; one that nobody could open is a wrong command line.
fn refused(origin: Option<&Origin>, url: &str, error: &StoreError) -> Failure {
    let known = SCHEMES.iter().any(|scheme| url.starts_with(scheme));
    let message = chain(error);
    match origin {
        Some(Origin::Flag { name }) if !known => Failure::usage(format!("{name}: {message}")),
        Some(origin) => Failure::told(format!("{origin}: {message}")),
        None => Failure::told(format!(
            "{message}; --store names another store, and --store memory: keeps nothing"
        )),
    }
}
