//! Locations in a value, each with an independent seed.

use crate::rng::mix;

/// One location in a value under construction.
///
/// A location depends on its own seed only, so one can be generated again while all others stay the same.
#[derive(Clone, Copy)]
pub(super) struct ValueLocation {
    /// The hash of the JSON pointer.
    pub(super) path_hash: u64,
    /// The seed of the location's random numbers.
    pub(super) seed: u64,
    pub(super) depth: usize,
    /// How often the validator may visit this location: once per visit of a schema of the parent.
    pub(super) validator_visits: u64,
}

impl ValueLocation {
    pub(super) fn root(seed: u64) -> Self {
        Self { path_hash: ROOT_PATH, seed: mix(seed), depth: 0, validator_visits: 1 }
    }

    /// The location of a member or element; another `turn` gives the same path another seed.
    pub(super) fn child(self, step: &str, turn: usize) -> Self {
        let seed = mix(self.seed ^ hash_str(step));
        Self {
            path_hash: child_path(self.path_hash, step),
            seed: mix(seed.wrapping_add(turn as u64)),
            depth: self.depth + 1,
            validator_visits: self.validator_visits,
        }
    }

    pub(super) fn with_salt(self, salt: u64) -> Self {
        let seed = mix(self.seed.wrapping_add(salt << 32));
        Self { seed, ..self }
    }
}

/// The path hash of the root.
pub(super) const ROOT_PATH: u64 = 0x746f_6f6c;

/// The path hash one step below another.
pub(super) fn child_path(path: u64, step: &str) -> u64 {
    mix(path ^ hash_str(step))
}

/// Combines two seeds.
pub(super) fn combine_seeds(one: u64, other: u64) -> u64 {
    mix(one ^ mix(other))
}

/// FNV-1a.
fn hash_str(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
