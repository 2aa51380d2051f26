//! A question in, its parts out, as ranges of words.

use std::ops::Range;

use crate::words::{Gap, Text};

const JOINTS: [&str; 8] = [
    "and",
    "then",
    "also",
    "plus",
    "or",
    "than",
    "afterwards",
    "versus",
];

/// Words that begin a sentence of its own.
const OPENERS: [&str; 14] = [
    "what", "what's", "how", "where", "when", "who", "which", "is", "are", "do", "does", "can",
    "tell", "it",
];

/// Splits a text where a new wish may begin.
pub(super) fn split(text: &Text<'_>) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut start = 0;
    for (place, word) in text.words.iter().enumerate() {
        if word.quoted {
            continue;
        }
        // What stands behind a colon is one text.
        if word.gap == Gap::Colon {
            break;
        }
        if word.is(&JOINTS) {
            if place > start {
                ranges.push(start..place);
            }
            start = place + 1;
        } else if word.gap != Gap::Space {
            ranges.push(start..place + 1);
            start = place + 1;
        }
    }
    if start < text.words.len() {
        ranges.push(start..text.words.len());
    }
    ranges
}

/// "The time and the weather in Tokyo": what both are asked for stands at the end.
pub(super) fn shared_tail(text: &Text<'_>, ranges: &[Range<usize>]) -> Option<Range<usize>> {
    let last = ranges.last()?;
    let words = text.words.get(last.clone())?;
    if words.first()?.is(&OPENERS) {
        return None;
    }
    let lead = words
        .iter()
        .position(|word| word.is(&["in", "at", "for"]))?;
    (lead > 0).then_some(last.start + lead..last.end)
}

/// A part with the tail that it shares.
pub(super) fn said(text: &Text<'_>, words: Range<usize>, tail: Option<&Range<usize>>) -> String {
    let part = text.between(words.clone());
    let own = text.words.get(words.clone()).unwrap_or_default();
    let led = own.iter().any(|word| {
        word.is(&["in", "at", "for", "to", "from", "of", "there", "here"]) || word.has_digit()
    });
    match tail {
        Some(tail) if !led && words.end <= tail.start => {
            format!("{part} {}", text.between(tail.clone()))
        }
        _ => part.to_owned(),
    }
}
