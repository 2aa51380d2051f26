//! Opens a page in the default browser.

use std::process::{Command, Stdio};

/// The commands that open a URL on this operating system, in the order in which they are tried.
const OPEN_COMMANDS: &[&str] = if cfg!(target_os = "macos") {
    &["open"]
} else if cfg!(windows) {
    &["explorer"]
} else {
    &["xdg-open", "wslview", "x-www-browser"]
};

/// Opens a URL; prints a note if no command can be started.
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
