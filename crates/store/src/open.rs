//! Opens a store by its URL.

use std::sync::Arc;

use futures::future::BoxFuture;
use toolwright_chat::{MemoryStore, Store, StoreError, StoreScope};

#[cfg(any(feature = "sqlite", feature = "postgres"))]
use crate::rows::RowSource;

/// A kind of store, which the scheme of a URL names.
///
/// # Examples
///
/// ```
/// use toolwright::chat::StoreScope;
/// use toolwright::store::StoreKind;
///
/// let kind = StoreKind::of_url("postgres://toolwright@db/toolwright").unwrap();
/// assert_eq!((kind.name, kind.scope), ("PostgreSQL", StoreScope::Cluster));
/// assert!(StoreKind::of_url("papyrus:").is_none());
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct StoreKind {
    /// What people call it.
    pub name: &'static str,
    /// Which processes may use the same store, as [`Store::scope`] returns it.
    pub scope: StoreScope,
    /// The first is in the example of a URL.
    schemes: &'static [&'static str],
    /// What follows the scheme in the example of a URL.
    rest: &'static str,
    /// Where its conversations are; `None` for the file that the URL names.
    location: Option<&'static str>,
    open: fn(&str) -> BoxFuture<'_, Result<OpenStore, StoreError>>,
}

/// All kinds of stores.
const KINDS: &[StoreKind] = &[
    StoreKind {
        name: "a store in memory",
        scope: StoreScope::Process,
        schemes: &["memory"],
        rest: "",
        location: Some("memory"),
        open: |url| Box::pin(memory(url)),
    },
    StoreKind {
        name: "SQLite",
        scope: StoreScope::Machine,
        schemes: &["sqlite"],
        rest: "FILE",
        location: None,
        open: |url| Box::pin(sqlite(url)),
    },
    StoreKind {
        name: "PostgreSQL",
        scope: StoreScope::Cluster,
        schemes: &["postgres", "postgresql"],
        rest: "//USER@HOST/DATABASE",
        location: Some("PostgreSQL"),
        open: |url| Box::pin(postgres(url)),
    },
];

impl StoreKind {
    /// Returns the kind of store that a URL names; `None` if its scheme is unknown.
    pub fn of_url(url: &str) -> Option<&'static Self> {
        let scheme = split(url).0;
        KINDS.iter().find(|kind| kind.schemes.contains(&scheme))
    }

    /// Returns where the store of a URL has its conversations, without credentials.
    pub fn location<'a>(&self, url: &'a str) -> &'a str {
        self.location.unwrap_or(split(url).1)
    }
}

/// The scheme of a URL, and what follows it.
fn split(url: &str) -> (&str, &str) {
    url.split_once(':').unwrap_or((url, ""))
}

fn unknown(url: &str) -> StoreError {
    let example = |kind: &StoreKind| {
        let scheme = kind.schemes.first().copied().unwrap_or_default();
        format!("`{scheme}:{}`", kind.rest)
    };
    let examples: Vec<String> = KINDS.iter().map(example).collect();
    let scheme = split(url).0;
    StoreError::new(format!("no store is called `{scheme}:`; there are {}", examples.join(", ")))
}

/// Opens the store that a URL names: `memory:`, `sqlite:FILE` or `postgres://USER@HOST/DATABASE`.
///
/// Creates what is missing: the file, its directory, the tables.
///
/// # Errors
///
/// When the scheme is unknown or the store cannot be opened. The message states the remedy and omits a password in the URL.
///
/// # Examples
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let store = toolwright::store::open("memory:").await?;
/// assert!(store.list(10).await?.is_empty());
///
/// let error = toolwright::store::open("papyrus:").await.err().unwrap();
/// assert!(error.to_string().contains("sqlite:FILE"));
/// # Ok::<(), toolwright::chat::StoreError>(()) }).unwrap();
/// ```
pub async fn open(url: &str) -> Result<Arc<dyn Store>, StoreError> {
    Ok(open_kind(url).await?.store)
}

