//! Schema in, every schema inside it out: a flat list in which each place knows the one around it.

use std::iter;

use serde_json::{Map, Value};

/// All schemas inside the schema of a tool, the outer before the inner.
pub(super) struct Outline<'a> {
    places: Vec<Place<'a>>,
    root: &'a Value,
}

/// One schema, and how it is reached.
pub(super) struct Place<'a> {
    pub(super) schema: &'a Value,
    pub(super) step: Step<'a>,
    /// The index of the schema around it.
    around: Option<usize>,
}

/// The way from the schema around.
#[derive(Clone, Copy)]
pub(super) enum Step<'a> {
    Root,
    /// As in `/items`.
    Keyword(&'a str),
    /// As in `/properties/city`.
    Named(&'a str, &'a str),
    /// As in `/anyOf/0`.
    Numbered(&'a str, usize),
}

impl<'a> Outline<'a> {
    /// Every schema that JSON Schema knows of.
    pub(super) fn of(root: &'a Value) -> Self {
        Self::by(root, |_| true)
    }

    /// The schemas below keywords of the list: what stands below a refused keyword is not looked at.
    pub(super) fn within(root: &'a Value, keywords: &[&str]) -> Self {
        Self::by(root, |keyword| keywords.contains(&keyword))
    }

    fn by(root: &'a Value, enters: impl Fn(&str) -> bool) -> Self {
        let mut places = vec![Place {
            schema: root,
            step: Step::Root,
            around: None,
        }];
        let mut next = 0;
        while let Some(schema) = places.get(next).map(|place| place.schema) {
            let members = schema.as_object().into_iter().flatten();
            for (keyword, value) in members.filter(|(keyword, _)| enters(keyword)) {
                let inner = schemas(keyword, value).into_iter();
                places.extend(inner.map(|(step, schema)| Place {
                    schema,
                    step,
                    around: Some(next),
                }));
            }
            next += 1;
        }
        Self { places, root }
    }

    pub(super) fn root(&self) -> &'a Value {
        self.root
    }

    pub(super) fn places(&self) -> &[Place<'a>] {
        &self.places
    }

    pub(super) fn around(&self, place: &Place<'a>) -> Option<&Place<'a>> {
        self.places.get(place.around?)
    }

    /// The place itself, then the ones around it, outwards.
    pub(super) fn outwards<'o>(
        &'o self,
        place: &'o Place<'a>,
    ) -> impl Iterator<Item = &'o Place<'a>> {
        iter::successors(Some(place), |place| self.around(place))
    }

    /// The JSON pointer to a place.
    pub(super) fn path(&self, place: &Place<'a>) -> String {
        let steps: Vec<String> = self
            .outwards(place)
            .map(|place| place.step.to_string())
            .collect();
        steps.into_iter().rev().collect()
    }
}

impl<'a> Place<'a> {
    pub(super) fn is_root(&self) -> bool {
        matches!(self.step, Step::Root)
    }

    pub(super) fn get(&self, keyword: &str) -> Option<&'a Value> {
        self.schema.get(keyword)
    }

    /// The index of the schema around it, in [`Outline::places`].
    pub(super) fn around(&self) -> Option<usize> {
        self.around
    }

    pub(super) fn members(&self) -> impl Iterator<Item = (&'a String, &'a Value)> + use<'a> {
        self.schema.as_object().into_iter().flatten()
    }

    /// The properties, where they are an object.
    pub(super) fn properties(&self) -> Option<&'a Map<String, Value>> {
        self.get("properties")?.as_object()
    }

    /// The names in `required`.
    pub(super) fn required(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let names = self.get("required").and_then(Value::as_array);
        names.into_iter().flatten().filter_map(Value::as_str)
    }
}

impl std::fmt::Display for Step<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let escaped = |token: &str| token.replace('~', "~0").replace('/', "~1");
        match self {
            Self::Root => Ok(()),
            Self::Keyword(keyword) => write!(f, "/{keyword}"),
            Self::Named(keyword, name) => write!(f, "/{keyword}/{}", escaped(name)),
            Self::Numbered(keyword, number) => write!(f, "/{keyword}/{number}"),
        }
    }
}

/// The schemas that a keyword holds.
fn schemas<'a>(keyword: &'a str, value: &'a Value) -> Vec<(Step<'a>, &'a Value)> {
    match (keyword, value) {
        // A boolean here opens or closes an object: it is part of the schema around, not one of its own.
        (
            "additionalProperties"
            | "additionalItems"
            | "unevaluatedItems"
            | "unevaluatedProperties",
            Value::Bool(_),
        ) => Vec::new(),
        ("anyOf" | "oneOf" | "allOf" | "prefixItems" | "items", Value::Array(list)) => {
            let numbered = list.iter().enumerate();
            numbered
                .map(|(number, schema)| (Step::Numbered(keyword, number), schema))
                .collect()
        }
        (
            "properties" | "patternProperties" | "$defs" | "definitions" | "dependentSchemas"
            | "dependencies",
            Value::Object(members),
        ) => {
            // A dependency may also be a list of names.
            let named = members
                .iter()
                .filter(|(_, schema)| keyword != "dependencies" || !schema.is_array());
            named
                .map(|(name, schema)| (Step::Named(keyword, name), schema))
                .collect()
        }
        (
            "items"
            | "additionalProperties"
            | "additionalItems"
            | "unevaluatedItems"
            | "unevaluatedProperties"
            | "contains"
            | "propertyNames"
            | "contentSchema"
            | "not"
            | "if"
            | "then"
            | "else",
            schema,
        ) => vec![(Step::Keyword(keyword), schema)],
        _ => Vec::new(),
    }
}
