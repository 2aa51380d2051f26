//! Lists directories.

use std::fmt;
use std::io;

use cap_std::fs::{DirEntry, FileType};

use super::{Jail, JailError};

/// The entries of a directory, perhaps only a part of them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listing {
    /// The entries, sorted by name.
    pub entries: Vec<DirectoryEntry>,
    /// True if the directory has more entries; the file system then determines which are listed.
    pub truncated: bool,
}

/// One entry of a directory.
///
/// It displays as its name, followed by `/` for a directory and by `@` for a link.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct DirectoryEntry {
    /// The name; bytes that are not UTF-8 are replaced.
    pub name: String,
    /// The kind of file.
    pub kind: EntryKind,
}

/// The kind of a directory's entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link; it is not followed.
    Link,
    /// A pipe, a socket, a device.
    Other,
}

impl fmt::Display for DirectoryEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Escaped, because the model would read a line break in a name as the start of another name.
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
    /// Entries beyond the limit are not read.
    ///
    /// # Errors
    ///
    /// When the path does not exist, is no directory, or leads outside.
    pub fn list(&self, path: &str) -> Result<Listing, JailError> {
        let target = self.parse_path(path)?;
        let failed = |error| target.io_error(error);
        let mut found = self.dir.read_dir(target.path).map_err(failed)?;
        let mut entries = Vec::new();
        for entry in found.by_ref().take(self.max_entries) {
            entries.push(entry.and_then(|entry| read_entry(&entry)).map_err(failed)?);
        }
        entries.sort_unstable();
        Ok(Listing { entries, truncated: found.next().is_some() })
    }
}

fn read_entry(entry: &DirEntry) -> io::Result<DirectoryEntry> {
    let mut kind = entry_kind(entry.file_type()?);
    // Some file systems do not return the kind with the name.
    if let (EntryKind::Other, Ok(found)) = (kind, entry.metadata()) {
        kind = entry_kind(found.file_type());
    }
    Ok(DirectoryEntry { name: entry.file_name().to_string_lossy().into_owned(), kind })
}

fn entry_kind(found: FileType) -> EntryKind {
    match found {
        _ if found.is_file() => EntryKind::File,
        _ if found.is_dir() => EntryKind::Directory,
        _ if found.is_symlink() => EntryKind::Link,
        _ => EntryKind::Other,
    }
}
