//! Text from a stranger in, text that is safe to show out: bounded, visible, without secrets.

use std::error::Error;

use toolwright_core::schema::redact;

/// As much as is told of what a server says went wrong.
const MAX_EXCERPT_BYTES: usize = 600;

/// Cuts text to `most` bytes, and takes out what a person would not see but a model would read.
pub(crate) fn sanitize(text: &str, most: usize) -> String {
    let visible: String = text.chars().filter(|letter| is_visible(*letter)).collect();
    match visible.len() > most {
        false => visible,
        true => {
            let (start, _) = visible.split_at(visible.floor_char_boundary(most));
            format!("{start}…")
        }
    }
}

/// Control characters, overrides of the direction of writing, and the invisible alphabet of tags.
fn is_visible(letter: char) -> bool {
    let hidden = letter.is_control() && !matches!(letter, '\n' | '\t' | '\r')
        || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}');
    !hidden
}

/// A sentence about what a server said went wrong, on one line.
pub(crate) fn excerpt(text: &str) -> String {
    // Cut first: redaction reads all of what it is given.
    let cut = sanitize(text, MAX_EXCERPT_BYTES);
    redact(&cut.replace(['\n', '\r', '\t'], " ")).into_owned()
}

/// An error and its causes in one sentence; what a cause repeats is said once.
pub(crate) fn error_chain(error: &(dyn Error + 'static)) -> String {
    let mut told = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if !told.contains(&text) {
            told = format!("{told}: {text}");
        }
        cause = error.source();
    }
    excerpt(&told)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nobody_sees_is_taken_out() {
        let smuggled = "Adds.\u{1b}[8m\u{e0049}\u{e0067}\u{202e}\nEnds.";
        assert_eq!(sanitize(smuggled, 100), "Adds.[8m\nEnds.");
    }

    #[test]
    fn long_text_is_cut_between_letters() {
        assert_eq!(sanitize("äöü", 3), "ä…");
    }

    #[test]
    fn a_short_text_keeps_no_secret_and_no_line_break() {
        assert_eq!(excerpt("bad\npassword=hunter2"), "bad password=***");
        assert!(excerpt(&"x".repeat(10_000)).len() < 700);
    }
}
