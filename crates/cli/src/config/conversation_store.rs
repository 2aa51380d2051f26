//! Opens the conversation store that `--store` or the setting `store` names.

use std::sync::Arc;

use toolwright_chat::{Store, StoreError};
use toolwright_core::{Config, Origin};

use crate::cli_error::{CliError, error_chain};
use crate::config::data_dir;

const MEMORY_URL: &str = "memory:";

/// The schemes of the URLs that can be opened.
const URL_SCHEMES: [&str; 4] = [MEMORY_URL, "sqlite:", "postgres:", "postgresql:"];

/// The store if neither `--store` nor the settings name one.
#[derive(Clone, Copy)]
pub(crate) enum DefaultStore {
    /// In memory, until the process ends.
    Memory,
    /// A SQLite file in the user's data directory.
    UserDataFile,
}

/// An open store and its URL.
#[derive(Clone)]
pub(crate) struct ConversationStore {
    store: Arc<dyn Store>,
    url: String,
}

impl ConversationStore {
    /// Opens the configured store, else the default one; creates it if it does not exist.
    pub(crate) async fn open(
        config: &Config,
        default_store: DefaultStore,
    ) -> Result<Self, CliError> {
        let url = match (configured_url(config)?, default_store) {
            (None, DefaultStore::Memory) => MEMORY_URL.to_owned(),
            _ => store_url(config)?,
        };
        let opened = toolwright_store::open(&url).await;
        Self::from_open_result(config, url, opened)
    }

    /// Opens the configured store without creating it, else the file in the user's data directory.
    pub(crate) async fn open_existing(config: &Config) -> Result<Self, CliError> {
        match configured_url(config)? {
            Some(url) => {
                let opened = toolwright_store::open_existing(&url).await;
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

    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Returns true if conversations outlive the process.
    pub(crate) fn is_persistent(&self) -> bool {
        self.url != MEMORY_URL
    }

    /// Where conversations are stored, without the credentials of the URL.
    pub(crate) fn location(&self) -> &str {
        match self.url.strip_prefix("sqlite:") {
            Some(file) => file,
            None if self.is_persistent() => "PostgreSQL",
            None => "memory",
        }
    }
}

/// The URL of the configured store, else of the file in the user's data directory.
pub(crate) fn store_url(config: &Config) -> Result<String, CliError> {
    match configured_url(config)? {
        Some(url) => Ok(url),
        None => user_data_url(),
    }
}

/// The URL from `--store` or the setting `store`.
fn configured_url(config: &Config) -> Result<Option<String>, CliError> {
    Ok(config.get_optional("store")?)
}

/// The URL of the file in the user's data directory; `memory:` if the program is built without SQLite.
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

/// Names the setting or flag that the URL came from. An unknown scheme in `--store` is a usage error.
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
