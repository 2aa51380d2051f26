//! Generates text that matches a regular expression.
//!
//! Supports what schemas commonly use: literals, classes, groups, alternatives, repetition and anchors. Look-around is
//! skipped, and then the text may not match.

mod parse;

use crate::rng::SeededRng;

/// The maximum number of pieces that are written.
const MAX_PIECES: usize = 20_000;

/// The characters for classes that exclude some, letters first because they are most readable.
const FILLER_CHARACTERS: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-.,:;!?/@#$%&*()[]{}<>=+'\"~|\\^`\té€🦀";

/// A parsed regular expression.
pub(crate) struct Pattern {
    alternatives: Vec<Sequence>,
    /// Whether something was skipped.
    approximate: bool,
    /// Whether any text may come before the match.
    pub(crate) open_start: bool,
    /// Whether any text may come after the match.
    pub(crate) open_end: bool,
}

type Sequence = Vec<Repeated>;

/// A piece and its number of repetitions.
struct Repeated {
    piece: Piece,
    min: usize,
    max: usize,
}

enum Piece {
    Character(char),
    Class(CharClass),
    Group(Vec<Sequence>),
    /// An anchor, or look-around.
    Empty,
}

/// A set of characters.
#[derive(Clone, Default)]
struct CharClass {
    ranges: Vec<(char, char)>,
    negated: bool,
}

impl Pattern {
    /// Parses an expression; `None` if it uses unsupported syntax.
    pub(crate) fn parse(source: &str) -> Option<Self> {
        parse::parse(source)
    }

    /// Returns true if every generated text matches.
    pub(crate) fn is_exact(&self) -> bool {
        !self.approximate
    }

    /// Generates a text; `appetite` is how many extra repetitions are allowed. `None` if it gets too long.
    pub(crate) fn generate(&self, rng: &mut SeededRng, appetite: usize) -> Option<String> {
        let mut writer = PatternWriter {
            rng,
            extra_repeats: appetite,
            remaining_pieces: MAX_PIECES,
            text: String::new(),
        };
        writer.write_alternative(&self.alternatives)?;
        Some(writer.text)
    }
}

struct PatternWriter<'w> {
    rng: &'w mut SeededRng,
    extra_repeats: usize,
    /// How many pieces may still be written, empty ones included.
    remaining_pieces: usize,
    text: String,
}

impl PatternWriter<'_> {
    fn write_alternative(&mut self, alternatives: &[Sequence]) -> Option<()> {
        for repeated in self.rng.pick(alternatives)? {
            let Repeated { piece, min, max } = repeated;
            let max = min.saturating_add(self.extra_repeats).min(*max);
            for _ in 0..self.rng.between(*min as i128, max as i128) {
                self.remaining_pieces = self.remaining_pieces.checked_sub(1)?;
                match piece {
                    Piece::Character(character) => self.text.push(*character),
                    Piece::Class(class) => self.text.push(class.pick(self.rng)?),
                    Piece::Group(inner) => self.write_alternative(inner)?,
                    Piece::Empty => {}
                }
            }
        }
        Some(())
    }
}

impl CharClass {
    fn contains(&self, character: char) -> bool {
        let within = |(low, high): &(char, char)| (*low..=*high).contains(&character);
        self.ranges.iter().any(within) != self.negated
    }

    fn pick(&self, rng: &mut SeededRng) -> Option<char> {
        if self.negated {
            let free: Vec<char> =
                FILLER_CHARACTERS.chars().filter(|it| self.contains(*it)).collect();
            // Mostly letters, as a person would write.
            let end = if rng.chance_one_in(4) { free.len() } else { free.len().min(26) };
            return free.get(rng.below(end)).copied();
        }
        // Wide ranges more often, but limited, so that letters are not lost among all of Unicode.
        let weight =
            |(low, high): &(char, char)| (u32::from(*high) - u32::from(*low)).min(25) as usize + 1;
        let mut at = rng.below(self.ranges.iter().map(weight).sum());
        let (low, high) = self.ranges.iter().find(|range| {
            let found = at < weight(range);
            at = at.saturating_sub(weight(range));
            found
        })?;
        let drawn = rng.between(u32::from(*low).into(), u32::from(*high).into());
        // Between the two ends there may be code points that are not characters.
        let drawn = u32::try_from(drawn).ok().and_then(char::from_u32);
        drawn.or(Some(*low))
    }
}
