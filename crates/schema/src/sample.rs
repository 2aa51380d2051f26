//! A schema in, values it admits out, the same ones for the same seed.
//!
//! Keywords are read one by one and may contradict each other, so a value is drawn, shown to the validator, and drawn anew
//! where the validator finds fault. What comes out as valid has therefore always passed the validator.

mod array;
mod dice;
mod draw;
mod format;
mod given;
mod kinds;
mod known;
mod least;
mod number;
mod object;
mod pattern;
mod plan;
mod refs;
mod rules;
mod spoil;
mod text;
mod toll;

use serde_json::Value;

use crate::{Schema, Tape};
use dice::{Dice, Spot, join};
use draw::Draw;
use known::Known;
use plan::Plan;

/// How often a value is drawn anew before giving up.
const ATTEMPTS: u32 = 64;

/// How much is looked at for one value, all attempts together.
const WORK: usize = 100_000;

/// Up to so many visits of the validator it is asked where the fault lies; explaining takes it far longer than judging.
const EXPLAINED: u64 = 20_000;

/// How many mistakes are tried before one that the schema tolerates is handed out.
const MISTAKES: usize = 8;

/// Values for a schema, the same ones for the same seed.
///
/// # Examples
///
/// ```
/// use serde_json::json;
/// use toolwright_schema::{Sampler, Schema, Tape};
///
/// let schema = Schema::check(json!({
///     "type": "object",
///     "properties": {"city": {"type": "string", "examples": ["Rome"]}, "days": {"type": "integer", "minimum": 1}},
///     "required": ["city"]
/// }))?;
/// assert_eq!(Sampler::example(&schema), Some(json!({"city": "Rome"})));
///
/// let mut sampler = Sampler::new(&schema, 7);
/// let value = sampler.valid().expect("the schema admits something");
/// assert!(schema.is_valid(Tape::of(&value).root()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Sampler<'s> {
    schema: &'s Schema,
    known: Known<'s>,
    seed: u64,
    /// How many values were asked for.
    asked: u64,
}

impl<'s> Sampler<'s> {
    /// Values for `schema`; other seeds give other values.
    pub fn new(schema: &'s Schema, seed: u64) -> Self {
        Self {
            schema,
            known: Known::new(schema.as_value()),
            seed,
            asked: 0,
        }
    }

    /// The most natural value, for showing to a person: required and defaulted properties only, as the schema's own
    /// examples have them.
    ///
    /// It is the first valid value of seed 0.
    pub fn example(schema: &Schema) -> Option<Value> {
        Sampler::new(schema, 0).valid()
    }

    /// A value the schema admits; `None` when none was found, because the schema admits nothing or is too intricate.
    ///
    /// Too intricate are, for one, patterns that refer back to a group, and schemas that ask for very large values.
    pub fn valid(&mut self) -> Option<Value> {
        let natural = self.seed == 0 && self.asked == 0;
        let seed = self.next_seed();
        self.settle(Plan::new(seed, natural))
            .map(|settled| settled.value)
    }

    /// A value that is one mistake away from a valid one: usually, but not surely, refused by the schema.
    ///
    /// The mistake is of the wrong type, a missing or an unknown property, out of bounds, close to an enum member, an element
    /// too many or the like. `None` when no valid value was found, or none that can be got wrong.
    pub fn nearly(&mut self) -> Option<Value> {
        let seed = self.next_seed();
        let settled = self.settle(Plan::new(seed, false))?;
        let mut dice = Dice::new(join(seed, 1));
        let mut tolerated = None;
        for turn in 0..MISTAKES {
            let mut draw = Draw::new(&mut self.known, &settled.plan, WORK);
            // Where anything goes no mistake is possible, but more is asked of the whole.
            let spots = if turn < MISTAKES / 2 {
                settled.spots
            } else {
                1
            };
            draw.spoil_at(dice.below(spots), dice.roll());
            let Some(value) = draw.value(&[self.schema.as_value()], Spot::root(seed)) else {
                continue;
            };
            if !self.admits(&value) {
                return Some(value);
            }
            if value != settled.value {
                tolerated = Some(value);
            }
        }
        tolerated
    }

    fn next_seed(&mut self) -> u64 {
        self.asked += 1;
        join(self.seed, self.asked)
    }

    fn admits(&self, value: &Value) -> bool {
        self.schema.is_valid(Tape::of(value).root())
    }

    /// Draws until the validator is content.
    fn settle(&mut self, mut plan: Plan) -> Option<Settled> {
        let root = self.schema.as_value();
        let mut work = WORK;
        for _ in 0..ATTEMPTS {
            let mut draw = Draw::new(&mut self.known, &plan, work);
            let value = draw.value(&[root], Spot::root(plan.seed()));
            let drawn = draw.finish();
            work = drawn.work;
            match value {
                Some(value) if self.admits(&value) => {
                    let spots = drawn.spots.len();
                    return Some(Settled { value, plan, spots });
                }
                Some(value) if drawn.visits < EXPLAINED => {
                    plan.blame(&self.schema.violations(&value), &drawn.spots);
                }
                Some(_) => plan.blame_spot(&[]),
                None if work == 0 || self.known.is_endless(root) => return None,
                None => plan.blame_spot(&drawn.stuck),
            }
            plan.again();
        }
        None
    }
}

/// A valid value and how it was come by.
struct Settled {
    value: Value,
    plan: Plan,
    spots: usize,
}

#[cfg(test)]
mod tests;
