//! Writing to stdout without minding that the reader may have gone.
//!
//! What is printed may come from anybody: a terminal shows it and never obeys it. A pipe or a file gets every byte as it is.

use std::borrow::Cow;
use std::io::{self, IsTerminal as _};

use serde::Serialize;

use crate::clean;
use crate::failure::Failure;

/// Writes text to stdout; a reader that went away, as `head` does, is no error.
pub(crate) fn text(text: &str) -> Result<(), Failure> {
    let out = io::stdout().lock();
    let text = match out.is_terminal() {
        true => clean::clean(text),
        false => Cow::Borrowed(text),
    };
    write(out, &text)
}

/// Writes a value to stdout as indented JSON.
pub(crate) fn json<T: Serialize + ?Sized>(value: &T) -> Result<(), Failure> {
    let out = io::stdout().lock();
    let mut written =
        serde_json::to_string_pretty(value).map_err(|error| Failure::finding(&error))?;
    if out.is_terminal() {
        written = clean::escape(written);
    }
    write(out, &format!("{written}\n"))
}

/// Writes what somebody else said to stderr.
pub(crate) fn aside(text: &str) {
    let err = io::stderr().lock();
    let text = match err.is_terminal() {
        true => clean::clean(text),
        false => Cow::Borrowed(text),
    };
    // Where stderr is gone, nobody is left to tell.
    let _ = write(err, &text);
}

fn write(mut out: impl io::Write, text: &str) -> Result<(), Failure> {
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::finding(&error)),
        _ => Ok(()),
    }
}
