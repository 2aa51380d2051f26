//! Writes to stdout and stderr; a closed pipe is not an error.
//!
//! Printed text may be untrusted: on a terminal, hidden and control characters are escaped. A pipe or a file gets the bytes
//! unchanged.

use std::borrow::Cow;
use std::io::{self, IsTerminal as _};

use serde::Serialize;

use crate::cli::cli_error::CliError;
use crate::cli::terminal::sanitize;

/// Writes text to stdout.
pub(crate) fn print_text(text: &str) -> Result<(), CliError> {
    let out = io::stdout().lock();
    let text = match out.is_terminal() {
        true => sanitize::sanitize(text),
        false => Cow::Borrowed(text),
    };
    write_ignoring_broken_pipe(out, &text)
}

/// Writes a value to stdout as indented JSON.
pub(crate) fn print_json<T: Serialize + ?Sized>(value: &T) -> Result<(), CliError> {
    let out = io::stdout().lock();
    let mut json = serde_json::to_string_pretty(value)?;
    if out.is_terminal() {
        json = sanitize::escape_json(json);
    }
    write_ignoring_broken_pipe(out, &format!("{json}\n"))
}

/// Writes text to stderr; an error is ignored.
pub(crate) fn print_stderr(text: &str) {
    let err = io::stderr().lock();
    let text = match err.is_terminal() {
        true => sanitize::sanitize(text),
        false => Cow::Borrowed(text),
    };
    let _ = write_ignoring_broken_pipe(err, &text);
}

fn write_ignoring_broken_pipe(mut out: impl io::Write, text: &str) -> Result<(), CliError> {
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}
