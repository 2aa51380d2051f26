//! Schemas that must all hold in, one value out.

use std::sync::LazyLock;

use serde_json::{Value, json};

use super::{
    constraints::ValueConstraints,
    mutate::mutate,
    plan::SamplePlan,
    rng::{Rng, ValueLocation},
    schema_cache::SchemaCache,
    type_set::TypeSet,
};

/// Deeper values are not drawn: no reader takes them.
const MAX_DEPTH: usize = 60;

/// Arrays and objects of more parts are not drawn.
pub(super) const MAX_CONTAINER_LENGTH: usize = 20_000;

/// Down to this depth there is room for what is not required.
const MAX_OPTIONAL_DEPTH: usize = 6;

/// The same for a value that a person should take in at a glance.
const MAX_NATURAL_DEPTH: usize = 3;

/// Up to this many spots there is room for what is not required.
const MAX_OPTIONAL_LOCATIONS: usize = 150;

/// Up to so many visits of the validator there is room for what is not required.
const MAX_OPTIONAL_VISITS: u64 = 10_000;

/// So many visits of the validator are one piece of work.
const VISITS_PER_WORK_UNIT: u64 = 200;

/// One attempt at a value.
pub(super) struct Generator<'d, 's> {
    pub(super) cache: &'d mut SchemaCache<'s>,
    pub(super) plan: &'d SamplePlan,
    /// One leaf in so many is out of the ordinary; 0 for none.
    edge_case_rate: usize,
    stats: AttemptStats,
    path: Vec<u64>,
    /// Which spot gets a mistake, and the seed of that mistake.
    mutation: Option<(usize, u64)>,
}

/// What sort of number or text is wanted, where the schema leaves a choice.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum ValueStyle {
    /// What a person would expect.
    Natural,
    /// Anything unremarkable.
    Ordinary,
    /// On the edge of what is allowed, or what programs get wrong.
    EdgeCase,
}

/// What an attempt leaves behind.
#[derive(Default)]
pub(super) struct AttemptStats {
    /// How much may still be looked at.
    pub(super) remaining_work: usize,
    /// How many schemas the validator will go through.
    pub(super) validator_visits: u64,
    /// The path of every spot, in the order they were drawn.
    pub(super) locations: Vec<u64>,
    /// From the root to where nothing could be drawn.
    pub(super) failed_path: Vec<u64>,
}

impl<'d, 's> Generator<'d, 's> {
    pub(super) fn new(known: &'d mut SchemaCache<'s>, plan: &'d SamplePlan, work: usize) -> Self {
        let varied = !plan.is_natural() && Rng::new(plan.seed()).chance_one_in(2);
        Self {
            cache: known,
            plan,
            edge_case_rate: if varied { 3 } else { 0 },
            stats: AttemptStats {
                remaining_work: work,
                ..AttemptStats::default()
            },
            path: Vec::new(),
            mutation: None,
        }
    }

    pub(super) fn mutate_at(&mut self, spot: usize, seed: u64) {
        self.mutation = Some((spot, seed));
    }

    pub(super) fn finish(self) -> AttemptStats {
        self.stats
    }

