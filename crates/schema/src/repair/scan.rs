//! One pass over untidy JSON that writes it down tidily.
//!
//! A state machine over tokens with its own stack: no recursion, every byte looked at once, and each step either writes
//! what was surely meant or gives up.

use super::Unrepairable;
use crate::{Limits, ParseError};

const COMMA: &str = "trailing comma removed";
const SINGLE: &str = "single quotes replaced";
const SMART: &str = "typographic quotes replaced";
const BARE_KEY: &str = "unquoted key quoted";
const PYTHON: &str = "Python literal replaced";

/// What may come next.
#[derive(Clone, Copy, PartialEq)]
enum Next {
    Value,
    /// The first element, or none.
    ValueOrEnd,
    /// After a comma: an element, or the end if the comma was one too many.
    ValueAfterComma,
    KeyOrEnd,
    KeyAfterComma,
    Colon,
    CommaOrEnd,
    Nothing,
}

/// Rewrites the text token by token.
pub(super) fn mended(
    text: &str,
    limits: &Limits,
    notes: &mut Vec<&'static str>,
) -> Result<String, Unrepairable> {
    let mut scan = Scan {
        text,
        at: 0,
        out: String::with_capacity(text.len() + 16),
        open: Vec::new(),
        next: Next::Value,
        notes,
    };
    loop {
        scan.blanks();
        match scan.peek() {
            None if scan.next == Next::Nothing => return Ok(scan.out),
            None => return Err(Unrepairable::Truncated),
            Some(c) => scan.token(c, limits.depth)?,
        }
    }
}

struct Scan<'t, 'n> {
    text: &'t str,
    at: usize,
    out: String,
    /// The closing brackets that are still owed.
    open: Vec<char>,
    next: Next,
    notes: &'n mut Vec<&'static str>,
}

