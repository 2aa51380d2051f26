//! Writing to stdout without minding that the reader may have gone.
//!
//! What is printed may come from anybody: a terminal shows it and never obeys it. A pipe or a file gets every byte as it is.

use std::borrow::Cow;
use std::io::{self, IsTerminal as _};

use serde::Serialize;

use crate::cli_error::CliError;
use crate::terminal::sanitize;

/// Writes text to stdout; a reader that went away, as `head` does, is no error.
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
    let mut written =
        serde_json::to_string_pretty(value).map_err(|error| CliError::from_error(&error))?;
    if out.is_terminal() {
        written = sanitize::escape_json(written);
    }
    write_ignoring_broken_pipe(out, &format!("{written}\n"))
}

/// Writes what somebody else said to stderr.
pub(crate) fn print_stderr(text: &str) {
    let err = io::stderr().lock();
    let text = match err.is_terminal() {
        true => sanitize::sanitize(text),
        false => Cow::Borrowed(text),
    };
    // Where stderr is gone, nobody is left to tell.
    let _ = write_ignoring_broken_pipe(err, &text);
}

fn write_ignoring_broken_pipe(mut out: impl io::Write, text: &str) -> Result<(), CliError> {
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(CliError::from_error(&error))
        }
        _ => Ok(()),
    }
}
