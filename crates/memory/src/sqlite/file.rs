//! A path in, a file that only its owner can read out.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::Path;

use toolwright_chat::StoreError;

/// Makes the file and its directory where they are missing; what SQLite puts beside it gets the same permissions.
pub(super) fn make(path: &Path) -> Result<(), StoreError> {
    let shown = path.display();
    if path.is_dir() {
        return Err(StoreError::new(format!(
            "`{shown}` is a directory: name a file in it"
        )));
    }
    let directory = path.parent().filter(|it| !it.as_os_str().is_empty());
    if let Some(directory) = directory
        && !directory.is_dir()
    {
        make_directory(directory).map_err(|error| {
            let directory = directory.display();
            StoreError::new(format!(
                "the directory `{directory}` cannot be made: make it, or name another file"
            ))
            .with_source(error)
        })?;
    }
    open(path).map(drop).map_err(|error| trouble(path, error))
}

/// Says why a file cannot be made or opened.
pub(super) fn trouble(path: &Path, error: io::Error) -> StoreError {
    let (why, what) = match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            ("written", "allow it, or name another file")
        }
        io::ErrorKind::StorageFull => ("made", "the disk is full, make room"),
        _ => ("opened", "name another file"),
    };
    StoreError::new(format!("`{}` cannot be {why}: {what}", path.display())).with_source(error)
}

fn make_directory(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Opens a file for its owner only, and for writing: what cannot be written is known at once.
pub(super) fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
