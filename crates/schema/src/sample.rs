//! A schema in, values it admits out, the same ones for the same seed.
//!
//! Keywords are read one by one and may contradict each other, so a value is drawn, shown to the validator, and drawn anew
//! where the validator finds fault. What comes out as valid has therefore always passed the validator.

mod constraints;
mod generator;
mod min_size;
mod mutate;
mod plan;
mod refs;
mod rng;
mod schema_cache;
mod type_set;
mod validation_cost;
mod values;

use serde_json::Value;

use crate::{Schema, Tape};
use generator::Generator;
use plan::SamplePlan;
use rng::{Rng, ValueLocation, combine_seeds};
use schema_cache::SchemaCache;
use values::{array, format, number, pattern};

/// How often a value is drawn anew before giving up.
const MAX_ATTEMPTS: u32 = 64;

/// How much is looked at for one value, all attempts together.
const MAX_WORK: usize = 100_000;

/// Up to so many visits of the validator it is asked where the fault lies; explaining takes it far longer than judging.
const MAX_EXPLAINED_VISITS: u64 = 20_000;

/// How many mistakes are tried before one that the schema tolerates is handed out.
const MAX_MUTATIONS: usize = 8;

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
    cache: SchemaCache<'s>,
    seed: u64,
    /// How many values were asked for.
    samples_taken: u64,
}

impl<'s> Sampler<'s> {
    /// Values for `schema`; other seeds give other values.
    pub fn new(schema: &'s Schema, seed: u64) -> Self {
        Self {
            schema,
            cache: SchemaCache::new(schema.as_value()),
            seed,
            samples_taken: 0,
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
        let natural = self.seed == 0 && self.samples_taken == 0;
        let seed = self.next_seed();
        self.generate(SamplePlan::new(seed, natural))
            .map(|settled| settled.value)
    }

    /// A value that is one mistake away from a valid one: usually, but not surely, refused by the schema.
    ///
    /// The mistake is of the wrong type, a missing or an unknown property, out of bounds, close to an enum member, an element
    /// too many or the like. `None` when no valid value was found, or none that can be got wrong.
    pub fn near_miss(&mut self) -> Option<Value> {
        let seed = self.next_seed();
        let settled = self.generate(SamplePlan::new(seed, false))?;
        let mut rng = Rng::new(combine_seeds(seed, 1));
        let mut tolerated = None;
        for turn in 0..MAX_MUTATIONS {
            let mut draw = Generator::new(&mut self.cache, &settled.plan, MAX_WORK);
            // Where anything goes no mistake is possible, but more is asked of the whole.
            let spots = if turn < MAX_MUTATIONS / 2 {
                settled.location_count
            } else {
                1
            };
            draw.mutate_at(rng.below(spots), rng.next_u64());
            let Some(value) = draw.value(&[self.schema.as_value()], ValueLocation::root(seed))
            else {
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
        self.samples_taken += 1;
        combine_seeds(self.seed, self.samples_taken)
    }

    fn admits(&self, value: &Value) -> bool {
        self.schema.is_valid(Tape::from_value(value).root())
    }

    /// Draws until the validator is content.
    fn generate(&mut self, mut plan: SamplePlan) -> Option<Sample> {
        let root = self.schema.as_value();
        let mut work = MAX_WORK;
        for _ in 0..MAX_ATTEMPTS {
            let mut draw = Generator::new(&mut self.cache, &plan, work);
            let value = draw.value(&[root], ValueLocation::root(plan.seed()));
            let drawn = draw.finish();
            work = drawn.remaining_work;
            match value {
                Some(value) if self.admits(&value) => {
                    let spots = drawn.locations.len();
                    return Some(Sample {
                        value,
                        plan,
                        location_count: spots,
                    });
                }
                Some(value) if drawn.validator_visits < MAX_EXPLAINED_VISITS => {
                    plan.retry_violations(&self.schema.violations(&value), &drawn.locations);
                }
                Some(_) => plan.retry_location(&[]),
                None if work == 0 || self.cache.is_unbounded(root) => return None,
                None => plan.retry_location(&drawn.failed_path),
            }
            plan.next_attempt();
        }
        None
    }
}

/// A valid value and how it was come by.
struct Sample {
    value: Value,
    plan: SamplePlan,
    location_count: usize,
}

#[cfg(test)]
mod tests;
