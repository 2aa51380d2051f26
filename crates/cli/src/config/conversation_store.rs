//! An address in, the store that keeps conversations out.

use std::sync::Arc;

use toolwright_chat::{Store, StoreError};
use toolwright_core::{Config, Origin};

use crate::cli_error::{CliError, error_chain};
use crate::config::data_dir;

const MEMORY_URL: &str = "memory:";

/// Every address that can be opened, by how it begins.
const URL_SCHEMES: [&str; 4] = [MEMORY_URL, "sqlite:", "postgres:", "postgresql:"];

/// Where conversations are kept when nobody says where.
#[derive(Clone, Copy)]
pub(crate) enum DefaultStore {
    /// For as long as the process lives.
    Memory,
    /// In a SQLite file among the user's data.
    UserDataFile,
}

/// The store that a chat and its commands share.
#[derive(Clone)]
pub(crate) struct ConversationStore {
    store: Arc<dyn Store>,
    url: String,
}

impl ConversationStore {
    /// Opens the store that `--store` or the settings name.
    pub(crate) async fn open(config: &Config, otherwise: DefaultStore) -> Result<Self, CliError> {
        let url = match (configured_url(config)?, otherwise) {
            (Some(url), _) => url,
            (None, DefaultStore::Memory) => MEMORY_URL.to_owned(),
            (None, DefaultStore::UserDataFile) => user_data_url()?,
        };
        let opened = toolwright_memory::open(&url).await;
        Self::from_open_result(config, url, opened)
    }

    /// Opens the store as [`open`](Self::open) does, but makes none where one is named: there is nothing in it to look at.
    pub(crate) async fn open_existing(config: &Config) -> Result<Self, CliError> {
        match configured_url(config)? {
            Some(url) => {
                let opened = toolwright_memory::open_existing(&url).await;
                Self::from_open_result(config, url, opened)
            }
            None => Self::open(config, DefaultStore::UserDataFile).await,
        }
    }

    fn from_open_result(
        config: &Config,
        url: String,
        opened: Result<Arc<dyn Store>, StoreError>,
    ) -> Result<Self, CliError> {
        match opened {
            Ok(store) => Ok(Self { store, url }),
            Err(error) => Err(open_error(config.origin("store"), &url, &error)),
        }
    }

    /// The store.
    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Whether anything is left when the process ends.
    pub(crate) fn is_persistent(&self) -> bool {
        self.url != MEMORY_URL
    }

    /// Where that is, without the passwords that an address may have.
    pub(crate) fn location(&self) -> &str {
        match self.url.strip_prefix("sqlite:") {
            Some(file) => file,
            None if self.is_persistent() => "PostgreSQL",
            None => "memory",
        }
    }
}

/// The address that `--store` or the settings name.
fn configured_url(config: &Config) -> Result<Option<String>, CliError> {
    let named = config.get_optional("store");
    named.map_err(|error| CliError::from_error(&error))
}

/// The address of the file among the user's data; memory where this program has no SQLite.
fn user_data_url() -> Result<String, CliError> {
    if !cfg!(feature = "sqlite") {
        return Ok(MEMORY_URL.to_owned());
    }
    let file = data_dir::data_file("conversations.sqlite");
    let file = file.as_deref().and_then(|file| file.to_str());
    match file {
        Some(file) => Ok(format!("sqlite:{file}")),
        None => Err(CliError::failure(
            "there is no home to keep conversations in: set HOME, or pass --store sqlite:FILE or --store memory:",
        )),
    }
}

/// Says who named the store that cannot be opened; one that nobody could open is a wrong command line.
fn open_error(origin: Option<&Origin>, url: &str, error: &StoreError) -> CliError {
    let known = URL_SCHEMES.iter().any(|scheme| url.starts_with(scheme));
    let message = error_chain(error);
    match origin {
        Some(Origin::Flag { name }) if !known => CliError::usage(format!("{name}: {message}")),
        Some(origin) => CliError::failure(format!("{origin}: {message}")),
        None => CliError::failure(format!(
            "{message}; --store names another store, and --store memory: keeps nothing"
        )),
    }
}
