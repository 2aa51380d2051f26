//! Parses `.properties` files.
//!
//! The format is Java's, as UTF-8. Unknown escapes and unpaired surrogates, which Java accepts, are errors.

use std::iter::{Enumerate, Peekable};
use std::str::Split;

use super::{FileSetting, SyntaxError};
use crate::secret::Secret;
use crate::value::SettingValue;

/// A character with its line, for errors in continued lines.
type CharAtLine = (char, usize);

pub(super) fn parse(text: &str) -> Result<Vec<FileSetting>, SyntaxError> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut lines = text.split('\n').enumerate();
    let mut settings = Vec::new();
    while let Some((index, first)) = lines.next() {
        let first = first.trim_start_matches(is_whitespace);
        if first.is_empty() || first.starts_with(['#', '!']) {
            continue;
        }
        let line = index + 1;
        let mut chars = logical_line(line, first, &mut lines)?.into_iter().peekable();
        let key = parse_key(&mut chars)?;
        if key.is_empty() {
            let problem = "expected a key before the sign, such as `key=value`".to_owned();
            return Err(SyntaxError { line, problem });
        }
        skip_to_value(&mut chars);
        let value = SettingValue::UntypedText(Secret::new(parse_value(&mut chars)?));
        settings.push(FileSetting { key, value, line });
    }
    Ok(settings)
}

fn is_whitespace(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\u{c}')
}

/// Joins a line with its continuation lines.
fn logical_line(
    mut line: usize,
    first: &str,
    lines: &mut Enumerate<Split<'_, char>>,
) -> Result<Vec<CharAtLine>, SyntaxError> {
    let mut chars = Vec::new();
    let mut part = first;
    loop {
        let continued = is_continued(part);
        let end = part.len() - usize::from(continued);
        let text = part.get(..end).unwrap_or(part);
        chars.extend(text.chars().map(|c| (c, line)));
        if !continued {
            return Ok(chars);
        }
        let Some((index, next)) = lines.next() else {
            let problem =
                "expected another line after the `\\` at the end: write `\\\\` for a backslash"
                    .to_owned();
            return Err(SyntaxError { line, problem });
        };
        line = index + 1;
        part = next.trim_start_matches(is_whitespace);
    }
}

fn is_continued(line: &str) -> bool {
    let backslashes = line.chars().rev().take_while(|c| *c == '\\').count();
    backslashes % 2 == 1
}

fn parse_key(
    chars: &mut Peekable<impl Iterator<Item = CharAtLine>>,
) -> Result<String, SyntaxError> {
    let mut key = String::new();
    while let Some((c, line)) =
        chars.next_if(|(c, _)| !is_whitespace(*c) && !matches!(c, '=' | ':'))
    {
        key.push(unescape(c, line, chars)?);
    }
    Ok(key)
}

/// Skips white space and at most one `=` or `:`.
fn skip_to_value(chars: &mut Peekable<impl Iterator<Item = CharAtLine>>) {
    while chars.next_if(|(c, _)| is_whitespace(*c)).is_some() {}
    if chars.next_if(|(c, _)| matches!(c, '=' | ':')).is_some() {
        while chars.next_if(|(c, _)| is_whitespace(*c)).is_some() {}
    }
}

fn parse_value(
    chars: &mut Peekable<impl Iterator<Item = CharAtLine>>,
) -> Result<String, SyntaxError> {
    let mut text = String::new();
    while let Some((c, line)) = chars.next() {
        text.push(unescape(c, line, chars)?);
    }
    Ok(text)
}

fn unescape(
    c: char,
    line: usize,
    chars: &mut impl Iterator<Item = CharAtLine>,
) -> Result<char, SyntaxError> {
    if c != '\\' {
        return Ok(c);
    }
    let problem = match chars.next() {
        Some(('t', _)) => return Ok('\t'),
        Some(('n', _)) => return Ok('\n'),
        Some(('r', _)) => return Ok('\r'),
        Some(('f', _)) => return Ok('\u{c}'),
        Some((c @ ('\\' | ':' | '=' | '#' | '!' | ' '), _)) => return Ok(c),
        Some(('u', line)) => return parse_unicode_escape(line, chars),
        Some((c, _)) => format!("unknown escape `\\{}`", c.escape_debug()),
        None => "nothing after a `\\`".to_owned(),
    };
    let problem = format!(
        "{problem}, expected one of \\t \\n \\r \\f \\\\ \\: \\= \\# \\! \\uXXXX or an escaped space"
    );
    Err(SyntaxError { line, problem })
}

/// Parses the rest of a `\u` escape: a character, or a surrogate and a second `\u` with its other half.
fn parse_unicode_escape(
    line: usize,
    chars: &mut impl Iterator<Item = CharAtLine>,
) -> Result<char, SyntaxError> {
    let first = parse_hex4(line, chars)?;
    let mut units = vec![first];
    if (0xd800..0xdc00).contains(&first)
        && let (Some(('\\', _)), Some(('u', line))) = (chars.next(), chars.next())
    {
        units.push(parse_hex4(line, chars)?);
    }
    match char::decode_utf16(units).next() {
        Some(Ok(c)) => Ok(c),
        _ => {
            let problem = format!(
                "\\u{first:04x} is half a character, expected a pair such as \\ud83d\\ude00"
            );
            Err(SyntaxError { line, problem })
        }
    }
}

fn parse_hex4(
    line: usize,
    chars: &mut impl Iterator<Item = CharAtLine>,
) -> Result<u16, SyntaxError> {
    let digits: String = chars.take(4).map(|(c, _)| c).collect();
    match u16::from_str_radix(&digits, 16) {
        Ok(unit) if digits.bytes().all(|b| b.is_ascii_hexdigit()) && digits.len() == 4 => Ok(unit),
        _ => {
            let problem = "expected four hexadecimal digits after \\u".to_owned();
            Err(SyntaxError { line, problem })
        }
    }
}
