//! Where conversations are kept, in one line, in; the store out.

use std::sync::Arc;

use toolwright_chat::{MemoryStore, Store, StoreError};

/// Opens the store that a URL names: `memory:`, `sqlite:FILE` or `postgres://USER@HOST/DATABASE`.
///
/// What is missing is made: the file, its directory, the tables.
///
/// # Errors
///
/// When nobody knows the scheme, or the store cannot be opened; what to do about it. A password in the URL is not repeated.
///
/// # Examples
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let store = toolwright_memory::open("memory:").await?;
/// assert!(store.list(10).await?.is_empty());
///
/// let error = toolwright_memory::open("papyrus:").await.err().unwrap();
/// assert!(error.to_string().contains("sqlite:FILE"));
/// # Ok::<(), toolwright::chat::StoreError>(()) }).unwrap();
/// ```
pub async fn open(url: &str) -> Result<Arc<dyn Store>, StoreError> {
    let (scheme, rest) = url.split_once(':').unwrap_or((url, ""));
    match scheme {
        "memory" if rest.is_empty() => Ok(Arc::new(MemoryStore::new())),
        "sqlite" => sqlite(rest).await,
        "postgres" | "postgresql" => postgres(url).await,
        _ => Err(StoreError::new(format!(
            "no store is called `{scheme}:`; there are `memory:`, `sqlite:FILE` and `postgres://USER@HOST/DATABASE`"
        ))),
    }
}

/// Opens a store as [`open`] does, unless it is a file that is not there: for programs that only look at what is stored.
///
/// # Errors
///
/// As [`open`], and when there is no such file.
pub async fn open_existing(url: &str) -> Result<Arc<dyn Store>, StoreError> {
    if let Some(file) = url.strip_prefix("sqlite:").map(path)
        && !file.is_empty()
        && !std::path::Path::new(file).exists()
    {
        return Err(StoreError::new(format!(
            "there is no file `{file}`: check the path, or name another store"
        )));
    }
    open(url).await
}

/// The path after `sqlite:`; `sqlite://FILE` is how others write it.
fn path(file: &str) -> &str {
    file.strip_prefix("//").unwrap_or(file)
}

#[cfg(feature = "sqlite")]
async fn sqlite(file: &str) -> Result<Arc<dyn Store>, StoreError> {
    let file = path(file);
    match file {
        "" => Err(StoreError::new(
            "`sqlite:` names no file: write `sqlite:FILE`",
        )),
        ":memory:" => Err(StoreError::new(
            "what is kept in memory needs no SQLite: write `memory:`",
        )),
        _ => Ok(Arc::new(crate::SqliteStore::open(file).await?)),
    }
}

#[cfg(feature = "postgres")]
async fn postgres(url: &str) -> Result<Arc<dyn Store>, StoreError> {
    Ok(Arc::new(crate::PostgresStore::connect(url).await?))
}

#[cfg(not(feature = "sqlite"))]
async fn sqlite(_: &str) -> Result<Arc<dyn Store>, StoreError> {
    Err(left_out("sqlite"))
}

#[cfg(not(feature = "postgres"))]
async fn postgres(_: &str) -> Result<Arc<dyn Store>, StoreError> {
    Err(left_out("postgres"))
}

#[cfg(not(all(feature = "sqlite", feature = "postgres")))]
fn left_out(feature: &str) -> StoreError {
    StoreError::new(format!(
        "this program was built without `{feature}:`; build it with the feature `{feature}` of toolwright"
    ))
}

#[cfg(all(test, not(feature = "postgres")))]
mod tests {
    #[tokio::test]
    async fn a_missing_feature_is_one_of_the_crate_that_programs_depend_on() {
        let refused = super::open("postgres://localhost/x").await;
        let told = refused.err().map(|error| error.to_string());
        let told = told.unwrap_or_default();
        assert!(
            told.ends_with("the feature `postgres` of toolwright"),
            "{told}"
        );
    }
}
