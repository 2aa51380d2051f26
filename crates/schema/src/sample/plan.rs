//! The choices of one value, and which of them to make anew after a failure.

use std::collections::HashMap;

use super::dice::{ROOT, below};
use crate::Violation;

/// Values are natural or varied for this many attempts, then more and more of them are as plain as can be.
const PATIENCE: u32 = 8;

/// How one value is drawn.
pub(super) struct Plan {
    seed: u64,
    natural: bool,
    attempt: u32,
    /// How often the choices of a spot were made anew.
    salts: HashMap<u64, u64>,
}

impl Plan {
    pub(super) fn new(seed: u64, natural: bool) -> Self {
        Self {
            seed,
            natural,
            attempt: 0,
            salts: HashMap::new(),
        }
    }

    pub(super) fn seed(&self) -> u64 {
        self.seed
    }

    /// Whether the value a person would expect is wanted.
    pub(super) fn natural(&self) -> bool {
        self.natural && self.attempt < PATIENCE
    }

    /// Whether only what is required should be there.
    pub(super) fn plain(&self) -> bool {
        self.attempt >= PATIENCE && !self.attempt.is_multiple_of(3)
    }

    /// Whether the kinds that a schema has in mind did not work out, so that all it allows are tried.
    pub(super) fn desperate(&self) -> bool {
        self.attempt >= 2 * PATIENCE
    }

    pub(super) fn salt(&self, path: u64) -> u64 {
        if self.salts.is_empty() {
            return 0;
        }
        self.salts.get(&path).copied().unwrap_or(0)
    }

    pub(super) fn again(&mut self) {
        self.attempt += 1;
    }

    /// Makes the choices anew that led to these violations.
    pub(super) fn blame(&mut self, violations: &[Violation], spots: &[u64]) {
        for violation in violations {
            let mut trail = vec![ROOT];
            let mut path = ROOT;
            for step in violation.pointer.split('/').skip(1) {
                path = below(path, &step.replace("~1", "/").replace("~0", "~"));
                // What lies below was copied as a whole, or is missing.
                if !spots.contains(&path) {
                    break;
                }
                trail.push(path);
            }
            self.blame_spot(&trail);
        }
    }

    /// Makes the choices at the end of a trail anew, and now and then those further up.
    ///
    /// Half of the attempts blame the spot itself, a quarter its parent, and so on: the choice that was wrong may be any.
    pub(super) fn blame_spot(&mut self, trail: &[u64]) {
        let up = (self.attempt + 1).trailing_zeros() as usize;
        let path = trail.iter().rev().nth(up).or(trail.first());
        *self.salts.entry(path.copied().unwrap_or(ROOT)).or_default() += 1;
    }
}
