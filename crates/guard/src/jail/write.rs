//! A path and a text in, a whole file out: nobody ever sees half of it.

use std::ffi::OsStr;
use std::io::{self, ErrorKind, Write};
use std::path::Path;
use std::process;
use std::sync::atomic::{AtomicU64, Ordering};

use cap_std::fs::{Dir, File, OpenOptions, Permissions};

use super::{Asked, Jail, JailError};

/// How many names are tried for the file that is written first.
const DRAFT_NAMES: usize = 16;

/// What becomes of a file that is already there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WriteMode {
    /// It stays, and writing is refused.
    Create,
    /// It is replaced in one step, its permissions kept.
    Replace,
}

impl Jail {
    /// Writes a text file; its directory must exist.
    ///
    /// The text is written to a draft beside it, which then takes the name in one step: by a hard
    /// link for [`WriteMode::Create`], so that two writers cannot both succeed, else by renaming.
    ///
    /// # Errors
    ///
    /// When the text is longer than [`max_bytes`](Jail::max_bytes), when something other than a
    /// regular file has the name, when the file is read-only, or when the path leads outside.
    pub fn write(&self, path: &str, text: &str, mode: WriteMode) -> Result<(), JailError> {
        let asked = self.asked(path)?;
        if text.len() > self.max_bytes {
            return Err(JailError::TooLong {
                path: asked.name(),
                bytes: text.len(),
                limit: self.max_bytes,
            });
        }
        // From here on the directory is a handle and the file a bare name in it: nothing is looked
        // up twice.
        let (parent, name) = match (asked.path.parent(), asked.path.file_name()) {
            (Some(parent), Some(name)) if parent.as_os_str().is_empty() => (Path::new("."), name),
            (Some(parent), Some(name)) => (parent, name),
            _ => return Err(asked.not_a_file()),
        };
        let failed = |error| asked.refused(error);
        let parent = self.dir.open_dir(parent).map_err(failed)?;
        let kept = replaceable(&parent, name, asked, mode)?;
        let (draft, file) = draft(&parent).map_err(failed)?;
        let placed =
            fill(file, text, kept).and_then(|()| place(&parent, Path::new(&draft), name, mode));
        if placed.is_err() || mode == WriteMode::Create {
            // Renaming leaves no draft behind; a link and a failure do.
            let _ = parent.remove_file(&draft);
        }
        placed.map_err(failed)
    }
}

/// The permissions of the file that is replaced, if one may be.
fn replaceable(
    parent: &Dir,
    name: &OsStr,
    asked: Asked<'_>,
    mode: WriteMode,
) -> Result<Option<Permissions>, JailError> {
    let found = match parent.symlink_metadata(name) {
        Ok(found) => found,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(asked.refused(error)),
    };
    let path = asked.name();
    match found.permissions() {
        _ if mode == WriteMode::Create => Err(JailError::Exists { path }),
        _ if !found.is_file() => Err(JailError::NotAFile { path }),
        // Renaming over it asks only the directory for permission.
        kept if kept.readonly() => Err(JailError::Denied { path }),
        kept => Ok(Some(kept)),
    }
}

/// Makes a new, empty file under a name that nobody else has.
fn draft(parent: &Dir) -> io::Result<(String, File)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    for _ in 0..DRAFT_NAMES {
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!(".toolwright-{}-{count}.draft", process::id());
        match parent.open_with(&name, &options) {
            Ok(file) => return Ok((name, file)),
            // Left behind by a process that died, and had the same number.
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::other("no free name for a draft"))
}

fn fill(mut file: File, text: &str, kept: Option<Permissions>) -> io::Result<()> {
    file.write_all(text.as_bytes())?;
    if let Some(kept) = kept {
        file.set_permissions(without_set_id(kept))?;
    }
    file.sync_all()
}

fn place(parent: &Dir, draft: &Path, name: &OsStr, mode: WriteMode) -> io::Result<()> {
    match mode {
        WriteMode::Create => parent.hard_link(draft, parent, name),
        WriteMode::Replace => parent.rename(draft, parent, name),
    }
}

/// New content must not run with the rights that were given to the old.
#[cfg(unix)]
fn without_set_id(kept: Permissions) -> Permissions {
    use cap_std::fs::PermissionsExt;

    Permissions::from_mode(kept.mode() & 0o777)
}

#[cfg(not(unix))]
fn without_set_id(kept: Permissions) -> Permissions {
    kept
}
