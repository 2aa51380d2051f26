//! The random choices for one value, and which of them to change after a failure.

use std::collections::HashMap;

use toolwright_schema::Violation;

use super::location::{ROOT_PATH, child_path};

/// Values are natural or varied for this many attempts, then increasingly simple.
const NATURAL_ATTEMPTS: u32 = 8;

/// The plan for one value.
pub(super) struct SamplePlan {
    seed: u64,
    prefer_natural: bool,
    attempt: u32,
    /// How often the choices of a location were changed.
    retry_counts: HashMap<u64, u64>,
}

impl SamplePlan {
    pub(super) fn new(seed: u64, natural: bool) -> Self {
        Self { seed, prefer_natural: natural, attempt: 0, retry_counts: HashMap::new() }
    }

    pub(super) fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns true if a natural value is wanted.
    pub(super) fn is_natural(&self) -> bool {
        self.prefer_natural && self.attempt < NATURAL_ATTEMPTS
    }

    /// Returns true if only required parts should be generated.
    pub(super) fn required_only(&self) -> bool {
        self.attempt >= NATURAL_ATTEMPTS && !self.attempt.is_multiple_of(3)
    }

    /// Returns true if the implied types failed, so that all allowed types are tried.
    pub(super) fn tries_all_types(&self) -> bool {
        self.attempt >= 2 * NATURAL_ATTEMPTS
    }

    pub(super) fn retry_count(&self, path: u64) -> u64 {
        if self.retry_counts.is_empty() {
            return 0;
        }
        self.retry_counts.get(&path).copied().unwrap_or(0)
    }

    pub(super) fn next_attempt(&mut self) {
        self.attempt += 1;
    }

    /// Changes the choices that led to these violations.
    pub(super) fn retry_violations(&mut self, violations: &[Violation], spots: &[u64]) {
        for violation in violations {
            let mut trail = vec![ROOT_PATH];
            let mut path = ROOT_PATH;
            for step in violation.pointer.split('/').skip(1) {
                path = child_path(path, &step.replace("~1", "/").replace("~0", "~"));
                // What is below was copied as a whole, or is missing.
                if !spots.contains(&path) {
                    break;
                }
                trail.push(path);
            }
            self.retry_location(&trail);
        }
    }

    /// Changes the choices at the end of a path, and sometimes those of its ancestors.
    ///
    /// Half of the attempts change the location itself, a quarter its parent, and so on, because any choice may be wrong.
    pub(super) fn retry_location(&mut self, trail: &[u64]) {
        let up = (self.attempt + 1).trailing_zeros() as usize;
        let path = trail.iter().rev().nth(up).or(trail.first());
        *self.retry_counts.entry(path.copied().unwrap_or(ROOT_PATH)).or_default() += 1;
    }
}
