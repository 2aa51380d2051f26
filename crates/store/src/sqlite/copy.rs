//! Copies of a file, which appear under their name when they are complete.

use std::ffi::OsString;
use std::fs::{File, remove_file, rename};
use std::path::{Path, PathBuf};

use sqlx::{ConnectOptions as _, Connection as _};
use toolwright_chat::StoreError;

use super::{SqliteStore, error, file};

impl SqliteStore {
    /// Copies the file as it is at this moment, without leases and without what expires; reads and writes go on meanwhile.
    pub(super) async fn copy_file_into(&self, target: &Path) -> Result<(), StoreError> {
        let part = PartialFile::create(target)?;
        let name = part.path.to_str().ok_or_else(|| {
            StoreError::new(format!("`{}` is not Unicode: name another file", target.display()))
        })?;
        // A connection of its own: the others wait for nothing.
        let options = self.readers.connect_options();
        let options = (*options).clone().pragma("query_only", "off");
        let copy = async {
            let mut connection = options.connect().await?;
            sqlx::query("VACUUM INTO ?").bind(name).execute(&mut connection).await?;
            connection.close().await?;
            let mut connection = options.filename(&part.path).connect().await?;
            sqlx::query(
                "UPDATE conversations SET holder = NULL, process = NULL, until = NULL, duration = NULL",
            )
            .execute(&mut connection)
            .await?;
            sqlx::query("DELETE FROM shared WHERE expires IS NOT NULL")
                .execute(&mut connection)
                .await?;
            connection.close().await
        };
        copy.await.map_err(|error| {
            let path = if error::is_damaged(&error) { &self.path } else { target };
            error::store_error(path, error)
        })?;
        part.publish(target)
    }

    /// Creates a file, lets `write` fill it, and closes it.
    pub(crate) async fn write_new(
        target: &Path,
        write: impl AsyncFnOnce(&Self) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let part = PartialFile::create(target)?;
        let store = Self::open(&part.path).await?;
        write(&store).await?;
        store.writer.pool.close().await;
        store.readers.close().await;
        drop(store);
        part.publish(target)
    }
}

/// A file with a temporary name; removed when it is dropped, unless it was published.
struct PartialFile {
    path: PathBuf,
}

impl PartialFile {
    /// Creates the file beside the target, which must not exist.
    fn create(target: &Path) -> Result<Self, StoreError> {
        if target.exists() {
            return Err(StoreError::new(format!(
                "`{}` exists already: name another file",
                target.display()
            )));
        }
        let mut path = OsString::from(target);
        path.push(format!("-partial-{}", toolwright_chat::random_hex(4)?));
        let part = Self { path: path.into() };
        file::create(&part.path)?;
        Ok(part)
    }

    /// Syncs the file, and gives it the name of the target.
    fn publish(self, target: &Path) -> Result<(), StoreError> {
        let publish = || {
            File::open(&self.path)?.sync_all()?;
            rename(&self.path, target)?;
            // Elsewhere a directory cannot be opened.
            if cfg!(unix) {
                let directory = target.parent().filter(|it| !it.as_os_str().is_empty());
                File::open(directory.unwrap_or(Path::new(".")))?.sync_all()?;
            }
            Ok(())
        };
        publish().map_err(|error| file::store_error(target, error))
    }
}

impl Drop for PartialFile {
    fn drop(&mut self) {
        let _ = remove_file(&self.path);
    }
}
