//! Numbers between their bounds, and multiples of what they must be multiples of.

mod grid;

use serde_json::Value;

use super::{
    dice::{Dice, Spot},
    draw::{Draw, Style},
    kinds::Kinds,
    rules::Rules,
};
use grid::{Decimal, Grid};

/// Numbers that programs get wrong, for where nothing forbids them.
const ODD: [f64; 7] = [
    0.1,
    -0.5,
    5.0,
    1e21,
    1e300,
    5e-324,
    -1.797_693_134_862_315_7e308,
];

impl<'s> Draw<'_, 's> {
    pub(super) fn number(
        &mut self,
        rules: &Rules<'s>,
        spot: Spot,
        dice: &mut Dice,
    ) -> Option<Value> {
        let style = self.style(spot, dice);
        let bounds = Bounds::of(rules);
        let steps: Vec<Decimal> = rules.each("multipleOf").filter_map(Decimal::read).collect();
        if !rules.kinds.has(Kinds::FRACTION) {
            return bounds.whole(rules, &steps, dice, style);
        }
        if rules.kinds.has(Kinds::WHOLE)
            && dice.one_in(2)
            && let Some(whole) = bounds.whole(rules, &steps, dice, style)
        {
            return Some(whole);
        }
        let single = rules.each("format").any(|format| format == "float");
        let free = steps.is_empty() && bounds.low.is_none() && bounds.high.is_none();
        if style == Style::Odd && free && !single {
            return dice.pick(&ODD).copied().map(Value::from);
        }
        bounds.fraction(&steps, dice, style)
    }
}

/// One end of a range; an open end does not belong to it.
#[derive(Clone, Copy)]
pub(super) struct End<'s> {
    pub(super) at: &'s Value,
    pub(super) open: bool,
}

impl End<'_> {
    pub(super) fn float(self) -> f64 {
        self.at.as_f64().unwrap_or_default()
    }
}

/// The range of numbers that the schemas allow.
pub(super) struct Bounds<'s> {
    pub(super) low: Option<End<'s>>,
    pub(super) high: Option<End<'s>>,
}

impl<'s> Bounds<'s> {
    pub(super) fn of(rules: &Rules<'s>) -> Self {
        Self {
            low: tightest(rules, "minimum", "exclusiveMinimum", |new, old| new > old),
            high: tightest(rules, "maximum", "exclusiveMaximum", |new, old| new < old),
        }
    }

    fn whole(
        &self,
        rules: &Rules<'s>,
        steps: &[Decimal],
        dice: &mut Dice,
        style: Style,
    ) -> Option<Value> {
        let range = rules
            .each("format")
            .filter_map(|format| width(format.as_str()?))
            .fold((i64::MIN.into(), u64::MAX.into()), |(low, high), (l, h)| {
                (l.max(low), h.min(high))
            });
        let mut steps = steps.to_vec();
        steps.push(Decimal::ONE);
        let grid = Grid::new(&steps)?.within(self.low, self.high, range);
        match grid.and_then(|grid| grid.draw(dice, style)) {
            Some(drawn) => drawn.whole().map(Value::Number),
            None => self.edge(),
        }
    }

    fn fraction(&self, steps: &[Decimal], dice: &mut Dice, style: Style) -> Option<Value> {
        /// Where floats still tell hundredths apart.
        const WIDE: i128 = 1_000_000_000_000;
        let some = [Decimal::small(1 + dice.below(2) as u32)];
        let grid = Grid::new(if steps.is_empty() { &some } else { steps })?;
        let drawn = grid
            .within(self.low, self.high, (-WIDE, WIDE))
            .and_then(|grid| grid.draw(dice, style));
        match (drawn, self.low, self.high) {
            (Some(drawn), ..) => drawn.float().map(Value::from),
            _ if !steps.is_empty() => None,
            (None, Some(low), Some(high)) => Some(Value::from(low.float().midpoint(high.float()))),
            (None, ..) => self.edge(),
        }
    }

    /// The best guess where bounds are so far out that nothing could be drawn.
    fn edge(&self) -> Option<Value> {
        let end = self.low.or(self.high).filter(|end| !end.open);
        end.map(|end| end.at.clone())
    }
}

fn tightest<'s>(
    rules: &Rules<'s>,
    closed: &str,
    open: &str,
    tighter: impl Fn(f64, f64) -> bool,
) -> Option<End<'s>> {
    let mut found: Option<End<'s>> = None;
    for part in &rules.parts {
        // Draft 4 says with a boolean that the other keyword's bound is open.
        let says_open = part.get(open) == Some(&Value::Bool(true));
        for (keyword, open) in [(closed, says_open), (open, true)] {
            let Some(at @ Value::Number(_)) = part.get(keyword) else {
                continue;
            };
            let new = End { at, open };
            let replaces = found.is_none_or(|old| {
                tighter(new.float(), old.float()) || new.float() == old.float() && open
            });
            if replaces {
                found = Some(new);
            }
        }
    }
    found
}

/// The range of Rust's integers, which schemas made from Rust types name as a format.
fn width(format: &str) -> Option<(i128, i128)> {
    let (signed, bits) = match format.strip_prefix("uint") {
        Some(bits) => (false, bits),
        None => (true, format.strip_prefix("int")?),
    };
    let bits: u32 = if bits.is_empty() {
        64
    } else {
        bits.parse().ok()?
    };
    match (signed, bits) {
        (true, 1..=64) => Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1)),
        (false, 1..=64) => Some((0, (1 << bits) - 1)),
        _ => None,
    }
}
