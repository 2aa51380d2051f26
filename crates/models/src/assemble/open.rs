//! One call while it comes.

use serde_json::{Map, Value};

use super::scan::Scan;
use super::{Piece, Whole};
use crate::bounds::MOST_LABELS;

/// A call that may go on.
#[derive(Debug, Default)]
pub(super) struct Open {
    pub(super) indexes: Vec<i64>,
    pub(super) id: Option<String>,
    pub(super) name: Option<String>,
    pub(super) arguments: String,
    pub(super) scan: Scan,
    /// It was named again without arguments: perhaps a repetition, perhaps the head of another call.
    pub(super) renamed: bool,
    pub(super) rest: Map<String, Value>,
    pub(super) named_in: u64,
    pub(super) touched: u64,
    /// Which of the step's calls it is, once told.
    pub(super) place: Option<usize>,
    /// The id it was told under.
    pub(super) given: String,
    pub(super) told: usize,
}

impl Open {
    pub(super) fn has_id(&self, piece: &Piece) -> bool {
        piece.id.is_some() && self.id == piece.id
    }

    pub(super) fn has_index(&self, piece: &Piece) -> bool {
        piece
            .index
            .is_some_and(|index| self.indexes.contains(&index))
    }

    pub(super) fn add(&mut self, piece: Piece, clock: u64, round: u64) {
        self.touched = clock;
        let silent = piece.is_silent();
        let again = piece.name.is_some() && self.name.is_some();
        if !silent {
            self.renamed = false;
        } else if again && !self.arguments.trim().is_empty() {
            self.renamed = true;
        }
        let room = self.indexes.len() < MOST_LABELS;
        if let Some(index) = piece
            .index
            .filter(|index| room && !self.indexes.contains(index))
        {
            self.indexes.push(index);
        }
        if piece.name.is_some() {
            self.named_in = round;
            self.name = piece.name.clone();
        }
        if self.id.is_none() {
            self.id.clone_from(&piece.id);
        }
        // Some begin with an empty object and mean that the arguments are to come.
        if self.arguments.trim() == "{}" && piece.name.is_none() && piece.begins() {
            self.arguments.clear();
            self.scan = Scan::default();
            self.told = 0;
        }
        self.scan.read(&piece.arguments);
        self.arguments.push_str(&piece.arguments);
        let news = piece.rest.into_iter().filter(|(_, value)| !value.is_null());
        self.rest.extend(news);
    }

    pub(super) fn close(self) -> Option<Whole> {
        if self.name.is_none() && self.arguments.is_empty() && self.rest.is_empty() {
            return None;
        }
        Some(Whole {
            id: if self.place.is_some() {
                self.given
            } else {
                self.id.unwrap_or_default()
            },
            name: self.name.unwrap_or_default(),
            arguments: self.arguments,
            rest: self.rest,
        })
    }
}
