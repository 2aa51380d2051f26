//! JSON pointers (RFC 6901).

use std::borrow::Cow;

/// Escapes a property name for a JSON pointer: `a/b` becomes `a~1b`.
pub fn escape_pointer_token(token: &str) -> Cow<'_, str> {
    if token.contains(['~', '/']) {
        Cow::Owned(token.replace('~', "~0").replace('/', "~1"))
    } else {
        Cow::Borrowed(token)
    }
}
