//! The user's data directory: `$XDG_DATA_HOME`, else `~/.local/share`.

use std::fs::OpenOptions;
use std::path::PathBuf;

/// The path of a file in a folder of the data directory; `None` if neither variable is set.
pub(super) fn data_file(folder: &str, file: &str) -> Option<PathBuf> {
    let path_from_env = |name| std::env::var_os(name).map(PathBuf::from);
    let data = path_from_env("XDG_DATA_HOME").filter(|data| data.is_absolute());
    let home = || path_from_env("HOME").filter(|home| home.is_absolute());
    let data = data.or_else(|| Some(home()?.join(".local/share")))?;
    Some(data.join(folder).join(file))
}

/// The folder of a program, from its name: other characters than letters, digits, `-` and `_` become `-`.
pub(super) fn folder_name(app_name: &str) -> String {
    let is_safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    app_name.chars().map(|c| if is_safe(c) { c } else { '-' }).collect()
}

/// Options that create a file readable by its owner only.
pub(crate) fn owner_only() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        options.mode(0o600);
    }
    options
}
