//! JSON pointers (RFC 6901).

use std::{borrow::Cow, fmt};

/// Writes a message after the pointer of the value that it is about; the whole document needs none.
pub(crate) fn write_message_at(
    f: &mut fmt::Formatter<'_>,
    pointer: &str,
    message: impl fmt::Display,
) -> fmt::Result {
    let separator = if pointer.is_empty() { "" } else { ": " };
    write!(f, "{pointer}{separator}{message}")
}

/// Appends a property name or an index to a pointer.
pub(crate) fn push_pointer_token(pointer: &mut String, token: &str) {
    pointer.push('/');
    pointer.push_str(&escape_pointer_token(token));
}

/// Escapes a property name for a JSON pointer: `a/b` becomes `a~1b`.
pub fn escape_pointer_token(token: &str) -> Cow<'_, str> {
    if token.bytes().any(|byte| matches!(byte, b'~' | b'/')) {
        Cow::Owned(token.replace('~', "~0").replace('/', "~1"))
    } else {
        Cow::Borrowed(token)
    }
}
