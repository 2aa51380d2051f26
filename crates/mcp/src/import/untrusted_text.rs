//! Untrusted text of a server in, text that is safe to show out: bounded, without invisible characters and secrets.

use std::error::Error;

use toolwright_core::schema::redact;

const MAX_EXCERPT_BYTES: usize = 600;

/// Truncates text to `max_bytes`, and removes characters that are invisible for a user but not for a model.
pub(crate) fn sanitize(text: &str, max_bytes: usize) -> String {
    let visible: String = text.chars().filter(|character| is_visible(*character)).collect();
    match visible.len() > max_bytes {
        false => visible,
        true => {
            let (start, _) = visible.split_at(visible.floor_char_boundary(max_bytes));
            format!("{start}…")
        }
    }
}

/// Returns false for control characters, overrides of the text direction, and tag characters.
fn is_visible(character: char) -> bool {
    let hidden = character.is_control() && !matches!(character, '\n' | '\t' | '\r')
        || matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}');
    !hidden
}

/// An excerpt of a server's text on one line, for error messages.
pub(crate) fn excerpt(text: &str) -> String {
    // Truncated first: redaction reads the whole text.
    let cut = sanitize(text, MAX_EXCERPT_BYTES);
    redact(&cut.replace(['\n', '\r', '\t'], " ")).into_owned()
}

/// The messages of an error and its causes, without repetitions.
pub(crate) fn error_chain(error: &(dyn Error + 'static)) -> String {
    let mut chain = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if !chain.contains(&text) {
            chain = format!("{chain}: {text}");
        }
        cause = error.source();
    }
    excerpt(&chain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_are_removed() {
        let smuggled = "Adds.\u{1b}[8m\u{e0049}\u{e0067}\u{202e}\nEnds.";
        assert_eq!(sanitize(smuggled, 100), "Adds.[8m\nEnds.");
    }

    #[test]
    fn long_text_is_truncated_between_characters() {
        assert_eq!(sanitize("äöü", 3), "ä…");
    }

    #[test]
    fn an_excerpt_has_no_secrets_and_no_line_breaks() {
        assert_eq!(excerpt("bad\npassword=hunter2"), "bad password=***");
        assert!(excerpt(&"x".repeat(10_000)).len() < 700);
    }
}
