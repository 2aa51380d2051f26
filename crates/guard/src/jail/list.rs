//! A path in, the names in that directory out.

use std::fmt;
use std::io;

use cap_std::fs::{DirEntry, FileType};

use super::{Jail, JailError};

/// What a directory holds, perhaps only a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listing {
    /// The entries, sorted by name.
    pub entries: Vec<Entry>,
    /// Whether the directory holds more; which part is listed is then up to the file system.
    pub cut: bool,
}

/// One name in a directory.
///
/// Its text is the name, a directory's with `/` at its end, a link's with `@`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Entry {
    /// The name; characters that are not UTF-8 are replaced.
    pub name: String,
    /// What it names.
    pub kind: EntryKind,
}

/// What a name in a directory stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link; where it leads is not looked at.
    Link,
    /// A pipe, a socket, a device.
    Other,
}

impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A line break in a name would read as a name of its own.
        for c in self.name.chars() {
            match c.is_control() {
                true => write!(f, "{}", c.escape_default())?,
                false => write!(f, "{c}")?,
            }
        }
        f.write_str(match self.kind {
            EntryKind::Directory => "/",
            EntryKind::Link => "@",
            EntryKind::File | EntryKind::Other => "",
        })
    }
}

impl Jail {
    /// Lists a directory, up to the jail's [`max_entries`](Jail::max_entries); `.` is the jail itself.
    ///
    /// A directory with more is not read to its end, however large it is.
    ///
    /// # Errors
    ///
    /// When nothing is there, it is no directory, or it is outside.
    pub fn list(&self, path: &str) -> Result<Listing, JailError> {
        let asked = self.asked(path)?;
        let failed = |error| asked.refused(error);
        let mut found = self.dir.read_dir(asked.path).map_err(failed)?;
        let mut entries = Vec::new();
        for entry in found.by_ref().take(self.max_entries) {
            entries.push(entry.and_then(|entry| described(&entry)).map_err(failed)?);
        }
        entries.sort_unstable();
        Ok(Listing {
            entries,
            cut: found.next().is_some(),
        })
    }
}

fn described(entry: &DirEntry) -> io::Result<Entry> {
    let mut kind = kind_of(entry.file_type()?);
    // Some file systems do not say the kind with the name.
    if let (EntryKind::Other, Ok(found)) = (kind, entry.metadata()) {
        kind = kind_of(found.file_type());
    }
    Ok(Entry {
        name: entry.file_name().to_string_lossy().into_owned(),
        kind,
    })
}

fn kind_of(found: FileType) -> EntryKind {
    match found {
        _ if found.is_file() => EntryKind::File,
        _ if found.is_dir() => EntryKind::Directory,
        _ if found.is_symlink() => EntryKind::Link,
        _ => EntryKind::Other,
    }
}
