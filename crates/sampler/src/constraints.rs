//! Collects the constraints on one value from all schemas that apply to it, with one branch chosen of every union.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{generator::Generator, location::ValueLocation, type_set::TypeSet};
use crate::rng::SeededRng;

/// How many references may follow each other for the same value.
const MAX_IN_PLACE_DEPTH: usize = 64;

/// How many branches of a union are tried.
const MAX_BRANCHES: usize = 8;

/// The constraints on one value.
#[derive(Clone)]
pub(super) struct ValueConstraints<'s> {
    /// The schemas that apply to the value; it must be valid for all of them.
    pub(super) schemas: Vec<&'s Map<String, Value>>,
    pub(super) types: TypeSet,
    /// Whether any schema names a type.
    pub(super) has_type: bool,
    /// Values that `not` excludes.
    pub(super) excluded_values: Vec<&'s Value>,
    /// Properties that must be present besides the required ones.
    pub(super) extra_required: Vec<&'s str>,
    /// Properties that should be absent.
    pub(super) avoided_properties: Vec<&'s str>,
}

impl<'s> ValueConstraints<'s> {
    /// The values of a keyword in all schemas.
    pub(super) fn keyword_values(&self, keyword: &str) -> impl Iterator<Item = &'s Value> {
        self.schemas.iter().filter_map(move |schema| schema.get(keyword))
    }

    /// The tightest lower limit on a length.
    pub(super) fn min_limit(&self, keyword: &str) -> usize {
        self.keyword_values(keyword).filter_map(as_length).max().unwrap_or(0)
    }

    /// The tightest upper limit on a length.
    pub(super) fn max_limit(&self, keyword: &str) -> Option<usize> {
        self.keyword_values(keyword).filter_map(as_length).min()
    }

    /// The members of a keyword that holds an object, in all schemas.
    pub(super) fn keyword_members(
        &self,
        keyword: &str,
    ) -> impl Iterator<Item = (&'s str, &'s Value)> {
        self.keyword_values(keyword)
            .filter_map(Value::as_object)
            .flatten()
            .map(|(name, value)| (name.as_str(), value))
    }

    /// The strings of a keyword that holds a list, in all schemas.
    pub(super) fn keyword_strings(&self, keyword: &str) -> impl Iterator<Item = &'s str> {
        list_strings(self.keyword_values(keyword))
    }

    /// The lists of `enum` and `const`, if there are any.
    pub(super) fn enum_lists(&self) -> Option<Vec<&'s [Value]>> {
        let lists = self.keyword_values("enum").filter_map(Value::as_array);
        let options: Vec<&[Value]> = lists
            .map(Vec::as_slice)
            .chain(self.keyword_values("const").map(std::slice::from_ref))
            .collect();
        (!options.is_empty()).then_some(options)
    }

    /// The types that the keywords imply.
    pub(super) fn implied_types(&self) -> TypeSet {
        self.schemas
            .iter()
            .fold(TypeSet::NONE, |types, schema| types.union(TypeSet::implied_by(schema)))
    }

    /// Adds what `not` excludes, for simple schemas.
    fn exclude(&mut self, excluded: &'s Value) {
        let Value::Object(excluded) = excluded else {
            return;
        };
        match excluded.iter().next() {
            Some((keyword, value)) if excluded.len() == 1 => match (keyword.as_str(), value) {
                ("type", names) => {
                    self.types = self.types.difference(TypeSet::from_type_keyword(names))
                }
                ("const", value) => self.excluded_values.push(value),
                ("enum", Value::Array(values)) => self.excluded_values.extend(values),
                ("anyOf", Value::Array(branches)) => {
                    branches.iter().for_each(|branch| self.exclude(branch));
                }
                ("required", Value::Array(names)) => {
                    // It is enough that one of them is absent.
                    self.avoided_properties.extend(names.last().and_then(Value::as_str));
                }
                _ => {}
            },
            _ => {}
        }
    }
}

