//! Text as tokens with their byte ranges, quotations and quantities.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use toolwright_search::{Term, is_stop_word, stem, unit_names};

use crate::quantity::{Quantity, quantities};

/// How much of a text is read.
pub(crate) const MAX_BYTES: usize = 4_096;
const MAX_TOKENS: usize = 400;

/// Words that add nothing to a request, besides the stop words.
const FILLERS: &str = "good quick quickly currently exactly degrees degree first outside";

/// A regular expression; all of ours compile, so none is only what the type requires.
pub(crate) type Form = LazyLock<Option<Regex>>;

/// The punctuation behind a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Punctuation {
    None,
    Comma,
    /// A colon or an equals sign.
    Colon,
    /// The end of a sentence, a semicolon or a line break.
    Stop,
}

/// A word, number, address or code, without the punctuation around it.
#[derive(Clone, Debug)]
pub(crate) struct Token<'t> {
    pub(crate) text: &'t str,
    pub(crate) range: Range<usize>,
    pub(crate) lower: String,
    pub(crate) stem: String,
    pub(crate) punctuation: Punctuation,
    pub(crate) quoted: bool,
}

impl Token<'_> {
    pub(crate) fn is_capitalized(&self) -> bool {
        self.text.chars().next().is_some_and(char::is_uppercase)
    }

    pub(crate) fn has_digit(&self) -> bool {
        self.text.bytes().any(|byte| byte.is_ascii_digit())
    }

    /// Returns true for one of these words, which are separated by spaces.
    pub(crate) fn is(&self, words: &str) -> bool {
        is_in(&self.lower, words)
    }

    pub(crate) fn is_stop_word(&self) -> bool {
        is_stop_word(&self.lower)
    }

    pub(crate) fn is_filler(&self) -> bool {
        self.is_stop_word() || self.is(FILLERS)
    }
}

/// Returns true for one of these words, which are separated by spaces.
pub(crate) fn is_in(word: &str, words: &str) -> bool {
    words.split(' ').any(|other| other == word)
}

/// A text and its tokens.
#[derive(Clone, Debug, Default)]
pub(crate) struct Text<'t> {
    pub(crate) source: &'t str,
    pub(crate) tokens: Vec<Token<'t>>,
    /// The tokens between each pair of quotation marks.
    pub(crate) quotes: Vec<Range<usize>>,
    pub(crate) quantities: Vec<Quantity>,
}

impl<'t> Text<'t> {
    /// Reads the first [`MAX_BYTES`] of a text.
    pub(crate) fn new(text: &'t str) -> Self {
        let source = head(text, MAX_BYTES);
        let mut text = Self { source, ..Self::default() };
        let mut start = None;
        let mut quote: Option<(char, usize)> = None;
        let mut previous = ' ';
        let mut chars = source.char_indices().peekable();
        while let Some((at, mark)) = chars.next() {
            let next = chars.peek().map_or(' ', |(_, next)| *next);
            let token = start.and_then(|start| source.get(start..at)).unwrap_or_default();
            let is_address = token.contains("://") || token.contains('@');
            let between_digits = previous.is_ascii_digit() && next.is_ascii_digit();
            let in_token = match mark {
                'x' | '×' | '*' if between_digits => false,
                '—' | '→' => false,
                '/' => start.is_some() || is_word(next),
                '.' if next == '/' => true,
                '-' | '−' | '+' | '.' => is_word(next),
                ',' | ':' if between_digits => true,
                ':' if next == '/' => true,
                ',' | ':' | ';' | '=' => is_address && is_word(next),
                '\'' | '’' => start.is_some() && is_word(previous) && is_word(next),
                mark => is_word(mark) || start.is_some() && !mark.is_whitespace() && is_word(next),
            };
            if in_token {
                start = start.or(Some(at));
            } else {
                if let Some(start) = start.take() {
                    text.push(start..at);
                }
                text.punctuate(mark);
                match quote {
                    Some((close, first)) if close == mark => {
                        quote = None;
                        text.quote(first);
                    }
                    None if !is_word(previous) => {
                        quote = closing(mark).map(|close| (close, text.tokens.len()));
                    }
                    _ => {}
                }
            }
            previous = mark;
            if text.tokens.len() >= MAX_TOKENS {
                break;
            }
        }
        if let Some(start) = start {
            text.push(start..source.len());
        }
        text.quantities = quantities(&text.tokens);
        text
    }

    fn push(&mut self, range: Range<usize>) {
        let text = self.source.get(range.clone()).unwrap_or_default();
        let lower = text.to_lowercase().replace('’', "'");
        self.tokens.push(Token {
            text,
            range,
            stem: stem(&lower),
            lower,
            punctuation: Punctuation::None,
            quoted: false,
        });
    }

