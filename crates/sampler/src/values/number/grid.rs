//! Evenly spaced decimals, from which numbers are picked.
//!
//! Decimals and not floats, so that a multiple of `0.1` is exact.

use serde_json::{Number, Value};

use super::RangeEnd;
use crate::{generator::ValueStyle, rng::SeededRng};

/// More decimal places are not distinguished.
const MAX_DECIMAL_PLACES: u32 = 15;

/// More digits would overflow when they are scaled.
const MAX_DIGITS: i128 = 10_i128.pow(22);

/// The maximum distance of a natural and of an ordinary number from the start, in units or in steps if they are larger.
const PREFERRED_DISTANCE: (i128, i128) = (10, 100);

/// A decimal number.
#[derive(Clone, Copy)]
pub(super) struct Decimal {
    digits: i128,
    scale: u32,
}

impl Decimal {
    pub(super) const ONE: Self = Self { digits: 1, scale: 0 };

    const ZERO: Self = Self { digits: 0, scale: 0 };

    /// The unit of the last of this many decimal places.
    pub(super) fn unit(places: u32) -> Self {
        Self { digits: 1, scale: places }
    }

    /// Reads a number as it is written; `None` if it is too large or has too many decimal places.
    pub(super) fn from_json(value: &Value) -> Option<Self> {
        let text = value.as_number()?.to_string();
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((&text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let fraction = fraction.trim_end_matches('0');
        let digits: i128 = format!("{whole}{fraction}").parse().ok()?;
        let exponent: i32 = exponent.parse().ok()?;
        let places = i32::try_from(fraction.len()).ok()?.checked_sub(exponent)?;
        let (digits, places) = match u32::try_from(places) {
            Ok(places) => (digits, places),
            Err(_) => (digits.checked_mul(power_of_ten(places.unsigned_abs())?)?, 0),
        };
        (digits.abs() <= MAX_DIGITS && places <= MAX_DECIMAL_PLACES)
            .then_some(Self { digits, scale: places })
    }

    pub(super) fn to_f64(self) -> Option<f64> {
        let float: f64 = format!("{}e-{}", self.digits, self.scale).parse().ok()?;
        float.is_finite().then_some(float)
    }

    /// The integer that this is, if it is one.
    pub(super) fn to_integer(self) -> Option<Number> {
        let unit = power_of_ten(self.scale)?;
        if self.digits % unit != 0 {
            return None;
        }
        let whole = self.digits / unit;
        let small = i64::try_from(whole).map(Number::from);
        small
            .or_else(|_| u64::try_from(whole).map(Number::from))
            .ok()
            .or_else(|| Number::from_f64(whole as f64))
    }
}

/// The multiples of a step, possibly limited to a range.
pub(super) struct DecimalGrid {
    step: Decimal,
    /// The index of the first and of the last multiple.
    low: i128,
    high: i128,
}

impl DecimalGrid {
    /// The numbers that are multiples of all `steps`.
    pub(super) fn new(steps: &[Decimal]) -> Option<Self> {
        let places = steps.iter().map(|step| step.scale).max().unwrap_or(0);
        let mut all: i128 = 1;
        for (at, step) in steps.iter().enumerate() {
            let scaled = step.digits.abs().checked_mul(power_of_ten(places - step.scale)?)?;
            all = if at == 0 { scaled } else { common_multiple(all, scaled)? };
        }
        (all > 0).then_some(Self { step: Decimal { digits: all, scale: places }, low: 0, high: 0 })
    }

    /// Those between two ends, or the ends of `range` where one is missing; `None` if an end is too large.
    pub(super) fn within(
        self,
        low: Option<RangeEnd<'_>>,
        high: Option<RangeEnd<'_>>,
        range: (i128, i128),
    ) -> Option<Self> {
        let whole = |digits| Decimal { digits, scale: 0 };
        let mut first = self.steps_to(whole(range.0), true)?.0;
        if let Some(low) = low {
            let (low, exclusive) = decimal_bound(low)?;
            let (steps, exact) = self.steps_to(low, true)?;
            first = first.max(steps + i128::from(exclusive && exact));
        }
        let mut last = self.steps_to(whole(range.1), false)?.0;
        if let Some(high) = high {
            let (high, exclusive) = decimal_bound(high)?;
            let (steps, exact) = self.steps_to(high, false)?;
            last = last.min(steps - i128::from(exclusive && exact));
        }
        Some(Self { low: first, high: last, ..self })
    }

    /// The number of steps from zero to a number, and whether it is exact.
    fn steps_to(&self, to: Decimal, up: bool) -> Option<(i128, bool)> {
        let distance = to.digits.checked_mul(power_of_ten(self.step.scale)?)?;
        let step = self.step.digits.checked_mul(power_of_ten(to.scale)?)?;
        let exact = distance.rem_euclid(step) == 0;
        let down = distance.div_euclid(step);
        Some((down + i128::from(up && !exact), exact))
    }

    /// One of them: small and not negative if that is allowed, unless an edge case is wanted.
    pub(super) fn pick(&self, rng: &mut SeededRng, style: ValueStyle) -> Option<Decimal> {
        let Self { low, high, .. } = *self;
        if low > high {
            return None;
        }
        let near =
            if style == ValueStyle::Natural { PREFERRED_DISTANCE.0 } else { PREFERRED_DISTANCE.1 };
        let reach = near.max(near * power_of_ten(self.step.scale)? / self.step.digits);
        let few = high.saturating_sub(low) <= 10 * reach;
        let steps = match style {
            ValueStyle::EdgeCase => self.pick_edge_case(rng),
            ValueStyle::Ordinary if few => rng.between(low, high),
            _ if high <= 0 => rng.between(low.max(high - reach), high),
            ValueStyle::Natural => rng.between(low.max(1), high.min(low.max(1) + reach)),
            ValueStyle::Ordinary => rng.between(low.max(0), high.min(low.max(0) + reach)),
        };
        Some(Decimal { digits: self.step.digits.checked_mul(steps)?, scale: self.step.scale })
    }

    fn pick_edge_case(&self, rng: &mut SeededRng) -> i128 {
        let power = 1_i128 << rng.below(65);
        let some = [
            self.low,
            self.high,
            self.low.saturating_add(1),
            self.high.saturating_sub(1),
            0,
            -1,
            power,
            power - 1,
            -power,
            rng.between(self.low, self.high),
        ];
        let chosen = rng.pick(&some).copied().unwrap_or(0);
        chosen.clamp(self.low, self.high)
    }
}

/// An end as a decimal, and whether it is exclusive; one with too many decimal places is next to zero.
fn decimal_bound(end: RangeEnd<'_>) -> Option<(Decimal, bool)> {
    match Decimal::from_json(end.value) {
        Some(decimal) => Some((decimal, end.exclusive)),
        None if end.as_f64().abs() < 1.0 => Some((Decimal::ZERO, true)),
        None => None,
    }
}

fn power_of_ten(places: u32) -> Option<i128> {
    10_i128.checked_pow(places)
}

fn common_multiple(one: i128, other: i128) -> Option<i128> {
    let (mut divisor, mut rest) = (one, other);
    while rest != 0 {
        (divisor, rest) = (rest, divisor % rest);
    }
    (one.checked_div(divisor)?).checked_mul(other)
}