impl<'s> Generator<'_, 's> {
    /// Follows references, combines `allOf` and chooses one branch of each union.
    pub(super) fn constraints(
        &mut self,
        schemas: &[&'s Value],
        location: ValueLocation,
        rng: &mut SeededRng,
    ) -> Option<ValueConstraints<'s>> {
        let mut constraints = ValueConstraints {
            schemas: Vec::with_capacity(schemas.len()),
            types: TypeSet::ALL,
            has_type: false,
            excluded_values: Vec::new(),
            extra_required: Vec::new(),
            avoided_properties: Vec::new(),
        };
        for schema in schemas {
            self.collect_constraints(&mut constraints, schema, location, rng, MAX_IN_PLACE_DEPTH)?;
        }
        self.choose_dependents(&mut constraints, location, rng)?;
        (constraints.types != TypeSet::NONE).then_some(constraints)
    }

    fn collect_constraints(
        &mut self,
        constraints: &mut ValueConstraints<'s>,
        schema: &'s Value,
        location: ValueLocation,
        rng: &mut SeededRng,
        depth: usize,
    ) -> Option<()> {
        self.use_work(1)?;
        let depth = depth.checked_sub(1)?;
        let object = match schema {
            Value::Bool(true) => return Some(()),
            Value::Object(object) => object,
            _ => return None,
        };
        if constraints.schemas.iter().any(|schema| std::ptr::eq(*schema, object)) {
            return Some(());
        }
        constraints.schemas.push(object);
        let mut chooses = false;
        for (keyword, value) in object {
            match (keyword.as_str(), value) {
                ("type", names) => {
                    constraints.has_type = true;
                    constraints.types =
                        constraints.types.intersection(TypeSet::from_type_keyword(names));
                }
                ("$ref" | "$dynamicRef" | "$recursiveRef", _) => {
                    let target = self.cache.refs.resolve(value)?;
                    self.collect_constraints(constraints, target, location, rng, depth)?;
                }
                ("allOf", Value::Array(all)) => {
                    for schema in all {
                        self.collect_constraints(constraints, schema, location, rng, depth)?;
                    }
                }
                ("not", excluded) => constraints.exclude(excluded),
                ("anyOf" | "oneOf" | "if", _) => chooses = true,
                _ => {}
            }
        }
        if !chooses {
            return Some(());
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Value::Array(branches)) = object.get(keyword) {
                self.choose_branch(constraints, branches, location, rng, depth)?;
            }
        }
        if let Some(condition) = object.get("if") {
            let met = rng.chance_one_in(2);
            if met {
                self.collect_constraints(constraints, condition, location, rng, depth)?;
            }
            if let Some(then) = object.get(if met { "then" } else { "else" }) {
                self.collect_constraints(constraints, then, location, rng, depth)?;
            }
        }
        Some(())
    }

    /// Chooses a branch: the smallest where space is limited, otherwise any that is not obviously impossible.
    fn choose_branch(
        &mut self,
        constraints: &mut ValueConstraints<'s>,
        branches: &'s [Value],
        location: ValueLocation,
        rng: &mut SeededRng,
        depth: usize,
    ) -> Option<()> {
        self.use_work(branches.len() / 16)?;
        let mut remaining: Vec<&'s Value> = branches
            .iter()
            .filter(|branch| constraints.types.intersects(TypeSet::allowed_by(branch)))
            .collect();
        if !self.allows_optional(location) {
            self.use_work(remaining.len())?;
            remaining.sort_by_cached_key(|branch| self.cache.min_size(branch));
        } else if self.is_natural(location) {
            remaining.sort_by_key(|branch| TypeSet::allowed_by(branch) == TypeSet::NULL);
        } else if !remaining.is_empty() {
            let start = rng.below(remaining.len());
            remaining.rotate_left(start);
        }
        for branch in remaining.into_iter().take(MAX_BRANCHES) {
            let mut tried = constraints.clone();
            let gathered = self.collect_constraints(&mut tried, branch, location, rng, depth);
            if gathered.is_some() && tried.types != TypeSet::NONE {
                *constraints = tried;
                return Some(());
            }
        }
        None
    }

    /// Decides which properties with dependent schemas are present.
    fn choose_dependents(
        &mut self,
        constraints: &mut ValueConstraints<'s>,
        location: ValueLocation,
        rng: &mut SeededRng,
    ) -> Option<()> {
        let dependents: Vec<(&str, &Value)> = constraints
            .keyword_members("dependentSchemas")
            .chain(constraints.keyword_members("dependencies"))
            .filter(|(_, schema)| !schema.is_array())
            .collect();
        if dependents.is_empty() {
            return Some(());
        }
        let required: HashSet<&str> = constraints.keyword_strings("required").collect();
        for (name, schema) in dependents {
            if required.contains(name)
                || self.allows_optional(location)
                    && !self.is_natural(location)
                    && rng.chance_one_in(2)
            {
                constraints.extra_required.push(name);
                self.collect_constraints(constraints, schema, location, rng, MAX_IN_PLACE_DEPTH)?;
            } else {
                constraints.avoided_properties.push(name);
            }
        }
        Some(())
    }
}

/// The strings in several lists.
pub(super) fn list_strings<'s>(
    lists: impl Iterator<Item = &'s Value>,
) -> impl Iterator<Item = &'s str> {
    lists.filter_map(Value::as_array).flatten().filter_map(Value::as_str)
}

/// A limit on a length, which may be written `3.0`.
fn as_length(value: &Value) -> Option<usize> {
    match value.as_u64() {
        Some(length) => Some(usize::try_from(length).unwrap_or(usize::MAX)),
        // A cast from a float saturates.
        None => value.as_f64().map(|length| length as usize),
    }
}