impl<'t> Scan<'t, '_> {
    fn rest(&self) -> &'t str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn blanks(&mut self) {
        self.at = self.text.len()
            - self
                .rest()
                .trim_start_matches([' ', '\t', '\n', '\r'])
                .len();
    }

    fn note(&mut self, note: &'static str) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    fn unclear<T>(&self, message: &str) -> Result<T, Unrepairable> {
        Err(Unrepairable::Ambiguous {
            at: self.at,
            message: message.to_owned(),
        })
    }

    fn token(&mut self, c: char, deepest: usize) -> Result<(), Unrepairable> {
        let wants_value = matches!(
            self.next,
            Next::Value | Next::ValueOrEnd | Next::ValueAfterComma
        );
        let wants_key = matches!(self.next, Next::KeyOrEnd | Next::KeyAfterComma);
        match c {
            '{' | '[' if wants_value => {
                if self.open.len() >= deepest {
                    return Err(Unrepairable::Refused(ParseError::TooDeep {
                        limit: deepest,
                    }));
                }
                self.open.push(if c == '{' { '}' } else { ']' });
                self.next = if c == '{' {
                    Next::KeyOrEnd
                } else {
                    Next::ValueOrEnd
                };
                self.copy(c);
            }
            '}' | ']' => return self.close(c),
            ',' if self.next == Next::CommaOrEnd => {
                self.next = if self.open.last() == Some(&'}') {
                    Next::KeyAfterComma
                } else {
                    Next::ValueAfterComma
                };
                self.copy(c);
            }
            ':' if self.next == Next::Colon => {
                self.next = Next::Value;
                self.copy(c);
            }
            '"' | '\'' | '\u{201c}' if wants_value || wants_key => {
                match c {
                    '"' => self.double_quoted()?,
                    '\'' => self.single_quoted()?,
                    _ => self.smart_quoted()?,
                }
                self.follow(wants_key);
            }
            _ if wants_key => {
                let word = self.word();
                if !is_identifier(word) {
                    return self.unclear("expected a key");
                }
                self.out.push('"');
                self.out.push_str(word);
                self.out.push('"');
                self.at += word.len();
                self.note(BARE_KEY);
                self.follow(true);
            }
            _ if wants_value => {
                let word = self.word();
                let plain = match word {
                    "True" => "true",
                    "False" => "false",
                    "None" => "null",
                    "true" | "false" | "null" => word,
                    _ if word.parse::<serde_json::Number>().is_ok() => word,
                    _ => return self.unclear("expected a value"),
                };
                if plain != word {
                    self.note(PYTHON);
                }
                self.out.push_str(plain);
                self.at += word.len();
                self.follow(false);
            }
            _ => return self.unclear(&format!("unexpected `{c}`")),
        }
        Ok(())
    }

    fn copy(&mut self, c: char) {
        self.out.push(c);
        self.at += c.len_utf8();
    }

    fn follow(&mut self, was_key: bool) {
        self.next = match (was_key, self.open.is_empty()) {
            (true, _) => Next::Colon,
            (false, true) => Next::Nothing,
            (false, false) => Next::CommaOrEnd,
        };
    }

    fn close(&mut self, c: char) -> Result<(), Unrepairable> {
        let may_end = match self.next {
            Next::CommaOrEnd => true,
            Next::ValueOrEnd | Next::ValueAfterComma => c == ']',
            Next::KeyOrEnd | Next::KeyAfterComma => c == '}',
            _ => false,
        };
        if !may_end || self.open.last() != Some(&c) {
            return self.unclear(&format!("unexpected `{c}`"));
        }
        if matches!(self.next, Next::ValueAfterComma | Next::KeyAfterComma) {
            // Blanks are not copied, so the comma is what was written last.
            self.out.pop();
            self.note(COMMA);
        }
        self.open.pop();
        self.copy(c);
        self.follow(false);
        Ok(())
    }

    fn word(&self) -> &'t str {
        let rest = self.rest();
        let end = rest
            .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '+' | '-' | '.')))
            .unwrap_or(rest.len());
        rest.get(..end).unwrap_or_default()
    }

    /// Copied as it is; whether its escapes are right is for the parser to say.
    fn double_quoted(&mut self) -> Result<(), Unrepairable> {
        let end = self.closing('"')?;
        self.out
            .push_str(self.text.get(self.at..end).unwrap_or_default());
        self.at = end;
        Ok(())
    }

    fn single_quoted(&mut self) -> Result<(), Unrepairable> {
        let end = self.closing('\'')?;
        let content = self.text.get(self.at + 1..end - 1).unwrap_or_default();
        self.out.push('"');
        let mut escaped = false;
        for c in content.chars() {
            match c {
                '\'' if escaped => self.out.push('\''),
                '"' if escaped => self.out.push_str("\\\""),
                '"' => self.out.push_str("\\\""),
                _ if escaped => {
                    self.out.push('\\');
                    self.out.push(c);
                }
                '\\' => {}
                _ => self.out.push(c),
            }
            escaped = c == '\\' && !escaped;
        }
        self.out.push('"');
        self.at = end;
        self.note(SINGLE);
        self.ends_cleanly()
    }

    /// The end of the string that starts here, its closing quote included.
    fn closing(&self, quote: char) -> Result<usize, Unrepairable> {
        let mut escaped = false;
        for (at, c) in self.rest().char_indices().skip(1) {
            if c == quote && !escaped {
                return Ok(self.at + at + 1);
            }
            escaped = c == '\\' && !escaped;
        }
        Err(Unrepairable::Truncated)
    }

    fn smart_quoted(&mut self) -> Result<(), Unrepairable> {
        let content = self.rest().strip_prefix('\u{201c}').unwrap_or_default();
        let Some(end) = content.find(['\u{201c}', '\u{201d}', '"', '\\', '\n']) else {
            return Err(Unrepairable::Truncated);
        };
        let (content, after) = content.split_at(end);
        if !after.starts_with('\u{201d}') {
            return self.unclear("typographic quotes around other quotes");
        }
        self.out.push('"');
        self.out.push_str(content);
        self.out.push('"');
        self.at += content.len() + 2 * '\u{201d}'.len_utf8();
        self.note(SMART);
        self.ends_cleanly()
    }

    /// After an odd closing quote the string must really be over: `'it's'` is not.
    fn ends_cleanly(&mut self) -> Result<(), Unrepairable> {
        self.blanks();
        match self.peek() {
            None | Some(',' | ':' | '}' | ']') => Ok(()),
            Some(_) => self.unclear("a quote inside a string in the same quotes"),
        }
    }
}

fn is_identifier(word: &str) -> bool {
    let mut chars = word.chars();
    chars
        .next()
        .is_some_and(|c| c.is_alphabetic() || matches!(c, '_' | '$'))
        && chars.all(|c| c.is_alphanumeric() || matches!(c, '_' | '$'))
}
