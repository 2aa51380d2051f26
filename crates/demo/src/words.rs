//! Text in, words out: where each stands, what it stems from, what stands behind it.

use std::ops::Range;

mod alike;
mod stem;
mod weight;

pub(crate) use alike::{alike, synonyms};
pub(crate) use stem::{parts, stem};
pub(crate) use weight::{is_polite, is_stop, is_weak, leans};

/// How many bytes of a text are read: what is longer is no question.
pub(crate) const READ: usize = 4_096;

/// How many of its words are read.
const MOST: usize = 400;

/// What stands behind a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Gap {
    /// Nothing but space.
    Space,
    /// A comma.
    Comma,
    /// A colon, or an equals sign: what follows belongs to it.
    Colon,
    /// The end of a sentence or of a part of it.
    Stop,
}

/// One word of a text.
#[derive(Clone, Debug)]
pub(crate) struct Word<'t> {
    /// The word without the punctuation around it.
    pub(crate) text: &'t str,
    /// Where it stands in the text.
    pub(crate) span: Range<usize>,
    /// The word in lower case.
    pub(crate) lower: String,
    /// What it stems from.
    pub(crate) stem: String,
    /// What stands behind it.
    pub(crate) gap: Gap,
    /// Whether it stands in quotation marks.
    pub(crate) quoted: bool,
}

impl Word<'_> {
    /// Tells whether it begins with a capital letter.
    pub(crate) fn is_capital(&self) -> bool {
        self.text.chars().next().is_some_and(char::is_uppercase)
    }

    /// Tells whether there is a digit in it.
    pub(crate) fn has_digit(&self) -> bool {
        self.text.bytes().any(|byte| byte.is_ascii_digit())
    }

    /// Tells whether it is one of these words, written in lower case.
    pub(crate) fn is(&self, words: &[&str]) -> bool {
        words.contains(&self.lower.as_str())
    }
}

/// A text and its words.
#[derive(Clone, Debug, Default)]
pub(crate) struct Text<'t> {
    /// What was read of it.
    pub(crate) source: &'t str,
    /// Its words in order.
    pub(crate) words: Vec<Word<'t>>,
    /// The words between quotation marks, one range per pair.
    pub(crate) quotes: Vec<Range<usize>>,
}

impl<'t> Text<'t> {
    /// Reads a text as far as [`READ`].
    pub(crate) fn new(text: &'t str) -> Self {
        let mut reading = Reading {
            text: Self {
                source: head(text, READ),
                ..Self::default()
            },
            open: None,
        };
        let source = reading.text.source;
        let mut from = 0;
        for chunk in source.split_inclusive(char::is_whitespace) {
            let to = from + chunk.len();
            reading.chunk(from, chunk.trim_end());
            if chunk.ends_with('\n') {
                reading.behind(Gap::Stop);
            }
            if reading.text.words.len() >= MOST {
                break;
            }
            from = to;
        }
        reading.text
    }

    /// Returns what was written from one word to another.
    pub(crate) fn between(&self, words: Range<usize>) -> &'t str {
        let found = self.words.get(words).unwrap_or_default();
        match (found.first(), found.last()) {
            (Some(first), Some(last)) => self
                .source
                .get(first.span.start..last.span.end)
                .unwrap_or_default(),
            _ => "",
        }
    }
}

/// Returns the beginning of a text, cut between letters.
pub(crate) fn head(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most))
        .unwrap_or_default()
}

/// Quotation marks that open, and what closes them.
const QUOTES: [(char, char); 8] = [
    ('"', '"'),
    ('\'', '\''),
    ('`', '`'),
    ('“', '”'),
    ('„', '“'),
    ('‘', '’'),
    ('«', '»'),
    ('»', '«'),
];

struct Reading<'t> {
    text: Text<'t>,
    /// What closes the quotation, and its first word.
    open: Option<(char, usize)>,
}

impl<'t> Reading<'t> {
    fn behind(&mut self, gap: Gap) {
        if let Some(last) = self.text.words.last_mut() {
            last.gap = gap;
        }
    }

    /// Reads what stands between two spaces.
    fn chunk(&mut self, at: usize, chunk: &'t str) {
        let inner = chunk.trim_start_matches(|c| self.opens(c));
        let at = at + chunk.len() - inner.len();
        let core =
            inner.trim_end_matches(|c: char| !c.is_alphanumeric() && !is_symbol(c) && c != '/');
        let tail = inner.get(core.len()..).unwrap_or_default();
        if !core.is_empty() {
            self.split(at, core);
        }
        for mark in tail.chars() {
            match mark {
                ',' => self.behind(Gap::Comma),
                ':' | '=' => self.behind(Gap::Colon),
                '.' | '!' | '?' | ';' | '…' => self.behind(Gap::Stop),
                _ => {}
            }
            if let Some((close, first)) = self.open
                && close == mark
            {
                self.close(first);
            }
        }
    }

    /// Skips a mark before a word, and notes it when it opens a quotation.
    fn opens(&mut self, mark: char) -> bool {
        if mark.is_alphanumeric() || is_symbol(mark) || matches!(mark, '-' | '−' | '+' | '/' | '.')
        {
            return false;
        }
        let close = QUOTES.iter().find(|(open, _)| *open == mark);
        if let (Some((_, close)), None) = (close, self.open) {
            self.open = Some((*close, self.text.words.len()));
        }
        true
    }

    fn close(&mut self, first: usize) {
        self.open = None;
        let all = first..self.text.words.len();
        if all.is_empty() {
            return;
        }
        for word in self.text.words.iter_mut().skip(first) {
            word.quoted = true;
        }
        self.text.quotes.push(all);
    }

    /// Takes apart what is written without spaces, as `width=3` or `3x4`, but no addresses and no numbers.
    fn split(&mut self, at: usize, core: &'t str) {
        let whole = core.contains("://") || core.contains('@');
        let mut from = 0;
        if !whole {
            let mut before = ' ';
            let mut marks = core.char_indices().peekable();
            while let Some((place, mark)) = marks.next() {
                let after = marks.peek().map_or(' ', |(_, after)| *after);
                let digits = before.is_ascii_digit() && after.is_ascii_digit();
                let gap = match mark {
                    ',' if !digits => Some(Gap::Comma),
                    ';' => Some(Gap::Stop),
                    ':' if !digits => Some(Gap::Colon),
                    '=' => Some(Gap::Colon),
                    '—' | '→' => Some(Gap::Space),
                    'x' | '×' | '*' if digits => Some(Gap::Space),
                    _ => None,
                };
                if let Some(gap) = gap {
                    self.push(at + from, core.get(from..place).unwrap_or_default());
                    self.behind(gap);
                    from = place + mark.len_utf8();
                }
                before = mark;
            }
        }
        self.push(at + from, core.get(from..).unwrap_or_default());
    }

    fn push(&mut self, at: usize, text: &'t str) {
        if !text.contains(|c: char| c.is_alphanumeric() || is_symbol(c)) {
            return;
        }
        let lower = text.to_lowercase().replace('’', "'");
        self.text.words.push(Word {
            text,
            span: at..at + text.len(),
            stem: stem(&lower),
            lower,
            gap: Gap::Space,
            quoted: false,
        });
    }
}

/// Marks that belong to a number.
fn is_symbol(mark: char) -> bool {
    matches!(mark, '%' | '°' | '$' | '€' | '£' | '¥')
}
