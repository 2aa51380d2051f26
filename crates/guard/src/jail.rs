//! Resolves paths that the model wrote, within one directory only.
//!
//! No check compares the text of paths: every lookup starts at an open handle of the jail's directory,
//! and the operating system, or `cap-std` component by component where the system cannot, refuses to
//! resolve beyond it. A link that is swapped in during a lookup therefore changes nothing.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata};
use toolwright_core::{CallContext, InvokerContext, Param, ToolError};

mod error;
mod list;
mod read;
mod write;

pub use error::JailError;
pub use list::{DirectoryEntry, EntryKind, Listing};
pub use read::FileText;
pub use write::WriteMode;

/// The default maximum of bytes that are read from or written to a file.
const MAX_BYTES: usize = 1 << 20;
/// The default maximum of entries that are listed of a directory.
const MAX_ENTRIES: usize = 1_000;
/// The maximum length of a path in bytes; the error for a longer one does not repeat it.
const MAX_PATH: usize = 4_096;

/// A directory that paths cannot leave, symbolic links included; cheap to clone.
///
/// As a parameter of a tool it is the jail given to the invoker with `.state(Jail::new(dir)?)`, else
/// the project directory. Paths are relative to it; `..` and links are allowed as long as they stay
/// inside. All methods block: write `#[tool(blocking)]`, or call them on a thread that may block.
///
/// Hard links and mount points inside the directory belong to it: the model cannot create them.
///
/// # Examples
///
/// ```
/// use toolwright::guard::{Jail, JailError, WriteMode};
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
    /// The directory's paths on the host, to parse absolute paths; no check relies on them.
    roots: Arc<[PathBuf]>,
    max_bytes: usize,
    max_entries: usize,
}

impl Jail {
    /// Creates a jail from an existing directory.
    ///
    /// # Errors
    ///
    /// When it cannot be opened as a directory.
    pub fn new(dir: impl AsRef<Path>) -> Result<Self, JailError> {
        let root = dir.as_ref();
        let unusable = |source| JailError::Root { dir: root.to_owned(), source };
        let dir = Dir::open_ambient_dir(root, ambient_authority()).map_err(unusable)?;
        let real = root.canonicalize().map_err(unusable)?;
        Ok(Self {
            dir: Arc::new(dir),
            roots: Arc::new([real, root.to_owned()]),
            max_bytes: MAX_BYTES,
            max_entries: MAX_ENTRIES,
        })
    }

    /// Sets the maximum of bytes that are read from or written to a file; 1 MiB by default.
    #[must_use]
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// Sets the maximum of entries that are listed of a directory; 1,000 by default.
    #[must_use]
    pub fn max_entries(mut self, entries: usize) -> Self {
        self.max_entries = entries;
        self
    }

    /// Returns the canonical path, relative to the jail and without `..` or links.
    ///
    /// The result is for display and comparison. The file may be replaced meanwhile, so do not open it
    /// by this path on the host; use the methods of the jail.
    ///
    /// # Errors
    ///
    /// When the path does not exist, is neither file nor directory, or leads outside.
    pub fn resolve(&self, path: &str) -> Result<PathBuf, JailError> {
        let target = self.parse_path(path)?;
        let metadata = target.metadata(&self.dir)?;
        if !metadata.is_file() && !metadata.is_dir() {
            return Err(target.not_a_file());
        }
        let resolved = self.dir.canonicalize(target.path);
        resolved.map_err(|error| target.io_error(error))
    }

    /// Parses a path without resolving it; only the lookup detects links that lead outside.
    fn parse_path<'a>(&self, path: &'a str) -> Result<JailPath<'a>, JailError> {
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
            return Ok(JailPath { path: given });
        }
        let inside = |root: &PathBuf| given.strip_prefix(root).ok();
        match self.roots.iter().find_map(inside) {
            Some(rest) if rest.as_os_str().is_empty() => Ok(JailPath { path: Path::new(".") }),
            Some(rest) => Ok(JailPath { path: rest }),
            None => Err(JailPath { path: given }.outside()),
        }
    }
}

impl fmt::Debug for Jail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Jail").field("roots", &self.roots).finish_non_exhaustive()
    }
}

impl Param for Jail {
    fn from_call(cx: &CallContext<'_>) -> Result<Self, ToolError> {
        jail_from_context(cx.invoker_context())
    }

    fn check(context: &InvokerContext) -> Result<(), ToolError> {
        jail_from_context(context).map(drop)
    }
}

fn jail_from_context(context: &InvokerContext) -> Result<Jail, ToolError> {
    if let Some(jail) = context.state::<Jail>() {
        return Ok(Jail::clone(&jail));
    }
    let dir = context.project_dir().ok_or_else(|| {
        ToolError::fatal(
            "it needs a directory to work in: give the invoker a jail with `.state(Jail::new(dir)?)`, \
             or a project directory with `.project_dir(…)` or `--project-dir DIR`",
        )
    })?;
    Jail::new(dir).map_err(ToolError::fatal)
}

/// A path relative to the jail; error messages show it in this form.
#[derive(Clone, Copy)]
struct JailPath<'a> {
    path: &'a Path,
}

impl JailPath<'_> {
    /// Returns the metadata, which callers check before they open anything: opening a device can have side effects.
    fn metadata(self, dir: &Dir) -> Result<Metadata, JailError> {
        dir.metadata(self.path).map_err(|error| self.io_error(error))
    }
}