    /// A value for which all of `schemas` hold as far as can be told.
    pub(super) fn value(&mut self, schemas: &[&'s Value], spot: ValueLocation) -> Option<Value> {
        let at = self.stats.locations.len();
        self.stats.locations.push(spot.path_hash);
        self.path.push(spot.path_hash);
        let value = self
            .unmutated_value(schemas, spot)
            .map(|(value, rules)| match self.mutation {
                Some((index, seed)) if index == at => mutate(value, &rules, &mut Rng::new(seed)),
                _ => value,
            });
        // Unless this is only what a failure further down led to.
        if value.is_none() && !self.stats.failed_path.starts_with(&self.path) {
            self.stats.failed_path.clone_from(&self.path);
        }
        self.path.pop();
        value
    }

    fn unmutated_value(
        &mut self,
        schemas: &[&'s Value],
        spot: ValueLocation,
    ) -> Option<(Value, ValueConstraints<'s>)> {
        self.use_work(1)?;
        if spot.depth > MAX_DEPTH {
            return None;
        }
        let toll = self.cache.validation_cost(schemas);
        let visits = spot.validator_visits.saturating_mul(toll.schema_visits);
        self.stats.validator_visits = self.stats.validator_visits.saturating_add(visits);
        self.use_work(usize::try_from(visits / VISITS_PER_WORK_UNIT).unwrap_or(usize::MAX))?;
        let spot = ValueLocation {
            validator_visits: spot
                .validator_visits
                .saturating_mul(toll.child_visits.max(1)),
            ..spot.with_salt(self.plan.retry_count(spot.path_hash))
        };
        let mut dice = Rng::new(spot.seed);
        let rules = self.constraints(schemas, spot, &mut dice)?;
        let value = match rules.enum_lists() {
            Some(options) => self.enum_value(&options, &rules, spot, &mut dice)?,
            None => match self.example_or_default(&rules, spot, &mut dice) {
                Some(hint) => self.copy_value(hint)?,
                None => self.generated_value(&rules, spot, &mut dice)?,
            },
        };
        Some((value, rules))
    }

    /// Counts work; `None` when there was enough of it.
    pub(super) fn use_work(&mut self, work: usize) -> Option<()> {
        let left = self.stats.remaining_work.checked_sub(work);
        self.stats.remaining_work = left.unwrap_or(0);
        left.map(|_| ())
    }

    /// Whether there is room for what is not required.
    pub(super) fn allows_optional(&self, spot: ValueLocation) -> bool {
        let depth = if self.plan.is_natural() {
            MAX_NATURAL_DEPTH
        } else {
            MAX_OPTIONAL_DEPTH
        };
        !self.plan.required_only()
            && spot.depth < depth
            && spot.validator_visits < MAX_OPTIONAL_VISITS
            && self.stats.locations.len() < MAX_OPTIONAL_LOCATIONS
    }

    /// Whether this spot should hold what a person would expect; not once that was refused.
    pub(super) fn is_natural(&self, spot: ValueLocation) -> bool {
        self.plan.is_natural() && self.plan.retry_count(spot.path_hash) == 0
    }

    pub(super) fn style(&self, spot: ValueLocation, dice: &mut Rng) -> ValueStyle {
        if self.is_natural(spot) {
            ValueStyle::Natural
        } else if self.wants_edge_case(dice) {
            ValueStyle::EdgeCase
        } else {
            ValueStyle::Ordinary
        }
    }

    /// Whether this spot should hold something out of the ordinary.
    pub(super) fn wants_edge_case(&self, dice: &mut Rng) -> bool {
        dice.chance_one_in(self.edge_case_rate)
    }

    fn generated_value(
        &mut self,
        rules: &ValueConstraints<'s>,
        spot: ValueLocation,
        dice: &mut Rng,
    ) -> Option<Value> {
        match self.pick_type(rules, spot, dice) {
            TypeSet::NULL => Some(Value::Null),
            TypeSet::BOOLEAN => Some(Value::Bool(dice.chance_one_in(2))),
            TypeSet::NUMBER => self.number(rules, spot, dice),
            TypeSet::STRING => self.text(rules, spot, dice).map(Value::String),
            TypeSet::ARRAY => self.array(rules, spot, dice),
            TypeSet::OBJECT => self.object(rules, spot, dice),
            _ => None,
        }
    }

    /// One of the kinds in [`Kinds::EACH`].
    fn pick_type(
        &self,
        rules: &ValueConstraints<'s>,
        spot: ValueLocation,
        dice: &mut Rng,
    ) -> TypeSet {
        let mut kinds = rules.types;
        let mut untold = false;
        if !rules.has_type {
            let meant = rules.implied_types().intersection(kinds);
            untold = meant == TypeSet::NONE;
            let stray = self.plan.tries_all_types() && dice.chance_one_in(2)
                || self.wants_edge_case(dice) && dice.chance_one_in(4);
            if !untold && !stray {
                kinds = meant;
            }
        }
        let mut each: Vec<TypeSet> = TypeSet::JSON_TYPES
            .into_iter()
            .filter(|kind| kinds.intersects(*kind))
            .collect();
        let scalar = |kind: &TypeSet| !TypeSet::ARRAY.union(TypeSet::OBJECT).intersects(*kind);
        let simply = self.is_natural(spot) || !self.allows_optional(spot) || spot.depth > 2;
        if untold && simply && each.iter().any(scalar) {
            each.retain(scalar);
        }
        let chosen = if self.is_natural(spot) {
            each.first()
        } else {
            dice.pick(&each)
        };
        chosen.copied().unwrap_or(TypeSet::NONE)
    }
}

/// The schema of any text, for what the validator takes as text without being told.
pub(super) fn any_string_schema() -> &'static Value {
    static TEXT: LazyLock<Value> = LazyLock::new(|| json!({"type": "string"}));
    &TEXT
}
