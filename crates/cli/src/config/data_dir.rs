//! Where a user's data is kept.

use std::path::PathBuf;

/// The place of a file among the user's data; none without a home.
pub(crate) fn data_file(file: &str) -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).map(PathBuf::from);
    let data = set("XDG_DATA_HOME").filter(|data| data.is_absolute());
    let home = || set("HOME").filter(|home| home.is_absolute());
    let data = data.or_else(|| Some(home()?.join(".local/share")))?;
    Some(data.join("toolwright").join(file))
}
