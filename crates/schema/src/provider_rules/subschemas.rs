//! Schema in, every schema inside it out: a flat list in which each place knows the one around it.

use std::iter;

use serde_json::{Map, Value};

/// All schemas inside the schema of a tool, the outer before the inner.
pub(super) struct SubschemaList<'a> {
    entries: Vec<Subschema<'a>>,
    root: &'a Value,
}

/// One schema, and how it is reached.
pub(super) struct Subschema<'a> {
    pub(super) schema: &'a Value,
    pub(super) segment: PathSegment<'a>,
    /// The index of the schema around it.
    parent_index: Option<usize>,
}

/// The way from the schema around.
#[derive(Clone, Copy)]
pub(super) enum PathSegment<'a> {
    Root,
    /// As in `/items`.
    Keyword(&'a str),
    /// As in `/properties/city`.
    Name(&'a str, &'a str),
    /// As in `/anyOf/0`.
    Index(&'a str, usize),
}

impl<'a> SubschemaList<'a> {
    /// Every schema that JSON Schema knows of.
    pub(super) fn all(root: &'a Value) -> Self {
        Self::collect(root, |_| true)
    }

    /// The schemas below keywords of the list: what stands below a refused keyword is not looked at.
    pub(super) fn under_keywords(root: &'a Value, keywords: &[&str]) -> Self {
        Self::collect(root, |keyword| keywords.contains(&keyword))
    }

    fn collect(root: &'a Value, enters: impl Fn(&str) -> bool) -> Self {
        let mut subschemas = vec![Subschema {
            schema: root,
            segment: PathSegment::Root,
            parent_index: None,
        }];
        let mut next = 0;
        while let Some(schema) = subschemas.get(next).map(|subschema| subschema.schema) {
            let members = schema.as_object().into_iter().flatten();
            for (keyword, value) in members.filter(|(keyword, _)| enters(keyword)) {
                let inner = direct_subschemas(keyword, value).into_iter();
                subschemas.extend(inner.map(|(step, schema)| Subschema {
                    schema,
                    segment: step,
                    parent_index: Some(next),
                }));
            }
            next += 1;
        }
        Self {
            entries: subschemas,
            root,
        }
    }

    pub(super) fn root(&self) -> &'a Value {
        self.root
    }

    pub(super) fn entries(&self) -> &[Subschema<'a>] {
        &self.entries
    }

    pub(super) fn parent(&self, subschema: &Subschema<'a>) -> Option<&Subschema<'a>> {
        self.entries.get(subschema.parent_index?)
    }

    /// The place itself, then the ones around it, outwards.
    pub(super) fn self_and_ancestors<'o>(
        &'o self,
        subschema: &'o Subschema<'a>,
    ) -> impl Iterator<Item = &'o Subschema<'a>> {
        iter::successors(Some(subschema), |subschema| self.parent(subschema))
    }

    /// The JSON pointer to a place.
    pub(super) fn pointer(&self, subschema: &Subschema<'a>) -> String {
        let steps: Vec<String> = self
            .self_and_ancestors(subschema)
            .map(|subschema| subschema.segment.to_string())
            .collect();
        steps.into_iter().rev().collect()
    }
}

impl<'a> Subschema<'a> {
    pub(super) fn is_root(&self) -> bool {
        matches!(self.segment, PathSegment::Root)
    }

    pub(super) fn get(&self, keyword: &str) -> Option<&'a Value> {
        self.schema.get(keyword)
    }

    /// The index of the schema around it, in [`SubschemaList::places`].
    pub(super) fn parent_index(&self) -> Option<usize> {
        self.parent_index
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

impl std::fmt::Display for PathSegment<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let escaped = |token: &str| token.replace('~', "~0").replace('/', "~1");
        match self {
            Self::Root => Ok(()),
            Self::Keyword(keyword) => write!(f, "/{keyword}"),
            Self::Name(keyword, name) => write!(f, "/{keyword}/{}", escaped(name)),
            Self::Index(keyword, number) => write!(f, "/{keyword}/{number}"),
        }
    }
}

/// The schemas that a keyword holds.
fn direct_subschemas<'a>(keyword: &'a str, value: &'a Value) -> Vec<(PathSegment<'a>, &'a Value)> {
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
                .map(|(number, schema)| (PathSegment::Index(keyword, number), schema))
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
                .map(|(name, schema)| (PathSegment::Name(keyword, name), schema))
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
        ) => vec![(PathSegment::Keyword(keyword), schema)],
        _ => Vec::new(),
    }
}
