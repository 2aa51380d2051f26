//! Opens the conversation store that `--store` or the setting `store` names.

use std::sync::Arc;

use toolwright_chat::{Store, StoreError, StoreScope};
use toolwright_core::{Config, Origin};
use toolwright_store::StoreKind;

use super::Project;
use crate::error::{AppError, error_chain};

const MEMORY_URL: &str = "memory:";

/// In place of a URL where the program has opened the store itself.
const PROGRAM_STORE: &str = "program:";
const PROGRAM_STORE_NAME: &str = "the program's own store";

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
        project: &Project,
        default_store: DefaultStore,
    ) -> Result<Self, AppError> {
        let url = match (configured_url(project.config())?, default_store) {
            (None, DefaultStore::Memory) => MEMORY_URL.to_owned(),
            _ => store_url(project)?,
        };
        let opened = toolwright_store::open(&url).await;
        Self::from_open_result(project.config(), url, opened)
    }

    /// Opens the configured store without creating it, else the file in the user's data directory.
    pub(crate) async fn open_existing(project: &Project) -> Result<Self, AppError> {
        match configured_url(project.config())? {
            Some(url) => {
                let opened = toolwright_store::open_existing(&url).await;
                Self::from_open_result(project.config(), url, opened)
            }
            None => Self::open(project, DefaultStore::UserDataFile).await,
        }
    }

    /// A store that the program has opened itself.
    pub(crate) fn of_program(store: Arc<dyn Store>) -> Self {
        Self { store, url: PROGRAM_STORE.to_owned() }
    }

    fn from_open_result(
        config: &Config,
        url: String,
        opened: Result<Arc<dyn Store>, StoreError>,
    ) -> Result<Self, AppError> {
        match opened {
            Ok(store) => Ok(Self { store, url }),
            Err(error) => Err(open_error(config.origin("store"), &url, &error)),
        }
    }

    /// The store.
    pub(crate) fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Returns true if conversations outlive the process.
    pub(crate) fn is_persistent(&self) -> bool {
        self.url != MEMORY_URL
    }

    /// Returns true if the nodes of a cluster may share the store.
    pub(crate) fn is_of_cluster(&self) -> bool {
        self.store.scope() == StoreScope::Cluster
    }

    /// The URL of the store; `None` if the program has opened it itself.
    pub(crate) fn url(&self) -> Option<&str> {
        (self.url != PROGRAM_STORE).then_some(&*self.url)
    }

    /// What people call the store.
    pub(crate) fn name(&self) -> &'static str {
        StoreKind::of_url(&self.url).map_or(PROGRAM_STORE_NAME, |kind| kind.name)
    }

    /// Where conversations are stored, without the credentials of the URL.
    pub(crate) fn location(&self) -> &str {
        StoreKind::of_url(&self.url).map_or(PROGRAM_STORE_NAME, |kind| kind.location(&self.url))
    }
}

/// The URL of the configured store if the nodes of a cluster may share it.
pub(crate) fn cluster_store_url(project: &Project) -> Result<Option<String>, AppError> {
    let is_of_cluster =
        |url: &String| StoreKind::of_url(url).is_some_and(|kind| kind.scope == StoreScope::Cluster);
    Ok(configured_url(project.config())?.filter(is_of_cluster))
}

/// The URL of the configured store, else of the file in the user's data directory.
pub(crate) fn store_url(project: &Project) -> Result<String, AppError> {
    match configured_url(project.config())? {
        Some(url) => Ok(url),
        None => user_data_url(project),
    }
}

/// The URL from `--store` or the setting `store`.
fn configured_url(config: &Config) -> Result<Option<String>, AppError> {
    Ok(config.get_optional("store")?)
}

/// The URL of the file in the user's data directory; `memory:` if the program is built without SQLite.
fn user_data_url(project: &Project) -> Result<String, AppError> {
    if !cfg!(feature = "sqlite") {
        return Ok(MEMORY_URL.to_owned());
    }
    let file = project.data_file("conversations.sqlite");
    let file = file.as_deref().and_then(|file| file.to_str());
    match file {
        Some(file) => Ok(format!("sqlite:{file}")),
        None => Err(AppError::new(
            "there is no home to keep conversations in: set HOME, or pass --store sqlite:FILE or --store memory:",
        )),
    }
}

/// Names the setting or flag that the URL came from. An unknown scheme in `--store` is a usage error.
fn open_error(origin: Option<&Origin>, url: &str, error: &StoreError) -> AppError {
    let known = url.contains(':') && StoreKind::of_url(url).is_some();
    let message = error_chain(error);
    match origin {
        Some(Origin::Flag { name }) if !known => AppError::usage(format!("{name}: {message}")),
        Some(origin) => AppError::new(format!("{origin}: {message}")),
        None => AppError::new(format!(
            "{message}; --store names another store, and --store memory: keeps nothing"
        )),
    }
}
