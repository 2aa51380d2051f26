//! Schemas that must all hold in, the keywords that judge one value out, with a branch chosen of every union.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::{
    dice::{Dice, Spot},
    draw::Draw,
    kinds::Kinds,
};

/// How many schemas may refer to each other in place.
const IN_PLACE: usize = 64;

/// How many branches of a union are tried.
const BRANCHES: usize = 8;

/// All that is asked of one value.
#[derive(Clone)]
pub(super) struct Rules<'s> {
    /// The schemas that judge the value; all must hold.
    pub(super) parts: Vec<&'s Map<String, Value>>,
    pub(super) kinds: Kinds,
    /// Whether any part names a type.
    pub(super) typed: bool,
    /// Values that `not` rules out.
    pub(super) barred: Vec<&'s Value>,
    /// Properties that must be there besides the required ones.
    pub(super) needed: Vec<&'s str>,
    /// Properties better left out.
    pub(super) avoided: Vec<&'s str>,
}

impl<'s> Rules<'s> {
    /// The values of a keyword in all parts.
    pub(super) fn each(&self, keyword: &str) -> impl Iterator<Item = &'s Value> {
        self.parts.iter().filter_map(move |part| part.get(keyword))
    }

    /// The tightest of several lower limits on a length.
    pub(super) fn least(&self, keyword: &str) -> usize {
        self.each(keyword).filter_map(length).max().unwrap_or(0)
    }

    /// The tightest of several upper limits on a length.
    pub(super) fn most(&self, keyword: &str) -> Option<usize> {
        self.each(keyword).filter_map(length).min()
    }

    /// The members of a keyword that holds an object, in all parts.
    pub(super) fn members(&self, keyword: &str) -> impl Iterator<Item = (&'s str, &'s Value)> {
        self.each(keyword)
            .filter_map(Value::as_object)
            .flatten()
            .map(|(name, value)| (name.as_str(), value))
    }

    /// The texts of a keyword that holds a list, in all parts.
    pub(super) fn listed(&self, keyword: &str) -> impl Iterator<Item = &'s str> {
        texts(self.each(keyword))
    }

    /// The enums and constants, if there are any.
    pub(super) fn options(&self) -> Option<Vec<&'s [Value]>> {
        let lists = self.each("enum").filter_map(Value::as_array);
        let options: Vec<&[Value]> = lists
            .map(Vec::as_slice)
            .chain(self.each("const").map(std::slice::from_ref))
            .collect();
        (!options.is_empty()).then_some(options)
    }

    /// The kinds that the keywords have in mind.
    pub(super) fn meant(&self) -> Kinds {
        self.parts
            .iter()
            .fold(Kinds::NONE, |kinds, part| kinds.or(Kinds::meant(part)))
    }

    /// What `not` rules out, where that is easy to tell.
    fn bar(&mut self, refused: &'s Value) {
        let Value::Object(refused) = refused else {
            return;
        };
        match refused.iter().next() {
            Some((keyword, value)) if refused.len() == 1 => match (keyword.as_str(), value) {
                ("type", names) => self.kinds = self.kinds.without(Kinds::typed(names)),
                ("const", value) => self.barred.push(value),
                ("enum", Value::Array(values)) => self.barred.extend(values),
                ("anyOf", Value::Array(branches)) => {
                    branches.iter().for_each(|branch| self.bar(branch));
                }
                ("required", Value::Array(names)) => {
                    // Leaving out one of them is enough.
                    self.avoided.extend(names.last().and_then(Value::as_str));
                }
                _ => {}
            },
            _ => {}
        }
    }
}

