//! Reads and writes files, with errors that name the file.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use crate::command_runner::workspace_root;

/// The text of a file of the workspace, by its path from the root.
pub(crate) fn read(file: &str) -> Result<String, String> {
    fs::read_to_string(workspace_root().join(file)).map_err(|error| format!("{file}: {error}"))
}

/// Writes a file; creates its folder.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    create_parent(path)?;
    fs::write(path, bytes).map_err(|error| format!("{}: {error}", path.display()))
}

/// Copies a file; creates the folder of the copy.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<(), String> {
    create_parent(to)?;
    let failed = |error| format!("{} to {}: {error}", from.display(), to.display());
    fs::copy(from, to).map(drop).map_err(failed)
}

/// Removes a folder, if it exists.
pub(crate) fn remove_dir(path: &Path) -> Result<(), String> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(format!("{}: {error}", path.display()))
        }
        _ => Ok(()),
    }
}

fn create_parent(path: &Path) -> Result<(), String> {
    let Some(folder) = path.parent() else {
        return Ok(());
    };
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))
}
