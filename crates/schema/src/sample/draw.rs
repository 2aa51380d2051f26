//! Schemas that must all hold in, one value out.

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::{
    dice::{Dice, Spot},
    kinds::Kinds,
    known::Known,
    plan::Plan,
    rules::Rules,
    spoil::spoil,
};

/// Deeper values are not drawn: no reader takes them.
const DEEPEST: usize = 60;

/// Arrays and objects of more parts are not drawn.
pub(super) const MANY: usize = 20_000;

/// Down to this depth there is room for what is not required.
const ROOMY_DEPTH: usize = 6;

/// The same for a value that a person should take in at a glance.
const NATURAL_DEPTH: usize = 3;

/// Up to this many spots there is room for what is not required.
const ROOMY_SPOTS: usize = 150;

/// Up to so many visits of the validator there is room for what is not required.
const ROOMY_TIMES: u64 = 10_000;

/// So many visits of the validator are one piece of work.
const VISITS: u64 = 200;

/// One attempt at a value.
pub(super) struct Draw<'d, 's> {
    pub(super) known: &'d mut Known<'s>,
    pub(super) plan: &'d Plan,
    /// One leaf in so many is out of the ordinary; 0 for none.
    oddity: usize,
    drawn: Drawn,
    trail: Vec<u64>,
    /// Which spot gets a mistake, and the seed of that mistake.
    spoiled: Option<(usize, u64)>,
}

/// What sort of number or text is wanted, where the schema leaves a choice.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// What a person would expect.
    Natural,
    /// Anything unremarkable.
    Usual,
    /// On the edge of what is allowed, or what programs get wrong.
    Odd,
}

/// What an attempt leaves behind.
#[derive(Default)]
pub(super) struct Drawn {
    /// How much may still be looked at.
    pub(super) work: usize,
    /// How many schemas the validator will go through.
    pub(super) visits: u64,
    /// The path of every spot, in the order they were drawn.
    pub(super) spots: Vec<u64>,
    /// From the root to where nothing could be drawn.
    pub(super) stuck: Vec<u64>,
}

impl<'d, 's> Draw<'d, 's> {
    pub(super) fn new(known: &'d mut Known<'s>, plan: &'d Plan, work: usize) -> Self {
        let varied = !plan.natural() && Dice::new(plan.seed()).one_in(2);
        Self {
            known,
            plan,
            oddity: if varied { 3 } else { 0 },
            drawn: Drawn {
                work,
                ..Drawn::default()
            },
            trail: Vec::new(),
            spoiled: None,
        }
    }

    pub(super) fn spoil_at(&mut self, spot: usize, seed: u64) {
        self.spoiled = Some((spot, seed));
    }

    pub(super) fn finish(self) -> Drawn {
        self.drawn
    }