impl<'s> Draw<'_, 's> {
    /// Follows references, takes all of `allOf` and chooses one of each union.
    pub(super) fn rules(
        &mut self,
        schemas: &[&'s Value],
        spot: Spot,
        dice: &mut Dice,
    ) -> Option<Rules<'s>> {
        let mut rules = Rules {
            parts: Vec::with_capacity(schemas.len()),
            kinds: Kinds::ALL,
            typed: false,
            barred: Vec::new(),
            needed: Vec::new(),
            avoided: Vec::new(),
        };
        for schema in schemas {
            self.gather(&mut rules, schema, spot, dice, IN_PLACE)?;
        }
        self.dependents(&mut rules, spot, dice)?;
        (rules.kinds != Kinds::NONE).then_some(rules)
    }

    fn gather(
        &mut self,
        rules: &mut Rules<'s>,
        schema: &'s Value,
        spot: Spot,
        dice: &mut Dice,
        depth: usize,
    ) -> Option<()> {
        self.spend(1)?;
        let depth = depth.checked_sub(1)?;
        let object = match schema {
            Value::Bool(true) => return Some(()),
            Value::Object(object) => object,
            _ => return None,
        };
        if rules.parts.iter().any(|part| std::ptr::eq(*part, object)) {
            return Some(());
        }
        rules.parts.push(object);
        let mut chooses = false;
        for (keyword, value) in object {
            match (keyword.as_str(), value) {
                ("type", names) => {
                    rules.typed = true;
                    rules.kinds = rules.kinds.and(Kinds::typed(names));
                }
                ("$ref" | "$dynamicRef" | "$recursiveRef", _) => {
                    let target = self.known.refs.find(value)?;
                    self.gather(rules, target, spot, dice, depth)?;
                }
                ("allOf", Value::Array(all)) => {
                    for schema in all {
                        self.gather(rules, schema, spot, dice, depth)?;
                    }
                }
                ("not", refused) => rules.bar(refused),
                ("anyOf" | "oneOf" | "if", _) => chooses = true,
                _ => {}
            }
        }
        if !chooses {
            return Some(());
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Value::Array(branches)) = object.get(keyword) {
                self.choose(rules, branches, spot, dice, depth)?;
            }
        }
        if let Some(condition) = object.get("if") {
            let met = dice.one_in(2);
            if met {
                self.gather(rules, condition, spot, dice, depth)?;
            }
            if let Some(then) = object.get(if met { "then" } else { "else" }) {
                self.gather(rules, then, spot, dice, depth)?;
            }
        }
        Some(())
    }

    /// Takes one branch: the shortest where room is scarce, else any that is not plainly impossible.
    fn choose(
        &mut self,
        rules: &mut Rules<'s>,
        branches: &'s [Value],
        spot: Spot,
        dice: &mut Dice,
        depth: usize,
    ) -> Option<()> {
        self.spend(branches.len() / 16)?;
        let mut open: Vec<&'s Value> = branches
            .iter()
            .filter(|branch| rules.kinds.has(Kinds::allowed(branch)))
            .collect();
        if !self.is_roomy(spot) {
            self.spend(open.len())?;
            open.sort_by_cached_key(|branch| self.known.least(branch));
        } else if self.is_natural(spot) {
            open.sort_by_key(|branch| Kinds::allowed(branch) == Kinds::NULL);
        } else if !open.is_empty() {
            let start = dice.below(open.len());
            open.rotate_left(start);
        }
        for branch in open.into_iter().take(BRANCHES) {
            let mut tried = rules.clone();
            let gathered = self.gather(&mut tried, branch, spot, dice, depth);
            if gathered.is_some() && tried.kinds != Kinds::NONE {
                *rules = tried;
                return Some(());
            }
        }
        None
    }

    /// Decides which properties that bring a schema along are there.
    fn dependents(&mut self, rules: &mut Rules<'s>, spot: Spot, dice: &mut Dice) -> Option<()> {
        let dependents: Vec<(&str, &Value)> = rules
            .members("dependentSchemas")
            .chain(rules.members("dependencies"))
            .filter(|(_, schema)| !schema.is_array())
            .collect();
        if dependents.is_empty() {
            return Some(());
        }
        let required: HashSet<&str> = rules.listed("required").collect();
        for (name, schema) in dependents {
            if required.contains(name)
                || self.is_roomy(spot) && !self.is_natural(spot) && dice.one_in(2)
            {
                rules.needed.push(name);
                self.gather(rules, schema, spot, dice, IN_PLACE)?;
            } else {
                rules.avoided.push(name);
            }
        }
        Some(())
    }
}

/// The texts in some lists.
pub(super) fn texts<'s>(lists: impl Iterator<Item = &'s Value>) -> impl Iterator<Item = &'s str> {
    lists
        .filter_map(Value::as_array)
        .flatten()
        .filter_map(Value::as_str)
}

/// A limit on a length, which may be written `3.0`.
fn length(value: &Value) -> Option<usize> {
    match value.as_u64() {
        Some(length) => Some(usize::try_from(length).unwrap_or(usize::MAX)),
        // A cast from a float saturates.
        None => value.as_f64().map(|length| length as usize),
    }
}
