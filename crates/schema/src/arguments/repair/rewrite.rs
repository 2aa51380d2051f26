//! Rewrites almost-JSON token by token into JSON.
//!
//! A state machine with its own stack: no recursion, one pass over the bytes, and each step either writes the only possible
//! interpretation or fails.

use super::RepairError;
use crate::{InputLimits, ParseError};

/// The tokens that may follow.
#[derive(Clone, Copy, PartialEq)]
enum Expected {
    Value,
    /// The first element of an array, or its end.
    ValueOrEnd,
    /// After a comma: an element, or the end of the array if the comma is a trailing one.
    ValueAfterComma,
    KeyOrEnd,
    KeyAfterComma,
    Colon,
    CommaOrEnd,
    EndOfText,
}

/// Rewrites the text token by token.
pub(super) fn rewrite(
    text: &str,
    limits: &InputLimits,
    notes: &mut Vec<&'static str>,
) -> Result<String, RepairError> {
    let mut rewriter = Rewriter {
        text,
        position: 0,
        output: String::with_capacity(text.len() + 16),
        open_brackets: Vec::new(),
        expected: Expected::Value,
        notes,
    };
    loop {
        rewriter.skip_whitespace();
        match rewriter.peek() {
            None if rewriter.expected == Expected::EndOfText => return Ok(rewriter.output),
            None => return Err(RepairError::Truncated),
            Some(c) => rewriter.rewrite_token(c, limits.depth)?,
        }
    }
}

struct Rewriter<'t, 'n> {
    text: &'t str,
    position: usize,
    output: String,
    /// The closing brackets that are still missing, outermost first.
    open_brackets: Vec<char>,
    expected: Expected,
    notes: &'n mut Vec<&'static str>,
}

