//! Generates one value that is valid for several schemas.

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::{
    constraints::ValueConstraints, location::ValueLocation, mutate::mutate, plan::SamplePlan,
    schema_cache::SchemaCache, type_set::TypeSet,
};
use crate::rng::SeededRng;

/// The maximum nesting of values: parsers reject deeper ones.
const MAX_DEPTH: usize = 60;

/// The maximum length of arrays and objects.
pub(super) const MAX_CONTAINER_LENGTH: usize = 20_000;

/// Below this depth only required parts are generated.
const MAX_OPTIONAL_DEPTH: usize = 6;

/// The same limit for natural values, which should be short.
const MAX_NATURAL_DEPTH: usize = 3;

/// After this many values only required parts are generated.
const MAX_OPTIONAL_LOCATIONS: usize = 150;

/// After this many validator visits only required parts are generated.
const MAX_OPTIONAL_VISITS: u64 = 10_000;

/// How many validator visits count as one unit of work.
const VISITS_PER_WORK_UNIT: u64 = 200;

/// One attempt at a value.
pub(super) struct Generator<'d, 's> {
    pub(super) cache: &'d mut SchemaCache<'s>,
    pub(super) plan: &'d SamplePlan,
    /// One leaf in this many is an edge case; 0 for none.
    edge_case_rate: usize,
    stats: AttemptStats,
    path: Vec<u64>,
    /// The index of the location to mutate, and the seed of the mutation.
    mutation: Option<(usize, u64)>,
}

/// The style of a number or text, where the schema leaves a choice.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueStyle {
    /// A value that a person would expect.
    Natural,
    /// Any unremarkable value.
    Ordinary,
    /// At a limit of the schema, or a value that programs often handle wrongly.
    EdgeCase,
}

/// The statistics of an attempt.
#[derive(Default)]
pub(super) struct AttemptStats {
    /// How much work may still be done.
    pub(super) remaining_work: usize,
    /// How many schemas the validator will visit.
    pub(super) validator_visits: u64,
    /// The path of every location, in the order of generation.
    pub(super) locations: Vec<u64>,
    /// The path from the root to the location where generation failed.
    pub(super) failed_path: Vec<u64>,
}

impl<'d, 's> Generator<'d, 's> {
    pub(super) fn new(cache: &'d mut SchemaCache<'s>, plan: &'d SamplePlan, work: usize) -> Self {
        let varied = !plan.is_natural() && SeededRng::new(plan.seed()).chance_one_in(2);
        Self {
            cache,
            plan,
            edge_case_rate: if varied { 3 } else { 0 },
            stats: AttemptStats { remaining_work: work, ..AttemptStats::default() },
            path: Vec::new(),
            mutation: None,
        }
    }

    pub(super) fn mutate_at(&mut self, location: usize, seed: u64) {
        self.mutation = Some((location, seed));
    }

    pub(super) fn finish(self) -> AttemptStats {
        self.stats
    }

