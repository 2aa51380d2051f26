//! Reads and writes files, with errors that name the file.

use std::fs;
use std::path::Path;

use crate::process::{Program, workspace_root};

/// The text of a file of the workspace, by its path from the root.
pub(crate) fn read(file: &str) -> Result<String, String> {
    fs::read_to_string(workspace_root().join(file)).map_err(|error| format!("{file}: {error}"))
}

/// Writes a file of the workspace, or one with an absolute path; creates its folder.
pub(crate) fn write(file: impl AsRef<Path>, text: &str) -> Result<(), String> {
    let file = workspace_root().join(file);
    let folder = file.parent().map_or(Ok(()), fs::create_dir_all);
    folder
        .and_then(|()| fs::write(&file, text))
        .map_err(|error| format!("{}: {error}", file.display()))
}

/// Copies a file; creates the folder of the copy.
pub(crate) fn copy(from: impl AsRef<Path>, to: &Path) -> Result<(), String> {
    let from = workspace_root().join(from);
    let folder = to.parent().map_or(Ok(()), fs::create_dir_all);
    let copied = folder.and_then(|()| fs::copy(&from, to));
    copied.map(drop).map_err(|error| format!("{} to {}: {error}", from.display(), to.display()))
}

/// Removes a folder, if it exists, and creates it again.
pub(crate) fn clear(folder: &Path) -> Result<(), String> {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))
}

/// The files that match, tracked by git or new and not ignored.
pub(crate) fn tracked(patterns: &[&str]) -> Result<Vec<String>, String> {
    let args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--deduplicate"];
    let listing = Program::git(&args).args(&["--"]).args(patterns).stdout()?;
    let exists = |file: &&str| !file.is_empty() && workspace_root().join(file).is_file();
    Ok(listing.split('\0').filter(exists).map(str::to_owned).collect())
}
