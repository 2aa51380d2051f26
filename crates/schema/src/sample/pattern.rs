//! A regular expression in, texts that match it out.
//!
//! Only what schemas commonly use is understood: literals, classes, groups, alternatives, repetition and anchors. What looks
//! around is skipped, and then the text may not match.

mod parse;

use super::dice::Dice;

/// How many pieces are written at most.
const LONGEST: usize = 20_000;

/// What classes that exclude characters are filled from, letters first because they read best.
const COMMON: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _-.,:;!?/@#$%&*()[]{}<>=+'\"~|\\^`\té€🦀";

/// A regular expression that could be parsed.
pub(super) struct Pattern {
    alternatives: Vec<Sequence>,
    /// Whether something was skipped.
    unsure: bool,
    /// Whether anything may come before the match.
    pub(super) open_start: bool,
    /// Whether anything may come after the match.
    pub(super) open_end: bool,
}

type Sequence = Vec<Repeated>;

/// A piece and how often it comes.
struct Repeated {
    piece: Piece,
    least: usize,
    most: usize,
}

enum Piece {
    Character(char),
    Class(Class),
    Group(Vec<Sequence>),
    /// An anchor, or something that looks around.
    Nothing,
}

/// A set of characters.
#[derive(Clone, Default)]
struct Class {
    ranges: Vec<(char, char)>,
    excludes: bool,
}

impl Pattern {
    /// Reads an expression; `None` if it uses what is not understood.
    pub(super) fn parse(source: &str) -> Option<Self> {
        parse::parse(source)
    }

    /// Whether every text that is written matches.
    pub(super) fn is_sure(&self) -> bool {
        !self.unsure
    }

    /// Writes a text; `appetite` is how often a piece is repeated beyond need. `None` if it gets too long.
    pub(super) fn write(&self, dice: &mut Dice, appetite: usize) -> Option<String> {
        let mut writer = Writer {
            dice,
            appetite,
            left: LONGEST,
            text: String::new(),
        };
        writer.one_of(&self.alternatives)?;
        Some(writer.text)
    }
}

struct Writer<'w> {
    dice: &'w mut Dice,
    appetite: usize,
    /// Pieces that may still be written; some of them are empty.
    left: usize,
    text: String,
}

impl Writer<'_> {
    fn one_of(&mut self, alternatives: &[Sequence]) -> Option<()> {
        for repeated in self.dice.pick(alternatives)? {
            let Repeated { piece, least, most } = repeated;
            let most = least.saturating_add(self.appetite).min(*most);
            for _ in 0..self.dice.between(*least as i128, most as i128) {
                self.left = self.left.checked_sub(1)?;
                match piece {
                    Piece::Character(character) => self.text.push(*character),
                    Piece::Class(class) => self.text.push(class.draw(self.dice)?),
                    Piece::Group(inner) => self.one_of(inner)?,
                    Piece::Nothing => {}
                }
            }
        }
        Some(())
    }
}

impl Class {
    fn holds(&self, character: char) -> bool {
        let within = |(low, high): &(char, char)| (*low..=*high).contains(&character);
        self.ranges.iter().any(within) != self.excludes
    }

    fn draw(&self, dice: &mut Dice) -> Option<char> {
        if self.excludes {
            let free: Vec<char> = COMMON.chars().filter(|it| self.holds(*it)).collect();
            // Mostly letters, as a person would write.
            let end = if dice.one_in(4) {
                free.len()
            } else {
                free.len().min(26)
            };
            return free.get(dice.below(end)).copied();
        }
        // Wide ranges more often, but not so often that letters drown in all the rest of Unicode.
        let weight =
            |(low, high): &(char, char)| (u32::from(*high) - u32::from(*low)).min(25) as usize + 1;
        let mut at = dice.below(self.ranges.iter().map(weight).sum());
        let (low, high) = self.ranges.iter().find(|range| {
            let found = at < weight(range);
            at = at.saturating_sub(weight(range));
            found
        })?;
        let drawn = dice.between(u32::from(*low).into(), u32::from(*high).into());
        // Between the two ends may lie what is no character.
        let drawn = u32::try_from(drawn).ok().and_then(char::from_u32);
        drawn.or(Some(*low))
    }
}
