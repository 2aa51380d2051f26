//! A path as the model wrote it in, a handle inside the jail out.
//!
//! Nothing here compares path texts to decide what is inside: every lookup starts at an open handle
//! of the jail's directory and the operating system, or `cap-std` component by component where the
//! system cannot, refuses to resolve beyond it. A link swapped in half-way therefore changes nothing.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata};
use toolwright_core::{CallContext, Param, Setup, ToolError};

mod error;
mod list;
mod read;
mod write;

pub use error::JailError;
pub use list::{Entry, EntryKind, Listing};
pub use read::FileText;
pub use write::WriteMode;

/// How many bytes of a file are read or written at most, unless told otherwise.
const MAX_BYTES: usize = 1 << 20;
/// How many entries of a directory are listed at most, unless told otherwise.
const MAX_ENTRIES: usize = 1_000;
/// The longest path that is looked up; longer ones are not even echoed.
const MAX_PATH: usize = 4_096;

/// A directory that paths cannot leave, symbolic links included; cheap to clone.
///
/// As a parameter of a tool it is the jail given to the invoker with `.state(Jail::new(dir)?)`, else
/// the project directory. Paths are relative to it; `..` and links are fine as long as they stay
/// inside. All methods block: write `#[tool(blocking)]`, or call them on a thread that may.
///
/// Hard links and mount points inside the directory belong to it: whoever can make those is not the
/// model.
///
/// # Examples
///
/// ```
/// use toolwright_guard::{Jail, JailError, WriteMode};
///
/// let dir = tempfile::tempdir()?;
/// let jail = Jail::new(dir.path())?;
/// jail.write("notes.txt", "buy milk", WriteMode::Create)?;
/// assert_eq!(jail.read("notes.txt")?.text, "buy milk");
/// assert!(matches!(jail.read("/etc/passwd"), Err(JailError::Outside { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Jail {
    dir: Arc<Dir>,
    /// The directory's names on the host, to understand absolute paths; no check relies on them.
    roots: Arc<[PathBuf]>,
    max_bytes: usize,
    max_entries: usize,
}

impl Jail {
    /// Makes a jail of a directory that exists.
    ///
    /// # Errors
    ///
    /// When it cannot be opened as a directory.
    pub fn new(dir: impl AsRef<Path>) -> Result<Self, JailError> {
        let root = dir.as_ref();
        let unusable = |source| JailError::Root {
            dir: root.to_owned(),
            source,
        };
        let dir = Dir::open_ambient_dir(root, ambient_authority()).map_err(unusable)?;
        let real = root.canonicalize().map_err(unusable)?;
        Ok(Self {
            dir: Arc::new(dir),
            roots: Arc::new([real, root.to_owned()]),
            max_bytes: MAX_BYTES,
            max_entries: MAX_ENTRIES,
        })
    }

    /// Sets how many bytes of a file are read, and how many may be written; 1 MiB by default.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Sets how many entries of a directory are listed; 1,000 by default.
    #[must_use]
    pub fn max_entries(mut self, entries: usize) -> Self {
        self.max_entries = entries;
        self
    }

    /// Returns where a path leads: relative to the jail, without `..` or links.
    ///
    /// The answer is for people and for comparing. By the time it is used the file may be another
    /// one; to touch it, ask the jail again.
    ///
    /// # Errors
    ///
    /// When nothing is there, or it is neither file nor directory, or it is outside.
    pub fn resolve(&self, path: &str) -> Result<PathBuf, JailError> {
        let asked = self.asked(path)?;
        let found = asked.look(&self.dir)?;
        if !found.is_file() && !found.is_dir() {
            return Err(asked.not_a_file());
        }
        let resolved = self.dir.canonicalize(asked.path);
        resolved.map_err(|error| asked.refused(error))
    }

    /// Understands a path; whether it stays inside is found out by following it.
    fn asked<'a>(&self, path: &'a str) -> Result<Asked<'a>, JailError> {
        let reason = match path {
            "" => Some("is empty"),
            _ if path.len() > MAX_PATH => Some("is longer than 4096 bytes"),
            _ if path.contains('\0') => Some("holds a NUL byte"),
            _ => None,
        };
        if let Some(reason) = reason {
            return Err(JailError::Malformed { reason });
        }
        let given = Path::new(path);
        if !given.has_root() {
            return Ok(Asked { path: given });
        }
        let inside = |root: &PathBuf| given.strip_prefix(root).ok();
        match self.roots.iter().find_map(inside) {
            Some(rest) if rest.as_os_str().is_empty() => Ok(Asked {
                path: Path::new("."),
            }),
            Some(rest) => Ok(Asked { path: rest }),
            None => Err(Asked { path: given }.outside()),
        }
    }
}

impl fmt::Debug for Jail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Jail")
            .field("roots", &self.roots)
            .finish_non_exhaustive()
    }
}

impl Param for Jail {
    fn from_call(cx: &CallContext<'_>) -> Result<Self, ToolError> {
        of_setup(cx.setup())
    }

    fn check(setup: &Setup) -> Result<(), ToolError> {
        of_setup(setup).map(drop)
    }
}

fn of_setup(setup: &Setup) -> Result<Jail, ToolError> {
    if let Some(jail) = setup.state::<Jail>() {
        return Ok(Jail::clone(&jail));
    }
    let dir = setup.project_dir().ok_or_else(|| {
        ToolError::fatal(
            "it needs a directory to work in: give the invoker a jail with `.state(Jail::new(dir)?)`, \
             or a project directory with `.project_dir(…)` or `--project-dir DIR`",
        )
    })?;
    Jail::new(dir).map_err(ToolError::fatal)
}

/// A path relative to the jail, which is also how errors name it.
#[derive(Clone, Copy)]
struct Asked<'a> {
    path: &'a Path,
}

impl Asked<'_> {
    /// Says what is there, before anything is opened: opening a device can already do something.
    fn look(self, dir: &Dir) -> Result<Metadata, JailError> {
        dir.metadata(self.path).map_err(|error| self.refused(error))
    }
}
