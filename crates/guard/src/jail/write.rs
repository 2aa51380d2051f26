//! Writes files atomically: readers never see a part of the text.

use std::ffi::OsStr;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use cap_std::fs::{Dir, File, OpenOptions, Permissions};

use super::{Jail, JailError, JailPath};

/// The maximum number of names that are tried for a draft.
const MAX_DRAFT_NAMES: usize = 16;

/// What happens to an existing file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriteMode {
    /// It is kept, and the write fails.
    Create,
    /// It is replaced atomically; its permissions are kept.
    Replace,
}

impl Jail {
    /// Writes a text file; its directory must exist.
    ///
    /// The text is written to a draft, a temporary file in the same directory, which then gets the name
    /// atomically: by a hard link for [`WriteMode::Create`], so that two writers cannot both succeed, else
    /// by renaming.
    ///
    /// # Errors
    ///
    /// When the text is longer than [`max_bytes`](Jail::max_bytes), when the path exists and is no
    /// regular file, when the file is read-only, or when the path leads outside.
    pub fn write(&self, path: &str, text: &str, mode: WriteMode) -> Result<(), JailError> {
        let target = self.parse_path(path)?;
        if text.len() > self.max_bytes {
            return Err(JailError::TooLong {
                path: target.name(),
                bytes: text.len(),
                limit: self.max_bytes,
            });
        }
        // From here on the directory is an open handle and the file a name in it: no path is resolved
        // twice.
        let (parent, name) = match (target.path.parent(), target.path.file_name()) {
            (Some(parent), Some(name)) if parent.as_os_str().is_empty() => (Path::new("."), name),
            (Some(parent), Some(name)) => (parent, name),
            _ => return Err(target.not_a_file()),
        };
        let failed = |error| target.io_error(error);
        let parent = self.dir.open_dir(parent).map_err(failed)?;
        let permissions = existing_permissions(&parent, name, target, mode)?;
        let (draft, file) = create_draft(&parent).map_err(failed)?;
        let written = write_draft(file, text, permissions)
            .and_then(|()| move_into_place(&parent, Path::new(&draft), name, mode));
        if written.is_err() || mode == WriteMode::Create {
            // A rename leaves no draft; a hard link and an error do.
            let _ = parent.remove_file(&draft);
        }
        written.map_err(failed)
    }
}

/// Returns the permissions of the file to replace; `None` if it does not exist, an error if it must not be replaced.
fn existing_permissions(
    parent: &Dir,
    name: &OsStr,
    target: JailPath<'_>,
    mode: WriteMode,
) -> Result<Option<Permissions>, JailError> {
    let found = match parent.symlink_metadata(name) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(target.io_error(error)),
    };
    let path = target.name();
    match found.permissions() {
        _ if mode == WriteMode::Create => Err(JailError::Exists { path }),
        _ if !found.is_file() => Err(JailError::NotAFile { path }),
        // A rename would succeed: it needs only the permission to write the directory.
        permissions if permissions.readonly() => Err(JailError::Denied { path }),
        permissions => Ok(Some(permissions)),
    }
}

/// Creates an empty file with a new name.
fn create_draft(parent: &Dir) -> io::Result<(String, File)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    for _ in 0..MAX_DRAFT_NAMES {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!(".toolwright-{}-{count}.draft", process::id());
        match parent.open_with(&name, &options) {
            Ok(file) => return Ok((name, file)),
            // Left by a process with the same id that crashed.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("no free name for a draft"))
}

fn write_draft(mut file: File, text: &str, permissions: Option<Permissions>) -> io::Result<()> {
    file.write_all(text.as_bytes())?;
    if let Some(permissions) = permissions {
        file.set_permissions(without_set_id(permissions))?;
    }
    file.sync_all()
}

/// Gives the draft its final name.
fn move_into_place(parent: &Dir, draft: &Path, name: &OsStr, mode: WriteMode) -> io::Result<()> {
    match mode {
        WriteMode::Create => parent.hard_link(draft, parent, name),
        WriteMode::Replace => parent.rename(draft, parent, name),
    }
}

/// Removes the set-user-id and set-group-id bits, which were granted to the old content.
#[cfg(unix)]
fn without_set_id(permissions: Permissions) -> Permissions {
    use cap_std::fs::PermissionsExt;

    Permissions::from_mode(permissions.mode() & 0o777)
}

#[cfg(not(unix))]
fn without_set_id(permissions: Permissions) -> Permissions {
    permissions
}
