//! Arrays of the right length, with the elements that must be in them.

use serde_json::Value;

use super::{
    dice::{Dice, Spot},
    draw::{Draw, MANY},
    rules::Rules,
};

/// How often an element that must be unlike the others is drawn anew.
const TRIES: usize = 24;

impl<'s> Draw<'_, 's> {
    pub(super) fn array(
        &mut self,
        rules: &Rules<'s>,
        spot: Spot,
        dice: &mut Dice,
    ) -> Option<Value> {
        let shape = Shape::of(rules);
        let count = self.count(&shape, spot, dice)?;
        self.spend(count)?;
        let first_contained = dice.below(count.saturating_sub(shape.contained) + 1);
        let mut elements: Vec<Value> = Vec::new();
        for at in 0..count {
            let mut schemas = element(rules, at);
            if (first_contained..first_contained + shape.contained).contains(&at) {
                schemas.extend(rules.each("contains"));
            }
            match self.element(&schemas, &elements, shape.unique, at, spot) {
                Some(element) => elements.push(element),
                None if at >= shape.least => break,
                None => return None,
            }
        }
        Some(Value::Array(elements))
    }

    fn count(&self, shape: &Shape, spot: Spot, dice: &mut Dice) -> Option<usize> {
        let Shape { least, most, .. } = *shape;
        if least > most.min(MANY) {
            return None;
        }
        if !self.is_roomy(spot) {
            return Some(least);
        }
        if self.is_natural(spot) {
            return Some(shape.prefix.max(1).clamp(least, most));
        }
        if self.is_odd(dice) {
            return Some(match dice.below(3) {
                0 => least,
                1 => most.min(least.saturating_add(8)),
                _ => most.min(least.saturating_add(1)),
            });
        }
        let usual = shape.prefix.max(least).saturating_add(dice.below(4));
        let short = shape.prefix > 0 && dice.one_in(4);
        let usual = if short {
            dice.below(shape.prefix)
        } else {
            usual
        };
        Some(usual.clamp(least, most))
    }

    fn element(
        &mut self,
        schemas: &[&'s Value],
        others: &[Value],
        unique: bool,
        at: usize,
        spot: Spot,
    ) -> Option<Value> {
        let step = at.to_string();
        for turn in 0..TRIES {
            let value = self.value(schemas, spot.child(&step, turn))?;
            if !unique || !others.contains(&value) {
                return Some(value);
            }
            self.spend(others.len() / 16)?;
        }
        None
    }
}

/// What the schemas say of the length.
pub(super) struct Shape {
    pub(super) least: usize,
    pub(super) most: usize,
    pub(super) unique: bool,
    /// How many elements have a schema of their own.
    prefix: usize,
    /// How many elements must be such as `contains` wants.
    contained: usize,
}

impl Shape {
    pub(super) fn of(rules: &Rules<'_>) -> Self {
        let contained = match rules.each("contains").next() {
            Some(_) => rules.most("minContains").unwrap_or(1),
            None => 0,
        };
        let mut most = rules.most("maxItems").unwrap_or(usize::MAX);
        let mut prefix = 0;
        for part in &rules.parts {
            let own = match (part.get("prefixItems"), part.get("items")) {
                (Some(Value::Array(own)), _) | (None, Some(Value::Array(own))) => own.as_slice(),
                _ => &[],
            };
            prefix = prefix.max(own.len());
            if let Some(refused) = own.iter().position(|own| own == &Value::Bool(false)) {
                most = most.min(refused);
            }
            let closed = ["items", "additionalItems", "unevaluatedItems"]
                .iter()
                .any(|keyword| part.get(*keyword) == Some(&Value::Bool(false)));
            if closed {
                most = most.min(own.len());
            }
        }
        Self {
            least: rules.least("minItems").max(contained),
            most,
            unique: rules.each("uniqueItems").any(|it| it == &Value::Bool(true)),
            prefix,
            contained,
        }
    }
}

/// The schemas for one element.
fn element<'s>(rules: &Rules<'s>, at: usize) -> Vec<&'s Value> {
    let mut schemas: Vec<&Value> = Vec::new();
    for part in &rules.parts {
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
