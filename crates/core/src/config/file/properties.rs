//! The text of a `.properties` file in, its settings out.
//!
//! The format is Java's, read as UTF-8. Where Java guesses, at unknown escapes and half characters, this refuses.

use std::iter::{Enumerate, Peekable};
use std::str::Split;

use super::{Line, Mistake};
use crate::config::secret::Secret;
use crate::config::value::Value;

/// A character with the line it stands on, for mistakes in continued lines.
type Placed = (char, usize);

pub(super) fn read(text: &str) -> Result<Vec<Line>, Mistake> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut lines = text.split('\n').enumerate();
    let mut found = Vec::new();
    while let Some((at, first)) = lines.next() {
        let first = first.trim_start_matches(is_blank);
        if first.is_empty() || first.starts_with(['#', '!']) {
            continue;
        }
        let line = at + 1;
        let mut chars = logical_line(line, first, &mut lines)?
            .into_iter()
            .peekable();
        let key = key(&mut chars)?;
        if key.is_empty() {
            let problem = "expected a key before the sign, such as `key=value`".to_owned();
            return Err(Mistake { line, problem });
        }
        skip_to_value(&mut chars);
        let value = Value::Loose(Secret::new(rest(&mut chars)?));
        found.push(Line { key, value, line });
    }
    Ok(found)
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\u{c}')
}

/// Joins a line with those that continue it.
fn logical_line(
    mut line: usize,
    first: &str,
    lines: &mut Enumerate<Split<'_, char>>,
) -> Result<Vec<Placed>, Mistake> {
    let mut chars = Vec::new();
    let mut piece = first;
    loop {
        let continued = is_continued(piece);
        let whole = piece.len() - usize::from(continued);
        let kept = piece.get(..whole).unwrap_or(piece);
        chars.extend(kept.chars().map(|c| (c, line)));
        if !continued {
            return Ok(chars);
        }
        let Some((at, next)) = lines.next() else {
            let problem =
                "expected another line after the `\\` at the end: write `\\\\` for a backslash"
                    .to_owned();
            return Err(Mistake { line, problem });
        };
        line = at + 1;
        piece = next.trim_start_matches(is_blank);
    }
}

fn is_continued(piece: &str) -> bool {
    let slashes = piece.chars().rev().take_while(|c| *c == '\\').count();
    slashes % 2 == 1
}

fn key(chars: &mut Peekable<impl Iterator<Item = Placed>>) -> Result<String, Mistake> {
    let mut key = String::new();
    while let Some((c, line)) = chars.next_if(|(c, _)| !is_blank(*c) && !matches!(c, '=' | ':')) {
        key.push(unescaped(c, line, chars)?);
    }
    Ok(key)
}

/// Passes the white space around at most one sign.
fn skip_to_value(chars: &mut Peekable<impl Iterator<Item = Placed>>) {
    while chars.next_if(|(c, _)| is_blank(*c)).is_some() {}
    if chars.next_if(|(c, _)| matches!(c, '=' | ':')).is_some() {
        while chars.next_if(|(c, _)| is_blank(*c)).is_some() {}
    }
}

fn rest(chars: &mut Peekable<impl Iterator<Item = Placed>>) -> Result<String, Mistake> {
    let mut text = String::new();
    while let Some((c, line)) = chars.next() {
        text.push(unescaped(c, line, chars)?);
    }
    Ok(text)
}

fn unescaped(
    c: char,
    line: usize,
    chars: &mut impl Iterator<Item = Placed>,
) -> Result<char, Mistake> {
    if c != '\\' {
        return Ok(c);
    }
    let problem = match chars.next() {
        Some(('t', _)) => return Ok('\t'),
        Some(('n', _)) => return Ok('\n'),
        Some(('r', _)) => return Ok('\r'),
        Some(('f', _)) => return Ok('\u{c}'),
        Some((c @ ('\\' | ':' | '=' | '#' | '!' | ' '), _)) => return Ok(c),
        Some(('u', line)) => return unicode(line, chars),
        Some((c, _)) => format!("unknown escape `\\{}`", c.escape_debug()),
        None => "nothing after a `\\`".to_owned(),
    };
    let problem = format!(
        "{problem}, expected one of \\t \\n \\r \\f \\\\ \\: \\= \\# \\! \\uXXXX or an escaped space"
    );
    Err(Mistake { line, problem })
}

/// Reads what follows `\u`: a character, or the first half of one that another `\u` completes.
fn unicode(line: usize, chars: &mut impl Iterator<Item = Placed>) -> Result<char, Mistake> {
    let first = four_digits(line, chars)?;
    let mut units = vec![first];
    if (0xd800..0xdc00).contains(&first)
        && let (Some(('\\', _)), Some(('u', line))) = (chars.next(), chars.next())
    {
        units.push(four_digits(line, chars)?);
    }
    match char::decode_utf16(units).next() {
        Some(Ok(c)) => Ok(c),
        _ => {
            let problem = format!(
                "\\u{first:04x} is half a character, expected a pair such as \\ud83d\\ude00"
            );
            Err(Mistake { line, problem })
        }
    }
}

fn four_digits(line: usize, chars: &mut impl Iterator<Item = Placed>) -> Result<u16, Mistake> {
    let digits: String = chars.take(4).map(|(c, _)| c).collect();
    match u16::from_str_radix(&digits, 16) {
        Ok(unit) if digits.bytes().all(|b| b.is_ascii_hexdigit()) && digits.len() == 4 => Ok(unit),
        _ => {
            let problem = "expected four hexadecimal digits after \\u".to_owned();
            Err(Mistake { line, problem })
        }
    }
}
