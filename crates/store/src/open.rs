//! Opens a store by its URL.

use std::sync::Arc;

use toolwright_chat::{MemoryStore, Store, StoreError};

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
    Ok(match open_kind(url).await? {
        OpenStore::Memory => Arc::new(MemoryStore::new()),
        #[cfg(feature = "sqlite")]
        OpenStore::Sqlite(store) => store,
        #[cfg(feature = "postgres")]
        OpenStore::Postgres(store) => store,
    })
}

/// A store by its kind.
pub(crate) enum OpenStore {
    Memory,
    #[cfg(feature = "sqlite")]
    Sqlite(Arc<crate::SqliteStore>),
    #[cfg(feature = "postgres")]
    Postgres(Arc<crate::PostgresStore>),
}

/// Opens a store as [`open`] does.
pub(crate) async fn open_kind(url: &str) -> Result<OpenStore, StoreError> {
    let (scheme, rest) = url.split_once(':').unwrap_or((url, ""));
    match scheme {
        "memory" if rest.is_empty() => Ok(OpenStore::Memory),
        "sqlite" => sqlite(rest).await,
        "postgres" | "postgresql" => postgres(url).await,
        _ => Err(StoreError::new(format!(
            "no store is called `{scheme}:`; there are `memory:`, `sqlite:FILE` and `postgres://USER@HOST/DATABASE`"
        ))),
    }
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

/// Returns an error if the file of a SQLite store does not exist.
pub(crate) fn check_exists(url: &str) -> Result<(), StoreError> {
    if let Some(file) = url.strip_prefix("sqlite:").map(file_path)
        && !file.is_empty()
        && !std::path::Path::new(file).exists()
    {
        return Err(StoreError::new(format!(
            "there is no file `{file}`: check the path, or name another store"
        )));
    }
    Ok(())
}

/// The path after `sqlite:`; also accepts `sqlite://FILE`, which other programs use.
fn file_path(file: &str) -> &str {
    file.strip_prefix("//").unwrap_or(file)
}

#[cfg(feature = "sqlite")]
async fn sqlite(file: &str) -> Result<OpenStore, StoreError> {
    let file = file_path(file);
    match file {
        "" => Err(StoreError::new("`sqlite:` names no file: write `sqlite:FILE`")),
        ":memory:" => Err(StoreError::new(
            "SQLite in memory is not supported: write `memory:` for a store in memory",
        )),
        _ => Ok(OpenStore::Sqlite(Arc::new(crate::SqliteStore::open(file).await?))),
    }
}

#[cfg(feature = "postgres")]
async fn postgres(url: &str) -> Result<OpenStore, StoreError> {
    Ok(OpenStore::Postgres(Arc::new(crate::PostgresStore::connect(url).await?)))
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
