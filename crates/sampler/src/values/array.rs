//! Generates arrays with a valid length and the required elements.

use serde_json::Value;

use crate::{
    constraints::ValueConstraints,
    generator::{Generator, MAX_CONTAINER_LENGTH},
    location::ValueLocation,
    rng::SeededRng,
};

/// How often an element that must be unique is generated again.
const MAX_UNIQUE_ATTEMPTS: usize = 24;

impl<'s> Generator<'_, 's> {
    pub(crate) fn array(
        &mut self,
        constraints: &ValueConstraints<'s>,
        location: ValueLocation,
        rng: &mut SeededRng,
    ) -> Option<Value> {
        let shape = ArrayShape::of(constraints);
        let count = self.array_length(&shape, location, rng)?;
        self.use_work(count)?;
        let first_contained = rng.below(count.saturating_sub(shape.min_contains) + 1);
        let mut elements: Vec<Value> = Vec::new();
        for at in 0..count {
            let mut schemas = element_schemas(constraints, at);
            if (first_contained..first_contained + shape.min_contains).contains(&at) {
                schemas.extend(constraints.keyword_values("contains"));
            }
            match self.array_element(&schemas, &elements, shape.unique, at, location) {
                Some(element) => elements.push(element),
                None if at >= shape.min_length => break,
                None => return None,
            }
        }
        Some(Value::Array(elements))
    }

    fn array_length(
        &self,
        shape: &ArrayShape,
        location: ValueLocation,
        rng: &mut SeededRng,
    ) -> Option<usize> {
        let ArrayShape { min_length: min, max_length: max, .. } = *shape;
        if min > max.min(MAX_CONTAINER_LENGTH) {
            return None;
        }
        if !self.allows_optional(location) {
            return Some(min);
        }
        if self.is_natural(location) {
            return Some(shape.prefix_length.max(1).clamp(min, max));
        }
        if self.wants_edge_case(rng) {
            return Some(match rng.below(3) {
                0 => min,
                1 => max.min(min.saturating_add(8)),
                _ => max.min(min.saturating_add(1)),
            });
        }
        let usual = shape.prefix_length.max(min).saturating_add(rng.below(4));
        let short = shape.prefix_length > 0 && rng.chance_one_in(4);
        let usual = if short { rng.below(shape.prefix_length) } else { usual };
        Some(usual.clamp(min, max))
    }

    fn array_element(
        &mut self,
        schemas: &[&'s Value],
        others: &[Value],
        unique: bool,
        at: usize,
        location: ValueLocation,
    ) -> Option<Value> {
        let step = at.to_string();
        for turn in 0..MAX_UNIQUE_ATTEMPTS {
            let value = self.value(schemas, location.child(&step, turn))?;
            if !unique || !others.contains(&value) {
                return Some(value);
            }
            self.use_work(others.len() / 16)?;
        }
        None
    }
}

/// The constraints on the length.
pub(crate) struct ArrayShape {
    pub(crate) min_length: usize,
    pub(crate) max_length: usize,
    pub(crate) unique: bool,
    /// How many elements have a schema of their own.
    prefix_length: usize,
    /// How many elements must match `contains`.
    min_contains: usize,
}

impl ArrayShape {
    pub(crate) fn of(constraints: &ValueConstraints<'_>) -> Self {
        let contained = match constraints.keyword_values("contains").next() {
            Some(_) => constraints.max_limit("minContains").unwrap_or(1),
            None => 0,
        };
        let mut max = constraints.max_limit("maxItems").unwrap_or(usize::MAX);
        let mut prefix = 0;
        for part in &constraints.schemas {
            let own = match (part.get("prefixItems"), part.get("items")) {
                (Some(Value::Array(own)), _) | (None, Some(Value::Array(own))) => own.as_slice(),
                _ => &[],
            };
            prefix = prefix.max(own.len());
            if let Some(refused) = own.iter().position(|own| own == &Value::Bool(false)) {
                max = max.min(refused);
            }
            let closed = ["items", "additionalItems", "unevaluatedItems"]
                .iter()
                .any(|keyword| part.get(*keyword) == Some(&Value::Bool(false)));
            if closed {
                max = max.min(own.len());
            }
        }
        Self {
            min_length: constraints.min_limit("minItems").max(contained),
            max_length: max,
            unique: constraints.keyword_values("uniqueItems").any(|it| it == &Value::Bool(true)),
            prefix_length: prefix,
            min_contains: contained,
        }
    }
}

/// The schemas for one element.
fn element_schemas<'s>(constraints: &ValueConstraints<'s>, at: usize) -> Vec<&'s Value> {
    let mut schemas: Vec<&Value> = Vec::new();
    for part in &constraints.schemas {
        // Before 2020-12 a list of `items` is what `prefixItems` is now, and `additionalItems` is what `items` is.
        let (prefix, rest) = match (part.get("prefixItems"), part.get("items")) {
            (None, Some(Value::Array(prefix))) => (prefix.as_slice(), part.get("additionalItems")),
            (Some(Value::Array(prefix)), rest) => (prefix.as_slice(), rest),
            (_, rest) => (&[][..], rest),
        };
        let schema = prefix.get(at).or(rest).or(part.get("unevaluatedItems"));
        if let Some(schema) = schema
            && !schemas.iter().any(|other| std::ptr::eq(*other, schema))
        {
            schemas.push(schema);
        }
    }
    schemas
}
