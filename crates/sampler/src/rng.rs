//! Reproducible random numbers.

/// A splitmix64 generator: small, fast, and random enough for test values.
///
/// # Examples
///
/// ```
/// # mod toolwright { pub extern crate toolwright_sampler as testing; }
/// use toolwright::testing::SeededRng;
///
/// let mut rng = SeededRng::new(7);
/// assert!(rng.below(6) < 6);
/// assert_eq!(SeededRng::new(7).next_u64(), SeededRng::new(7).next_u64());
/// ```
#[derive(Clone, Debug)]
pub struct SeededRng(u64);

impl SeededRng {
    /// Creates a generator; the same seed gives the same numbers.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Any number.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }

    /// A number below `end`; 0 if there is none.
    pub fn below(&mut self, end: usize) -> usize {
        ((u128::from(self.next_u64()) * end as u128) >> 64) as usize
    }

    /// A number from `min` to `max`; `min` if the range is empty.
    pub(crate) fn between(&mut self, min: i128, max: i128) -> i128 {
        let count = max.saturating_sub(min).saturating_add(1);
        if count <= 1 {
            return min;
        }
        let wide = u128::from(self.next_u64()) << 64 | u128::from(self.next_u64());
        min.saturating_add((wide % count.unsigned_abs()) as i128)
    }

    /// True once in `many` times, never if `many` is 0.
    pub(crate) fn chance_one_in(&mut self, many: usize) -> bool {
        many != 0 && self.below(many) == 0
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        from.get(self.below(from.len()))
    }

    /// One of several strings.
    pub(crate) fn pick_str(&mut self, from: &[&'static str]) -> &'static str {
        self.pick(from).copied().unwrap_or_default()
    }
}

/// Scatters the bits of a seed.
pub(crate) fn mix(seed: u64) -> u64 {
    let seed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let seed = (seed ^ (seed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    seed ^ (seed >> 31)
}
