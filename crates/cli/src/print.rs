//! Writing to stdout without minding that the reader may have gone.

use std::io::{self, Write as _};

use serde::Serialize;

use crate::failure::Failure;

/// Writes text to stdout; a reader that went away, as `head` does, is no error.
pub(crate) fn text(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(Failure::finding(&error)),
        _ => Ok(()),
    }
}

/// Writes a value to stdout as indented JSON.
pub(crate) fn json<T: Serialize + ?Sized>(value: &T) -> Result<(), Failure> {
    let written = serde_json::to_string_pretty(value).map_err(|error| Failure::finding(&error))?;
    text(&format!("{written}\n"))
}