    /// A value that is valid for all of `schemas`, except for constraints that only the validator can check.
    pub(super) fn value(
        &mut self,
        schemas: &[&'s Value],
        location: ValueLocation,
    ) -> Option<Value> {
        let at = self.stats.locations.len();
        self.stats.locations.push(location.path_hash);
        self.path.push(location.path_hash);
        let value = self.unmutated_value(schemas, location).map(|(value, constraints)| match self
            .mutation
        {
            Some((index, seed)) if index == at => {
                mutate(value, &constraints, &mut SeededRng::new(seed))
            }
            _ => value,
        });
        // Only the innermost failure is recorded.
        if value.is_none() && !self.stats.failed_path.starts_with(&self.path) {
            self.stats.failed_path.clone_from(&self.path);
        }
        self.path.pop();
        value
    }

    fn unmutated_value(
        &mut self,
        schemas: &[&'s Value],
        location: ValueLocation,
    ) -> Option<(Value, ValueConstraints<'s>)> {
        self.use_work(1)?;
        if location.depth > MAX_DEPTH {
            return None;
        }
        let toll = self.cache.validation_cost(schemas);
        let visits = location.validator_visits.saturating_mul(toll.schema_visits);
        self.stats.validator_visits = self.stats.validator_visits.saturating_add(visits);
        self.use_work(usize::try_from(visits / VISITS_PER_WORK_UNIT).unwrap_or(usize::MAX))?;
        let location = ValueLocation {
            validator_visits: location.validator_visits.saturating_mul(toll.child_visits.max(1)),
            ..location.with_salt(self.plan.retry_count(location.path_hash))
        };
        let mut rng = SeededRng::new(location.seed);
        let constraints = self.constraints(schemas, location, &mut rng)?;
        let value = match constraints.enum_lists() {
            Some(options) => self.enum_value(&options, &constraints, location, &mut rng)?,
            None => match self.example_or_default(&constraints, location, &mut rng) {
                Some(hint) => self.copy_value(hint)?,
                None => self.generated_value(&constraints, location, &mut rng)?,
            },
        };
        Some((value, constraints))
    }

    /// Counts work; `None` when the limit is reached.
    pub(super) fn use_work(&mut self, work: usize) -> Option<()> {
        let left = self.stats.remaining_work.checked_sub(work);
        self.stats.remaining_work = left.unwrap_or(0);
        left.map(|_| ())
    }

    /// Returns true if optional parts may be generated.
    pub(super) fn allows_optional(&self, location: ValueLocation) -> bool {
        let depth = if self.plan.is_natural() { MAX_NATURAL_DEPTH } else { MAX_OPTIONAL_DEPTH };
        !self.plan.required_only()
            && location.depth < depth
            && location.validator_visits < MAX_OPTIONAL_VISITS
            && self.stats.locations.len() < MAX_OPTIONAL_LOCATIONS
    }

    /// Returns true if this location should get a natural value; false once one was rejected.
    pub(super) fn is_natural(&self, location: ValueLocation) -> bool {
        self.plan.is_natural() && self.plan.retry_count(location.path_hash) == 0
    }

    pub(super) fn style(&self, location: ValueLocation, rng: &mut SeededRng) -> ValueStyle {
        if self.is_natural(location) {
            ValueStyle::Natural
        } else if self.wants_edge_case(rng) {
            ValueStyle::EdgeCase
        } else {
            ValueStyle::Ordinary
        }
    }

    /// Returns true if this location should get an edge case.
    pub(super) fn wants_edge_case(&self, rng: &mut SeededRng) -> bool {
        rng.chance_one_in(self.edge_case_rate)
    }

    fn generated_value(
        &mut self,
        constraints: &ValueConstraints<'s>,
        location: ValueLocation,
        rng: &mut SeededRng,
    ) -> Option<Value> {
        match self.pick_type(constraints, location, rng) {
            TypeSet::NULL => Some(Value::Null),
            TypeSet::BOOLEAN => Some(Value::Bool(rng.chance_one_in(2))),
            TypeSet::NUMBER => self.number(constraints, location, rng),
            TypeSet::STRING => self.text(constraints, location, rng).map(Value::String),
            TypeSet::ARRAY => self.array(constraints, location, rng),
            TypeSet::OBJECT => self.object(constraints, location, rng),
            _ => None,
        }
    }

    /// One of the types in [`TypeSet::JSON_TYPES`].
    fn pick_type(
        &self,
        constraints: &ValueConstraints<'s>,
        location: ValueLocation,
        rng: &mut SeededRng,
    ) -> TypeSet {
        let mut types = constraints.types;
        let mut is_untyped = false;
        if !constraints.has_type {
            let implied = constraints.implied_types().intersection(types);
            is_untyped = implied == TypeSet::NONE;
            let stray = self.plan.tries_all_types() && rng.chance_one_in(2)
                || self.wants_edge_case(rng) && rng.chance_one_in(4);
            if !is_untyped && !stray {
                types = implied;
            }
        }
        let mut each: Vec<TypeSet> = TypeSet::JSON_TYPES
            .into_iter()
            .filter(|json_type| types.intersects(*json_type))
            .collect();
        let scalar =
            |json_type: &TypeSet| !TypeSet::ARRAY.union(TypeSet::OBJECT).intersects(*json_type);
        let simply =
            self.is_natural(location) || !self.allows_optional(location) || location.depth > 2;
        if is_untyped && simply && each.iter().any(scalar) {
            each.retain(scalar);
        }
        let chosen = if self.is_natural(location) { each.first() } else { rng.pick(&each) };
        chosen.copied().unwrap_or(TypeSet::NONE)
    }
}

/// The schema of any string, for values that the validator treats as strings without a `type`.
pub(super) fn any_string_schema() -> &'static Value {
    static TEXT: LazyLock<Value> = LazyLock::new(|| json!({"type": "string"}));
    &TEXT
}