/// A store, with what backups need of it.
pub(crate) struct OpenStore {
    pub(crate) store: Arc<dyn Store>,
    /// Its rows; `None` for a store that cannot be read from outside.
    #[cfg(any(feature = "sqlite", feature = "postgres"))]
    pub(crate) rows: Option<Arc<dyn RowSource>>,
}

/// Opens a store as [`open`] does.
pub(crate) async fn open_kind(url: &str) -> Result<OpenStore, StoreError> {
    let kind = StoreKind::of_url(url).ok_or_else(|| unknown(url))?;
    (kind.open)(url).await
}

/// Opens a store as [`open`] does, but creates no file: for programs that only read.
///
/// # Errors
///
/// As [`open`], and when the file of a SQLite store does not exist.
pub async fn open_existing(url: &str) -> Result<Arc<dyn Store>, StoreError> {
    check_exists(url)?;
    open(url).await
}

/// Returns an error if a URL names a file that does not exist.
pub(crate) fn check_exists(url: &str) -> Result<(), StoreError> {
    let file = file_path(split(url).1);
    let is_file = StoreKind::of_url(url).is_some_and(|kind| kind.location.is_none());
    if is_file && !file.is_empty() && !std::path::Path::new(file).exists() {
        return Err(StoreError::new(format!(
            "there is no file `{file}`: check the path, or name another store"
        )));
    }
    Ok(())
}

/// The path after the scheme; also accepts `sqlite://FILE`, which other programs use.
fn file_path(file: &str) -> &str {
    file.strip_prefix("//").unwrap_or(file)
}

async fn memory(url: &str) -> Result<OpenStore, StoreError> {
    if !split(url).1.is_empty() {
        return Err(unknown(url));
    }
    Ok(OpenStore {
        store: Arc::new(MemoryStore::new()),
        #[cfg(any(feature = "sqlite", feature = "postgres"))]
        rows: None,
    })
}

#[cfg(feature = "sqlite")]
async fn sqlite(url: &str) -> Result<OpenStore, StoreError> {
    let file = file_path(split(url).1);
    match file {
        "" => Err(StoreError::new("`sqlite:` names no file: write `sqlite:FILE`")),
        ":memory:" => Err(StoreError::new(
            "SQLite in memory is not supported: write `memory:` for a store in memory",
        )),
        _ => Ok(OpenStore::with_rows(crate::SqliteStore::open(file).await?)),
    }
}

#[cfg(feature = "postgres")]
async fn postgres(url: &str) -> Result<OpenStore, StoreError> {
    Ok(OpenStore::with_rows(crate::PostgresStore::connect(url).await?))
}

#[cfg(any(feature = "sqlite", feature = "postgres"))]
impl OpenStore {
    fn with_rows(store: impl Store + RowSource) -> Self {
        let store = Arc::new(store);
        Self { store: Arc::clone(&store) as Arc<dyn Store>, rows: Some(store) }
    }
}

#[cfg(not(feature = "sqlite"))]
async fn sqlite(_: &str) -> Result<OpenStore, StoreError> {
    Err(missing_feature("sqlite"))
}

#[cfg(not(feature = "postgres"))]
async fn postgres(_: &str) -> Result<OpenStore, StoreError> {
    Err(missing_feature("postgres"))
}

#[cfg(not(all(feature = "sqlite", feature = "postgres")))]
fn missing_feature(feature: &str) -> StoreError {
    StoreError::new(format!(
        "this program was built without `{feature}:`; build it with the feature `{feature}` of toolwright"
    ))
}

#[cfg(all(test, not(feature = "postgres")))]
mod tests {
    #[tokio::test]
    async fn a_missing_feature_is_one_of_the_crate_that_programs_depend_on() {
        let opened = super::open("postgres://localhost/x").await;
        let message = opened.err().map(|error| error.to_string());
        let message = message.unwrap_or_default();
        assert!(message.ends_with("the feature `postgres` of toolwright"), "{message}");
    }
}