impl<'t> Rewriter<'t, '_> {
    fn rest(&self) -> &'t str {
        self.text.get(self.position..).unwrap_or_default()
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip_whitespace(&mut self) {
        self.position =
            self.text.len() - self.rest().trim_start_matches([' ', '\t', '\n', '\r']).len();
    }

    fn add_note(&mut self, note: &'static str) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    fn ambiguous<T>(&self, message: &str) -> Result<T, RepairError> {
        Err(RepairError::Ambiguous { at: self.position, message: message.to_owned() })
    }

    fn rewrite_token(&mut self, c: char, max_depth: usize) -> Result<(), RepairError> {
        let wants_value = matches!(
            self.expected,
            Expected::Value | Expected::ValueOrEnd | Expected::ValueAfterComma
        );
        let wants_key = matches!(self.expected, Expected::KeyOrEnd | Expected::KeyAfterComma);
        match c {
            '{' | '[' if wants_value => {
                if self.open_brackets.len() >= max_depth {
                    return Err(RepairError::Rejected(ParseError::TooDeep { limit: max_depth }));
                }
                self.open_brackets.push(if c == '{' { '}' } else { ']' });
                self.expected = if c == '{' { Expected::KeyOrEnd } else { Expected::ValueOrEnd };
                self.copy_char(c);
            }
            '}' | ']' => return self.close_bracket(c),
            ',' if self.expected == Expected::CommaOrEnd => {
                self.expected = if self.open_brackets.last() == Some(&'}') {
                    Expected::KeyAfterComma
                } else {
                    Expected::ValueAfterComma
                };
                self.copy_char(c);
            }
            ':' if self.expected == Expected::Colon => {
                self.expected = Expected::Value;
                self.copy_char(c);
            }
            '"' | '\'' | '\u{201c}' if wants_value || wants_key => {
                match c {
                    '"' => self.copy_double_quoted()?,
                    '\'' => self.rewrite_single_quoted()?,
                    _ => self.rewrite_typographic_quoted()?,
                }
                self.expect_after_value(wants_key);
            }
            _ if wants_key => {
                let word = self.peek_word();
                if !is_identifier(word) {
                    return self.ambiguous("expected a key");
                }
                self.push_quoted(word);
                self.position += word.len();
                self.add_note("unquoted key quoted");
                self.expect_after_value(true);
            }
            _ if wants_value => {
                let word = self.peek_word();
                let plain = match word {
                    "True" => "true",
                    "False" => "false",
                    "None" => "null",
                    "true" | "false" | "null" => word,
                    _ if word.parse::<serde_json::Number>().is_ok() => word,
                    _ => return self.ambiguous("expected a value"),
                };
                if plain != word {
                    self.add_note("Python literal replaced");
                }
                self.output.push_str(plain);
                self.position += word.len();
                self.expect_after_value(false);
            }
            _ => return self.ambiguous(&format!("unexpected `{c}`")),
        }
        Ok(())
    }

    fn copy_char(&mut self, c: char) {
        self.output.push(c);
        self.position += c.len_utf8();
    }

    fn push_quoted(&mut self, text: &str) {
        self.output.extend(["\"", text, "\""]);
    }

    fn expect_after_value(&mut self, was_key: bool) {
        self.expected = match (was_key, self.open_brackets.is_empty()) {
            (true, _) => Expected::Colon,
            (false, true) => Expected::EndOfText,
            (false, false) => Expected::CommaOrEnd,
        };
    }

    fn close_bracket(&mut self, c: char) -> Result<(), RepairError> {
        let may_end = match self.expected {
            Expected::CommaOrEnd => true,
            Expected::ValueOrEnd | Expected::ValueAfterComma => c == ']',
            Expected::KeyOrEnd | Expected::KeyAfterComma => c == '}',
            _ => false,
        };
        if !may_end || self.open_brackets.last() != Some(&c) {
            return self.ambiguous(&format!("unexpected `{c}`"));
        }
        if matches!(self.expected, Expected::ValueAfterComma | Expected::KeyAfterComma) {
            // Whitespace is not copied, so the last character is the comma.
            self.output.pop();
            self.add_note("trailing comma removed");
        }
        self.open_brackets.pop();
        self.copy_char(c);
        self.expect_after_value(false);
        Ok(())
    }

    fn peek_word(&self) -> &'t str {
        let rest = self.rest();
        let end = rest
            .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$' | '+' | '-' | '.')))
            .unwrap_or(rest.len());
        rest.get(..end).unwrap_or_default()
    }

    /// Copied unchanged; the parser checks its escapes.
    fn copy_double_quoted(&mut self) -> Result<(), RepairError> {
        let end = self.closing_quote_end('"')?;
        self.output.push_str(self.text.get(self.position..end).unwrap_or_default());
        self.position = end;
        Ok(())
    }

    fn rewrite_single_quoted(&mut self) -> Result<(), RepairError> {
        let end = self.closing_quote_end('\'')?;
        let content = self.text.get(self.position + 1..end - 1).unwrap_or_default();
        self.output.push('"');
        let mut escaped = false;
        for c in content.chars() {
            match c {
                '\'' if escaped => self.output.push('\''),
                '"' => self.output.push_str("\\\""),
                _ if escaped => {
                    self.output.push('\\');
                    self.output.push(c);
                }
                '\\' => {}
                _ => self.output.push(c),
            }
            escaped = c == '\\' && !escaped;
        }
        self.output.push('"');
        self.position = end;
        self.add_note("single quotes replaced");
        self.check_string_end()
    }

    /// The end of the string that starts here, its closing quote included.
    fn closing_quote_end(&self, quote: char) -> Result<usize, RepairError> {
        let mut escaped = false;
        for (at, c) in self.rest().char_indices().skip(1) {
            if c == quote && !escaped {
                return Ok(self.position + at + 1);
            }
            escaped = c == '\\' && !escaped;
        }
        Err(RepairError::Truncated)
    }

    fn rewrite_typographic_quoted(&mut self) -> Result<(), RepairError> {
        let content = self.rest().strip_prefix('\u{201c}').unwrap_or_default();
        let Some(end) = content.find(['\u{201c}', '\u{201d}', '"', '\\', '\n']) else {
            return Err(RepairError::Truncated);
        };
        let (content, after) = content.split_at(end);
        if !after.starts_with('\u{201d}') {
            return self.ambiguous("typographic quotes around other quotes");
        }
        self.push_quoted(content);
        self.position += content.len() + 2 * '\u{201d}'.len_utf8();
        self.add_note("typographic quotes replaced");
        self.check_string_end()
    }

    /// After a non-standard closing quote a delimiter must follow: in `'it's'` it does not.
    fn check_string_end(&mut self) -> Result<(), RepairError> {
        self.skip_whitespace();
        match self.peek() {
            None | Some(',' | ':' | '}' | ']') => Ok(()),
            Some(_) => self.ambiguous("a quote inside a string in the same quotes"),
        }
    }
}

fn is_identifier(word: &str) -> bool {
    let mut chars = word.chars();
    chars.next().is_some_and(|c| c.is_alphabetic() || matches!(c, '_' | '$'))
        && chars.all(|c| c.is_alphanumeric() || matches!(c, '_' | '$'))
}
