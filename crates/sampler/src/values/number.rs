//! Generates numbers within their bounds that are valid for `multipleOf`.

mod grid;

use serde_json::Value;

use crate::{
    constraints::ValueConstraints,
    generator::{Generator, ValueStyle},
    location::ValueLocation,
    rng::SeededRng,
    type_set::TypeSet,
};
use grid::{Decimal, DecimalGrid};

/// Numbers that programs often handle wrongly, used where the schema allows them.
const EDGE_CASES: [f64; 7] = [0.1, -0.5, 5.0, 1e21, 1e300, 5e-324, -1.797_693_134_862_315_7e308];

impl<'s> Generator<'_, 's> {
    pub(crate) fn number(
        &mut self,
        constraints: &ValueConstraints<'s>,
        location: ValueLocation,
        rng: &mut SeededRng,
    ) -> Option<Value> {
        let style = self.style(location, rng);
        let bounds = NumberRange::of(constraints);
        let steps: Vec<Decimal> =
            constraints.keyword_values("multipleOf").filter_map(Decimal::from_json).collect();
        if !constraints.types.intersects(TypeSet::FRACTION) {
            return bounds.pick_integer(constraints, &steps, rng, style);
        }
        if constraints.types.intersects(TypeSet::INTEGER)
            && rng.chance_one_in(2)
            && let Some(whole) = bounds.pick_integer(constraints, &steps, rng, style)
        {
            return Some(whole);
        }
        let single = constraints.keyword_values("format").any(|format| format == "float");
        let free = steps.is_empty() && bounds.low.is_none() && bounds.high.is_none();
        if style == ValueStyle::EdgeCase && free && !single {
            return rng.pick(&EDGE_CASES).copied().map(Value::from);
        }
        bounds.pick_fraction(&steps, rng, style)
    }
}

/// One end of a range.
#[derive(Clone, Copy)]
pub(crate) struct RangeEnd<'s> {
    pub(crate) value: &'s Value,
    pub(crate) exclusive: bool,
}

impl RangeEnd<'_> {
    pub(crate) fn as_f64(self) -> f64 {
        self.value.as_f64().unwrap_or_default()
    }
}

/// The range of numbers that the schemas allow.
pub(crate) struct NumberRange<'s> {
    pub(crate) low: Option<RangeEnd<'s>>,
    pub(crate) high: Option<RangeEnd<'s>>,
}

impl<'s> NumberRange<'s> {
    pub(crate) fn of(constraints: &ValueConstraints<'s>) -> Self {
        Self {
            low: tightest_bound(constraints, "minimum", "exclusiveMinimum", |new, old| new > old),
            high: tightest_bound(constraints, "maximum", "exclusiveMaximum", |new, old| new < old),
        }
    }

    fn pick_integer(
        &self,
        constraints: &ValueConstraints<'s>,
        steps: &[Decimal],
        rng: &mut SeededRng,
        style: ValueStyle,
    ) -> Option<Value> {
        let range = constraints
            .keyword_values("format")
            .filter_map(|format| integer_format_range(format.as_str()?))
            .fold((i64::MIN.into(), u64::MAX.into()), |(low, high), (l, h)| {
                (l.max(low), h.min(high))
            });
        let mut steps = steps.to_vec();
        steps.push(Decimal::ONE);
        let grid = DecimalGrid::new(&steps)?.within(self.low, self.high, range);
        match grid.and_then(|grid| grid.pick(rng, style)) {
            Some(drawn) => drawn.to_integer().map(Value::Number),
            None => self.nearest_bound(),
        }
    }

    fn pick_fraction(
        &self,
        steps: &[Decimal],
        rng: &mut SeededRng,
        style: ValueStyle,
    ) -> Option<Value> {
        /// Where floats can still distinguish hundredths.
        const WIDE: i128 = 1_000_000_000_000;
        let some = [Decimal::unit(1 + rng.below(2) as u32)];
        let grid = DecimalGrid::new(if steps.is_empty() { &some } else { steps })?;
        let drawn =
            grid.within(self.low, self.high, (-WIDE, WIDE)).and_then(|grid| grid.pick(rng, style));
        match (drawn, self.low, self.high) {
            (Some(drawn), ..) => drawn.to_f64().map(Value::from),
            _ if !steps.is_empty() => None,
            (None, Some(low), Some(high)) => {
                Some(Value::from(low.as_f64().midpoint(high.as_f64())))
            }
            (None, ..) => self.nearest_bound(),
        }
    }

    /// A fallback where the bounds are too far out.
    fn nearest_bound(&self) -> Option<Value> {
        let end = self.low.or(self.high).filter(|end| !end.exclusive);
        end.map(|end| end.value.clone())
    }
}

fn tightest_bound<'s>(
    constraints: &ValueConstraints<'s>,
    closed: &str,
    exclusive: &str,
    tighter: impl Fn(f64, f64) -> bool,
) -> Option<RangeEnd<'s>> {
    let mut found: Option<RangeEnd<'s>> = None;
    for part in &constraints.schemas {
        // In draft 4 a boolean makes the bound of the other keyword exclusive.
        let is_exclusive_flag = part.get(exclusive) == Some(&Value::Bool(true));
        for (keyword, exclusive) in [(closed, is_exclusive_flag), (exclusive, true)] {
            let Some(at @ Value::Number(_)) = part.get(keyword) else {
                continue;
            };
            let new = RangeEnd { value: at, exclusive };
            let replaces = found.is_none_or(|old| {
                tighter(new.as_f64(), old.as_f64()) || new.as_f64() == old.as_f64() && exclusive
            });
            if replaces {
                found = Some(new);
            }
        }
    }
    found
}

/// The range of a Rust integer type, which schemars writes as a format.
fn integer_format_range(format: &str) -> Option<(i128, i128)> {
    let (signed, bits) = match format.strip_prefix("uint") {
        Some(bits) => (false, bits),
        None => (true, format.strip_prefix("int")?),
    };
    let bits: u32 = if bits.is_empty() { 64 } else { bits.parse().ok()? };
    match (signed, bits) {
        (true, 1..=64) => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
        (false, 1..=64) => Some((0, (1 << bits) - 1)),
        _ => None,
    }
}