    /// A value for which all of `schemas` hold as far as can be told.
    pub(super) fn value(&mut self, schemas: &[&'s Value], spot: Spot) -> Option<Value> {
        let at = self.drawn.spots.len();
        self.drawn.spots.push(spot.path);
        self.trail.push(spot.path);
        let value = self
            .unspoiled(schemas, spot)
            .map(|(value, rules)| match self.spoiled {
                Some((index, seed)) if index == at => spoil(value, &rules, &mut Dice::new(seed)),
                _ => value,
            });
        // Unless this is only what a failure further down led to.
        if value.is_none() && !self.drawn.stuck.starts_with(&self.trail) {
            self.drawn.stuck.clone_from(&self.trail);
        }
        self.trail.pop();
        value
    }

    fn unspoiled(&mut self, schemas: &[&'s Value], spot: Spot) -> Option<(Value, Rules<'s>)> {
        self.spend(1)?;
        if spot.depth > DEEPEST {
            return None;
        }
        let toll = self.known.toll(schemas);
        let visits = spot.times.saturating_mul(toll.visits);
        self.drawn.visits = self.drawn.visits.saturating_add(visits);
        self.spend(usize::try_from(visits / VISITS).unwrap_or(usize::MAX))?;
        let spot = Spot {
            times: spot.times.saturating_mul(toll.entries.max(1)),
            ..spot.salted(self.plan.salt(spot.path))
        };
        let mut dice = Dice::new(spot.seed);
        let rules = self.rules(schemas, spot, &mut dice)?;
        let value = match rules.options() {
            Some(options) => self.option(&options, &rules, spot, &mut dice)?,
            None => match self.hint(&rules, spot, &mut dice) {
                Some(hint) => self.copied(hint)?,
                None => self.made_up(&rules, spot, &mut dice)?,
            },
        };
        Some((value, rules))
    }

    /// Counts work; `None` when there was enough of it.
    pub(super) fn spend(&mut self, work: usize) -> Option<()> {
        let left = self.drawn.work.checked_sub(work);
        self.drawn.work = left.unwrap_or(0);
        left.map(|_| ())
    }

    /// Whether there is room for what is not required.
    pub(super) fn is_roomy(&self, spot: Spot) -> bool {
        let depth = if self.plan.natural() {
            NATURAL_DEPTH
        } else {
            ROOMY_DEPTH
        };
        !self.plan.plain()
            && spot.depth < depth
            && spot.times < ROOMY_TIMES
            && self.drawn.spots.len() < ROOMY_SPOTS
    }

    /// Whether this spot should hold what a person would expect; not once that was refused.
    pub(super) fn is_natural(&self, spot: Spot) -> bool {
        self.plan.natural() && self.plan.salt(spot.path) == 0
    }

    pub(super) fn style(&self, spot: Spot, dice: &mut Dice) -> Style {
        if self.is_natural(spot) {
            Style::Natural
        } else if self.is_odd(dice) {
            Style::Odd
        } else {
            Style::Usual
        }
    }

    /// Whether this spot should hold something out of the ordinary.
    pub(super) fn is_odd(&self, dice: &mut Dice) -> bool {
        dice.one_in(self.oddity)
    }

    fn made_up(&mut self, rules: &Rules<'s>, spot: Spot, dice: &mut Dice) -> Option<Value> {
        match self.kind(rules, spot, dice) {
            Kinds::NULL => Some(Value::Null),
            Kinds::BOOLEAN => Some(Value::Bool(dice.one_in(2))),
            Kinds::NUMBER => self.number(rules, spot, dice),
            Kinds::TEXT => self.text(rules, spot, dice).map(Value::String),
            Kinds::ARRAY => self.array(rules, spot, dice),
            Kinds::OBJECT => self.object(rules, spot, dice),
            _ => None,
        }
    }

    /// One of the kinds in [`Kinds::EACH`].
    fn kind(&self, rules: &Rules<'s>, spot: Spot, dice: &mut Dice) -> Kinds {
        let mut kinds = rules.kinds;
        let mut untold = false;
        if !rules.typed {
            let meant = rules.meant().and(kinds);
            untold = meant == Kinds::NONE;
            let stray =
                self.plan.desperate() && dice.one_in(2) || self.is_odd(dice) && dice.one_in(4);
            if !untold && !stray {
                kinds = meant;
            }
        }
        let mut each: Vec<Kinds> = Kinds::EACH
            .into_iter()
            .filter(|kind| kinds.has(*kind))
            .collect();
        let scalar = |kind: &Kinds| !Kinds::ARRAY.or(Kinds::OBJECT).has(*kind);
        let simply = self.is_natural(spot) || !self.is_roomy(spot) || spot.depth > 2;
        if untold && simply && each.iter().any(scalar) {
            each.retain(scalar);
        }
        let chosen = if self.is_natural(spot) {
            each.first()
        } else {
            dice.pick(&each)
        };
        chosen.copied().unwrap_or(Kinds::NONE)
    }
}

/// The schema of any text, for what the validator takes as text without being told.
pub(super) fn any_text() -> &'static Value {
    static TEXT: LazyLock<Value> = LazyLock::new(|| json!({"type": "string"}));
    &TEXT
}
