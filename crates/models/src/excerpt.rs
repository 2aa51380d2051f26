//! What cannot be read, in words.

use toolwright_core::schema::redact;

/// So much is shown of what is not in the protocol.
const LONGEST_EXCERPT: usize = 200;

/// The beginning of a text that is not in the protocol, without secrets.
pub(crate) fn excerpt(text: &str) -> String {
    let text = text.trim();
    // A secret at the end of what is shown must be seen as a whole to be known as one.
    let seen = text.floor_char_boundary(4 * LONGEST_EXCERPT);
    let start = redact(text.get(..seen).unwrap_or_default());
    let end = start.floor_char_boundary(LONGEST_EXCERPT);
    let more = if end < start.len() || seen < text.len() {
        "…"
    } else {
        ""
    };
    format!("{}{more}", start.get(..end).unwrap_or_default())
}

/// What to say of a refusal that says nothing itself.
pub(crate) fn untold(status: u16, body: &str) -> String {
    match excerpt(body) {
        excerpt if excerpt.is_empty() => format!("the request was refused with status {status}"),
        excerpt => format!("the request was refused with status {status}: {excerpt}"),
    }
}

#[cfg(test)]
mod tests {
    use super::excerpt;

    #[test]
    fn a_secret_is_masked_even_where_the_excerpt_ends() {
        let text = format!("{} sk-{}", "x".repeat(180), "a1".repeat(40));
        let shown = excerpt(&text);
        assert!(!shown.contains("a1a1"), "{shown}");
        assert!(excerpt(&"é".repeat(10_000)).len() < 220);
        assert_eq!(excerpt(" short "), "short");
    }
}
