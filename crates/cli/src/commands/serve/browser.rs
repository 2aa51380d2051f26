//! The console, in whatever browser a person has.

use std::process::{Command, Stdio};

/// What opens an address, by the system.
const OPEN_COMMANDS: &[&str] = if cfg!(target_os = "macos") {
    &["open"]
} else if cfg!(windows) {
    &["explorer"]
} else {
    &["xdg-open", "wslview", "x-www-browser"]
};

/// Opens an address, or says that it could not.
pub(crate) fn open_url(url: &str) {
    let started = OPEN_COMMANDS.iter().any(|opener| {
        let mut command = Command::new(opener);
        command.arg(url).stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(Stdio::null()).spawn().is_ok()
    });
    if !started {
        eprintln!("no browser could be opened: open {url} yourself");
    }
}
