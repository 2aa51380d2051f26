//! The revisions of the protocol, and the features of each.

use std::fmt;

/// A revision of the protocol, named by its date; later ones are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Revision {
    /// 2024-11-05: the first.
    V2024_11_05,
    /// 2025-03-26: annotations, audio, batches.
    V2025_03_26,
    /// 2025-06-18: titles, structured content, elicitation.
    V2025_06_18,
    /// 2025-11-25: icons, streams that clients poll.
    V2025_11_25,
    /// 2026-07-28: no sessions; every request is self-contained.
    V2026_07_28,
}

use Revision::{V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28};

impl Revision {
    /// All of them, the oldest first.
    pub const ALL: [Self; 5] = [V2024_11_05, V2025_03_26, V2025_06_18, V2025_11_25, V2026_07_28];

    /// The newest revision with a handshake.
    pub(crate) const NEWEST_WITH_SESSIONS: Self = V2025_11_25;

    /// Finds the revision of this date.
    pub fn from_date(date: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|revision| revision.as_str() == date)
    }

    /// Returns its date as in `protocolVersion`.
    pub const fn as_str(self) -> &'static str {
        match self {
            V2024_11_05 => "2024-11-05",
            V2025_03_26 => "2025-03-26",
            V2025_06_18 => "2025-06-18",
            V2025_11_25 => "2025-11-25",
            V2026_07_28 => "2026-07-28",
        }
    }

    /// Returns true if every request is self-contained, without a handshake.
    pub const fn is_stateless(self) -> bool {
        matches!(self, V2026_07_28)
    }

    /// Returns true if an array of messages is allowed.
    pub(crate) fn has_batches(self) -> bool {
        self == V2025_03_26
    }

    pub(crate) fn has_annotations(self) -> bool {
        self >= V2025_03_26
    }

    pub(crate) fn has_audio(self) -> bool {
        self >= V2025_03_26
    }

    pub(crate) fn has_completions(self) -> bool {
        self >= V2025_03_26
    }

    /// Returns true if there are titles, output schemas, structured content and links.
    pub(crate) fn has_structured_content(self) -> bool {
        self >= V2025_06_18
    }

    pub(crate) fn has_elicitation(self) -> bool {
        self >= V2025_06_18
    }

    /// Returns true if structured content must be an object.
    pub(crate) fn requires_object_output(self) -> bool {
        self.has_structured_content() && !self.is_stateless()
    }

    pub(crate) fn has_icons(self) -> bool {
        self >= V2025_11_25
    }

    /// Returns true if an elicitation has a `mode`.
    pub(crate) fn has_elicitation_modes(self) -> bool {
        self >= V2025_11_25
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
