//! Parses a regular expression.

use std::{iter::Peekable, str::Chars};

use super::{CharClass, Pattern, Piece, Repeated, Sequence};

/// The maximum nesting of groups.
const MAX_DEPTH: usize = 32;

pub(super) fn parse(source: &str) -> Option<Pattern> {
    let mut parser = Parser {
        rest: source.chars().peekable(),
        approximate: false,
        anchored_start: false,
        anchored_end: false,
    };
    let alternatives = parser.alternatives(MAX_DEPTH)?;
    if parser.rest.next().is_some() {
        return None;
    }
    Some(Pattern {
        alternatives,
        approximate: parser.approximate,
        open_start: !parser.anchored_start,
        open_end: !parser.anchored_end,
    })
}

struct Parser<'p> {
    rest: Peekable<Chars<'p>>,
    approximate: bool,
    /// Whether there are anchors of the start and of the end.
    anchored_start: bool,
    anchored_end: bool,
}

impl Parser<'_> {
    fn consume(&mut self, wanted: char) -> bool {
        self.rest.next_if_eq(&wanted).is_some()
    }

    fn alternatives(&mut self, depth: usize) -> Option<Vec<Sequence>> {
        let depth = depth.checked_sub(1)?;
        let mut all = vec![self.sequence(depth)?];
        while self.consume('|') {
            all.push(self.sequence(depth)?);
        }
        Some(all)
    }

    fn sequence(&mut self, depth: usize) -> Option<Sequence> {
        let mut sequence = Vec::new();
        while let Some(next) = self.rest.next_if(|next| !matches!(next, '|' | ')')) {
            let piece = self.piece(next, depth)?;
            let (min, max) = self.repetition()?;
            // An anchor in the middle of a text is left to the validator.
            let last = self.rest.peek().is_none_or(|next| matches!(next, '|' | ')'));
            self.approximate |= next == '^' && !sequence.is_empty() || next == '$' && !last;
            self.anchored_start |= next == '^';
            self.anchored_end |= next == '$';
            sequence.push(Repeated { piece, min, max });
        }
        Some(sequence)
    }

    fn piece(&mut self, first: char, depth: usize) -> Option<Piece> {
        Some(match first {
            '^' | '$' => Piece::Empty,
            '.' => Piece::Class(CharClass {
                ranges: vec![('\n', '\n'), ('\r', '\r'), ('\u{2028}', '\u{2029}')],
                negated: true,
            }),
            '(' => return self.group(depth),
            '[' => Piece::Class(self.class()?),
            '\\' => return self.escape(),
            '*' | '+' | '?' | '{' => return None,
            character => Piece::Character(character),
        })
    }

    fn group(&mut self, depth: usize) -> Option<Piece> {
        let mut looks = false;
        if self.consume('?') {
            match self.rest.next()? {
                ':' => {}
                '=' | '!' => looks = true,
                '<' => match self.rest.peek()? {
                    '=' | '!' => looks = true,
                    _ => while self.rest.next()? != '>' {},
                },
                _ => return None,
            }
        }
        let inner = self.alternatives(depth)?;
        if !self.consume(')') {
            return None;
        }
        self.approximate |= looks;
        Some(if looks { Piece::Empty } else { Piece::Group(inner) })
    }

    /// The number of repetitions of the previous piece.
    fn repetition(&mut self) -> Option<(usize, usize)> {
        let times = if self.consume('*') {
            (0, usize::MAX)
        } else if self.consume('+') {
            (1, usize::MAX)
        } else if self.consume('?') {
            (0, 1)
        } else if self.consume('{') {
            let min = self.digits()?;
            let max = match (self.consume(','), self.rest.peek()?) {
                (false, _) => min,
                (true, '}') => usize::MAX,
                (true, _) => self.digits()?,
            };
            if !self.consume('}') {
                return None;
            }
            (min, max)
        } else {
            return Some((1, 1));
        };
        // Lazy repetition matches the same texts.
        self.consume('?');
        Some(times)
    }

    fn digits(&mut self) -> Option<usize> {
        let mut digits = String::new();
        while let Some(digit) = self.rest.next_if(char::is_ascii_digit) {
            digits.push(digit);
        }
        digits.parse().ok()
    }

    fn escape(&mut self) -> Option<Piece> {
        if self.rest.next_if(|next| matches!(next, 'b' | 'B')).is_some() {
            self.approximate = true;
            return Some(Piece::Empty);
        }
        self.escaped().map(|escaped| match escaped {
            Escaped::Character(character) => Piece::Character(character),
            Escaped::Class(class) => Piece::Class(class),
        })
    }

    fn escaped(&mut self) -> Option<Escaped> {
        Some(Escaped::Character(match self.rest.next()? {
            'd' => return class_escape(&[('0', '9')], false),
            'D' => return class_escape(&[('0', '9')], true),
            'w' => return class_escape(&WORD_RANGES, false),
            'W' => return class_escape(&WORD_RANGES, true),
            's' => return class_escape(&[(' ', ' ')], false),
            'S' => return class_escape(&SPACE_RANGES, true),
            'p' => return self.property(),
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'f' => '\u{c}',
            'v' => '\u{b}',
            'x' => self.code(2)?,
            'u' => self.code(4)?,
            // Back-references, negated properties, control characters.
            next if next.is_ascii_alphanumeric() => return None,
            next => next,
        }))
    }

    /// A Unicode property, of which only the most common characters are used.
    fn property(&mut self) -> Option<Escaped> {
        if !self.consume('{') {
            return None;
        }
        let mut name = String::new();
        loop {
            match self.rest.next()? {
                '}' => break,
                next => name.push(next),
            }
        }
        match name.as_str() {
            "L" | "Letter" | "Ll" | "Lowercase_Letter" | "Alphabetic" => {
                class_escape(&[('a', 'z')], false)
            }
            "Lu" | "Uppercase_Letter" => class_escape(&[('A', 'Z')], false),
            "N" | "Nd" | "Number" | "Decimal_Number" => class_escape(&[('0', '9')], false),
            _ => None,
        }
    }

    fn code(&mut self, digits: usize) -> Option<char> {
        let code: String = self.rest.by_ref().take(digits).collect();
        char::from_u32(u32::from_str_radix(&code, 16).ok()?)
    }

    fn class(&mut self) -> Option<CharClass> {
        let mut class = CharClass { negated: self.consume('^'), ..CharClass::default() };
        loop {
            let low = match self.rest.next()? {
                ']' => return Some(class),
                '\\' => match self.escaped()? {
                    Escaped::Class(inner) if inner.negated => return None,
                    Escaped::Class(inner) => {
                        class.ranges.extend(inner.ranges);
                        continue;
                    }
                    Escaped::Character(character) => character,
                },
                '[' => return None,
                character => character,
            };
            class.ranges.push((low, self.range_end(low)?));
        }
    }

    /// The end of a range that starts with `low`, or `low` if it is not a range.
    fn range_end(&mut self, low: char) -> Option<char> {
        let mut ahead = self.rest.clone();
        if ahead.next() != Some('-') || ahead.next() == Some(']') {
            return Some(low);
        }
        self.rest.next();
        let high = match self.rest.next()? {
            '\\' => match self.escaped()? {
                Escaped::Character(character) => character,
                Escaped::Class(_) => return None,
            },
            character => character,
        };
        (low <= high).then_some(high)
    }
}

enum Escaped {
    Character(char),
    Class(CharClass),
}

const WORD_RANGES: [(char, char); 4] = [('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')];
const SPACE_RANGES: [(char, char); 3] = [('\t', '\r'), (' ', ' '), ('\u{a0}', '\u{a0}')];

fn class_escape(ranges: &[(char, char)], excludes: bool) -> Option<Escaped> {
    Some(Escaped::Class(CharClass { ranges: ranges.to_vec(), negated: excludes }))
}
