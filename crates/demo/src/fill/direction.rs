//! Which way a parameter looks: from something, or to something.

use crate::meaning::Meaning;
use crate::shape::Param;

/// The way a parameter looks: from somewhere, or to somewhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    From,
    To,
    None,
}

impl Direction {
    pub(super) fn of(param: &Param) -> Self {
        let has = |stems: &[&str]| {
            param
                .words
                .iter()
                .any(|word| stems.contains(&word.as_str()))
        };
        if has(&["from", "sourc", "origin", "departur", "depart", "sender"]) {
            Self::From
        } else if has(&[
            "to",
            "target",
            "into",
            "destin",
            "destination",
            "dest",
            "arrival",
            "recipient",
        ]) {
            Self::To
        } else {
            Self::None
        }
    }

    /// Words that lead to such a value.
    pub(super) fn leads(self, meaning: Meaning) -> &'static [&'static str] {
        match (self, meaning) {
            (Self::From, _) => &["from"],
            (Self::To, _) => &["to", "into", "in"],
            (Self::None, Meaning::Person) => &["by", "for", "to", "with", "from", "of"],
            (Self::None, Meaning::Language) => &["to", "into", "in"],
            (Self::None, _) => &["in", "at", "near", "for", "around", "to", "from", "of"],
        }
    }
}
