//! The text of a regular expression in, its pieces out.

use std::{iter::Peekable, str::Chars};

use super::{Class, Pattern, Piece, Repeated, Sequence};

/// How deep groups may nest.
const DEEP: usize = 32;

pub(super) fn parse(source: &str) -> Option<Pattern> {
    let mut parser = Parser {
        rest: source.chars().peekable(),
        unsure: false,
        starts: false,
        ends: false,
    };
    let alternatives = parser.alternatives(DEEP)?;
    if parser.rest.next().is_some() {
        return None;
    }
    Some(Pattern {
        alternatives,
        unsure: parser.unsure,
        open_start: !parser.starts,
        open_end: !parser.ends,
    })
}

struct Parser<'p> {
    rest: Peekable<Chars<'p>>,
    unsure: bool,
    /// Whether there are anchors of the start and of the end.
    starts: bool,
    ends: bool,
}

impl Parser<'_> {
    fn takes(&mut self, wanted: char) -> bool {
        self.rest.next_if_eq(&wanted).is_some()
    }

    fn alternatives(&mut self, depth: usize) -> Option<Vec<Sequence>> {
        let depth = depth.checked_sub(1)?;
        let mut all = vec![self.sequence(depth)?];
        while self.takes('|') {
            all.push(self.sequence(depth)?);
        }
        Some(all)
    }

    fn sequence(&mut self, depth: usize) -> Option<Sequence> {
        let mut sequence = Vec::new();
        while let Some(next) = self.rest.next_if(|next| !matches!(next, '|' | ')')) {
            let piece = self.piece(next, depth)?;
            let (least, most) = self.repetition()?;
            // An anchor in the midst of text is left to the validator.
            let last = self
                .rest
                .peek()
                .is_none_or(|next| matches!(next, '|' | ')'));
            self.unsure |= next == '^' && !sequence.is_empty() || next == '$' && !last;
            self.starts |= next == '^';
            self.ends |= next == '$';
            sequence.push(Repeated { piece, least, most });
        }
        Some(sequence)
    }

    fn piece(&mut self, first: char, depth: usize) -> Option<Piece> {
        Some(match first {
            '^' | '$' => Piece::Nothing,
            '.' => Piece::Class(Class {
                ranges: vec![('\n', '\n'), ('\r', '\r'), ('\u{2028}', '\u{2029}')],
                excludes: true,
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
        if self.takes('?') {
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
        if !self.takes(')') {
            return None;
        }
        self.unsure |= looks;
        Some(if looks {
            Piece::Nothing
        } else {
            Piece::Group(inner)
        })
    }

    /// How often the piece before is repeated.
    fn repetition(&mut self) -> Option<(usize, usize)> {
        let times = if self.takes('*') {
            (0, usize::MAX)
        } else if self.takes('+') {
            (1, usize::MAX)
        } else if self.takes('?') {
            (0, 1)
        } else if self.takes('{') {
            let least = self.digits()?;
            let most = match (self.takes(','), self.rest.peek()?) {
                (false, _) => least,
                (true, '}') => usize::MAX,
                (true, _) => self.digits()?,
            };
            if !self.takes('}') {
                return None;
            }
            (least, most)
        } else {
            return Some((1, 1));
        };
        // Lazy repetition matches the same texts.
        self.takes('?');
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
        if self
            .rest
            .next_if(|next| matches!(next, 'b' | 'B'))
            .is_some()
        {
            self.unsure = true;
            return Some(Piece::Nothing);
        }
        self.escaped().map(|escaped| match escaped {
            Escaped::Character(character) => Piece::Character(character),
            Escaped::Class(class) => Piece::Class(class),
        })
    }

    fn escaped(&mut self) -> Option<Escaped> {
        Some(Escaped::Character(match self.rest.next()? {
            'd' => return class(&[('0', '9')], false),
            'D' => return class(&[('0', '9')], true),
            'w' => return class(&WORD, false),
            'W' => return class(&WORD, true),
            's' => return class(&[(' ', ' ')], false),
            'S' => return class(&SPACE, true),
            'p' => return self.property(),
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'f' => '\u{c}',
            'v' => '\u{b}',
            'x' => self.code(2)?,
            'u' => self.code(4)?,
            // References to groups, properties that exclude, control characters.
            next if next.is_ascii_alphanumeric() => return None,
            next => next,
        }))
    }

    /// A Unicode property, of which only the plainest members are used.
    fn property(&mut self) -> Option<Escaped> {
        if !self.takes('{') {
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
                class(&[('a', 'z')], false)
            }
            "Lu" | "Uppercase_Letter" => class(&[('A', 'Z')], false),
            "N" | "Nd" | "Number" | "Decimal_Number" => class(&[('0', '9')], false),
            _ => None,
        }
    }

    fn code(&mut self, digits: usize) -> Option<char> {
        let code: String = self.rest.by_ref().take(digits).collect();
        char::from_u32(u32::from_str_radix(&code, 16).ok()?)
    }

    fn class(&mut self) -> Option<Class> {
        let mut class = Class {
            excludes: self.takes('^'),
            ..Class::default()
        };
        loop {
            let low = match self.rest.next()? {
                ']' => return Some(class),
                '\\' => match self.escaped()? {
                    Escaped::Class(inner) if inner.excludes => return None,
                    Escaped::Class(inner) => {
                        class.ranges.extend(inner.ranges);
                        continue;
                    }
                    Escaped::Character(character) => character,
                },
                '[' => return None,
                character => character,
            };
            class.ranges.push((low, self.upper(low)?));
        }
    }

    /// The end of a range that starts with `low`, or `low` again if it is no range.
    fn upper(&mut self, low: char) -> Option<char> {
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
    Class(Class),
}

const WORD: [(char, char); 4] = [('a', 'z'), ('A', 'Z'), ('0', '9'), ('_', '_')];
const SPACE: [(char, char); 3] = [('\t', '\r'), (' ', ' '), ('\u{a0}', '\u{a0}')];

fn class(ranges: &[(char, char)], excludes: bool) -> Option<Escaped> {
    Some(Escaped::Class(Class {
        ranges: ranges.to_vec(),
        excludes,
    }))
}