    fn punctuate(&mut self, mark: char) {
        let punctuation = match mark {
            ',' => Punctuation::Comma,
            ':' | '=' => Punctuation::Colon,
            '.' | '!' | '?' | ';' | '…' | '\n' => Punctuation::Stop,
            _ => return,
        };
        if let Some(last) = self.tokens.last_mut() {
            last.punctuation = punctuation;
        }
    }

    fn quote(&mut self, first: usize) {
        self.quotes.push(first..self.tokens.len());
        self.quotes.retain(|quote| !quote.is_empty());
        for token in self.tokens.iter_mut().skip(first) {
            token.quoted = true;
        }
    }

    /// Returns the source from the first of these tokens to the last.
    pub(crate) fn slice(&self, tokens: Range<usize>) -> &'t str {
        let tokens = self.tokens.get(tokens).unwrap_or_default();
        let (Some(first), Some(last)) = (tokens.first(), tokens.last()) else {
            return "";
        };
        let range = first.range.start..last.range.end;
        self.source.get(range).unwrap_or_default()
    }

    /// Returns true if the token at this position is one of these words.
    pub(crate) fn is(&self, at: usize, words: &str) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(words))
    }

    /// Returns the words to search the tools for, and the units of numbers.
    pub(crate) fn terms(&self) -> Vec<Term> {
        let words = self.tokens.iter().enumerate().filter(|(_, word)| !word.quoted);
        let words = words.filter(|(_, word)| !word.is_stop_word());
        let terms = words.flat_map(|(at, word)| {
            let is_name = at > 0 && word.is_capitalized();
            Term::of_word(word.text, at, !is_name)
        });
        let units = self.quantities.iter().filter_map(|quantity| {
            let unit = unit_names(quantity.unit?).next()?;
            Some(Term::of_word(unit, quantity.tokens.start, false))
        });
        terms.chain(units.flatten()).collect()
    }

    /// Returns true if the text refers to something earlier: "there", "convert that", "and in London".
    pub(crate) fn refers_back(&self) -> bool {
        const POINTERS: &str =
            "that that's this those these them same again result its previous last";
        let is_pointer = |(at, token): (usize, &Token<'_>)| {
            // "What time is it" and "is there" do not refer to anything.
            let is_expletive = self.is(at + 1, "is are was will 's")
                || at > 0 && self.is(at - 1, "is was are were does will would has");
            let is_value = self.is(at + 1, "temperature value amount number total sum");
            let is_pronoun = token.is("it there") && !is_expletive;
            !token.quoted && (is_pronoun || token.is(POINTERS) || token.is("the") && is_value)
        };
        self.is(0, "and also then")
            || self.is(0, "what how") && self.is(1, "about")
            || self.tokens.iter().enumerate().any(is_pointer)
    }
}

/// Returns the first bytes of a text, cut between characters.
pub(crate) fn head(text: &str, max: usize) -> &str {
    text.get(..text.floor_char_boundary(max)).unwrap_or_default()
}

fn is_word(mark: char) -> bool {
    mark.is_alphanumeric() || matches!(mark, '%' | '°' | '$' | '€' | '£' | '¥')
}

/// Returns the mark that closes a quotation which this mark opens.
fn closing(mark: char) -> Option<char> {
    let pairs = ["\"\"", "''", "``", "“”", "„“", "‘’", "«»", "»«"];
    let pair = pairs.iter().find(|pair| pair.starts_with(mark))?;
    pair.chars().next_back()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<&str> {
        let text = Text::new(text);
        text.tokens.iter().map(|token| token.text).collect()
    }

    #[test]
    fn punctuation_separates_words_but_not_numbers_addresses_and_codes() {
        assert_eq!(
            read("width=3, (order #42): A-1042; 14:30."),
            ["width", "3", "order", "42", "A-1042", "14:30"]
        );
        assert_eq!(
            read("3x4 $1,000.50 -40 50% https://a.b/c?d=e, x@y.de src/lib.rs? ./a docs/"),
            [
                "3",
                "4",
                "$1,000.50",
                "-40",
                "50%",
                "https://a.b/c?d=e",
                "x@y.de",
                "src/lib.rs",
                "./a",
                "docs/"
            ]
        );
    }

    #[test]
    fn quotations_are_found_and_apostrophes_are_none() {
        let text = Text::new("it's “War and Peace”, isn't it 'so'");
        let quotes: Vec<&str> = text.quotes.iter().map(|it| text.slice(it.clone())).collect();
        assert_eq!(quotes, ["War and Peace", "so"]);
    }

    #[test]
    fn references_to_earlier_text_are_recognised() {
        for text in ["And the weather there?", "convert it to F", "what about London"] {
            assert!(Text::new(text).refers_back(), "{text}");
        }
        for text in ["What time is it?", "Is there rain in Paris?", "\"that\""] {
            assert!(!Text::new(text).refers_back(), "{text}");
        }
    }
}
