//! Generates random values that are valid for a schema, reproducible by seed.
//!
//! A [`Sampler`] generates them, a [`SeededRng`] has the random numbers. Programs use both as part of `toolwright::testing`.
//!
//! Keywords are read one by one and may contradict each other, so a value is generated, validated, and generated again
//! where the validator rejects it. Every value that is returned as valid has passed the validator.

mod constraints;
mod generator;
mod location;
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
use toolwright_schema::{Schema, Tape};

use generator::Generator;
use location::{ValueLocation, combine_seeds};
use plan::SamplePlan;
use schema_cache::SchemaCache;
use values::{array, format, number, pattern};

pub use rng::SeededRng;

/// How many attempts are made per value.
const MAX_ATTEMPTS: u32 = 64;

/// The work limit per value, over all attempts.
const MAX_WORK: usize = 100_000;

/// The maximum number of validator visits for which violations are collected, which is far slower than validating.
const MAX_EXPLAINED_VISITS: u64 = 20_000;

/// How many mutations are tried before a value that is still valid is returned.
const MAX_MUTATIONS: usize = 8;

/// Generates values for a schema; the same seed gives the same values.
///
/// # Examples
///
/// ```
/// # mod toolwright { pub use serde_json::json; pub extern crate toolwright_sampler as testing; pub extern crate toolwright_schema as schema; }
/// use toolwright::json;
/// use toolwright::schema::{Schema, Tape};
/// use toolwright::testing::Sampler;
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
/// assert!(schema.is_valid(Tape::from_value(&value).root()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Sampler<'s> {
    schema: &'s Schema,
    cache: SchemaCache<'s>,
    seed: u64,
    /// The number of values generated so far.
    samples_taken: u64,
}

impl<'s> Sampler<'s> {
    /// Creates a sampler for `schema`; other seeds give other values.
    pub fn new(schema: &'s Schema, seed: u64) -> Self {
        Self { schema, cache: SchemaCache::new(schema.as_value()), seed, samples_taken: 0 }
    }

    /// The most natural value, for documentation: only required properties and those with a default, from the schema's own
    /// examples.
    ///
    /// The same as the first valid value of seed 0.
    pub fn example(schema: &Schema) -> Option<Value> {
        Sampler::new(schema, 0).valid()
    }

    /// A valid value; `None` when none was found, because the schema is never valid or too complex.
    ///
    /// Too complex are, for example, patterns with back-references, and schemas that require very large values.
    pub fn valid(&mut self) -> Option<Value> {
        let natural = self.seed == 0 && self.samples_taken == 0;
        let seed = self.next_seed();
        self.generate(SamplePlan::new(seed, natural)).map(|settled| settled.value)
    }

    /// A value that is one mistake away from a valid one: usually, but not always, invalid.
    ///
    /// The mistake is a wrong type, a missing or unknown property, a violated bound, a misspelt enum member, an extra
    /// element or similar. `None` when no valid value was found, or none that can be mutated.
    pub fn near_miss(&mut self) -> Option<Value> {
        let seed = self.next_seed();
        let settled = self.generate(SamplePlan::new(seed, false))?;
        let mut rng = SeededRng::new(combine_seeds(seed, 1));
        let mut tolerated = None;
        for turn in 0..MAX_MUTATIONS {
            let mut draw = Generator::new(&mut self.cache, &settled.plan, MAX_WORK);
            // A part that accepts any value cannot be invalidated, but the root is constrained further.
            let spots = if turn < MAX_MUTATIONS / 2 { settled.location_count } else { 1 };
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

    /// Generates values until one is valid.
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
                    return Some(Sample { value, plan, location_count: spots });
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

/// A valid value and how it was generated.
struct Sample {
    value: Value,
    plan: SamplePlan,
    location_count: usize,
}

#[cfg(test)]
mod tests;
