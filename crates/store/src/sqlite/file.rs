//! Creates the database file, readable and writable by its owner only.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

use toolwright_chat::StoreError;

/// Creates the file and its directory if they do not exist. SQLite gives its log files the same permissions.
pub(super) fn create(path: &Path) -> Result<(), StoreError> {
    let shown = path.display();
    if path.is_dir() {
        return Err(StoreError::new(format!("`{shown}` is a directory: name a file in it")));
    }
    let directory = path.parent().filter(|it| !it.as_os_str().is_empty());
    if let Some(directory) = directory
        && !directory.is_dir()
    {
        create_directory(directory).map_err(|error| {
            let directory = directory.display();
            StoreError::new(format!(
                "the directory `{directory}` cannot be made: make it, or name another file"
            ))
            .with_source(error)
        })?;
    }
    open(path).map(drop).map_err(|error| store_error(path, error))
}

/// Describes why a file cannot be created or opened, and what to do about it.
pub(super) fn store_error(path: &Path, error: io::Error) -> StoreError {
    let (action, remedy) = match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            ("written", "allow it, or name another file")
        }
        io::ErrorKind::StorageFull => ("made", "the disk is full, make room"),
        _ => ("opened", "name another file"),
    };
    StoreError::new(format!("`{}` cannot be {action}: {remedy}", path.display())).with_source(error)
}

fn create_directory(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Opens a file for writing, so that a read-only one fails here; a new one is accessible to its owner only.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
