//! Reproducible random numbers, with an independent seed per location in a value.

/// A splitmix64 generator: small, fast, and random enough for test values.
pub(super) struct Rng(u64);

impl Rng {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(super) fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number below `end`; 0 if there is none.
    pub(super) fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next_u64()) * end as u128) >> 64) as usize
    }

    /// A number from `min` to `max`; `min` if the range is empty.
    pub(super) fn between(&mut self, min: i128, max: i128) -> i128 {
        let count = max.saturating_sub(min).saturating_add(1);
        if count <= 1 {
            return min;
        }
        let wide = u128::from(self.next_u64()) << 64 | u128::from(self.next_u64());
        min.saturating_add((wide % count.unsigned_abs()) as i128)
    }

    /// True once in `many` times, never if `many` is 0.
    pub(super) fn chance_one_in(&mut self, many: usize) -> bool {
        many != 0 && self.below(many) == 0
    }

    pub(super) fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.below(from.len()))
    }

    /// One of several strings.
    pub(super) fn pick_str(&mut self, from: &[&'static str]) -> &'static str {
        self.pick(from).copied().unwrap_or_default()
    }
}

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

fn mix(seed: u64) -> u64 {
    let seed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let seed = (seed ^ (seed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    seed ^ (seed >> 31)
}

/// FNV-1a.
fn hash_str(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}
