//! A flat list of all subschemas of a schema, each with the index of its parent.

use std::iter;

use serde_json::{Map, Value};

use crate::escape_pointer_token;

/// All subschemas of the schema of a tool, parents before children.
pub(super) struct SubschemaList<'a> {
    entries: Vec<Subschema<'a>>,
    root: &'a Value,
}

/// One subschema, and its path from its parent.
pub(super) struct Subschema<'a> {
    pub(super) schema: &'a Value,
    pub(super) segment: PathSegment<'a>,
    /// The index of the parent.
    parent_index: Option<usize>,
}

/// The path from the parent.
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
    /// Every subschema that JSON Schema defines.
    pub(super) fn all(root: &'a Value) -> Self {
        Self::collect(root, |_| true)
    }

    /// The subschemas below the listed keywords: those below a rejected keyword are not checked.
    pub(super) fn under_keywords(root: &'a Value, keywords: &[&str]) -> Self {
        Self::collect(root, |keyword| keywords.contains(&keyword))
    }

    fn collect(root: &'a Value, enters: impl Fn(&str) -> bool) -> Self {
        let mut subschemas =
            vec![Subschema { schema: root, segment: PathSegment::Root, parent_index: None }];
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
        Self { entries: subschemas, root }
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

    /// The subschema itself, then its ancestors, innermost first.
    pub(super) fn self_and_ancestors<'o>(
        &'o self,
        subschema: &'o Subschema<'a>,
    ) -> impl Iterator<Item = &'o Subschema<'a>> {
        iter::successors(Some(subschema), |subschema| self.parent(subschema))
    }

    /// The JSON pointer of a subschema.
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

    /// The index of the parent in [`SubschemaList::entries`].
    pub(super) fn parent_index(&self) -> Option<usize> {
        self.parent_index
    }

    pub(super) fn members(&self) -> impl Iterator<Item = (&'a String, &'a Value)> + use<'a> {
        self.schema.as_object().into_iter().flatten()
    }

    /// The properties, if they are an object.
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
        match self {
            Self::Root => Ok(()),
            Self::Keyword(keyword) => write!(f, "/{keyword}"),
            Self::Name(keyword, name) => write!(f, "/{keyword}/{}", escape_pointer_token(name)),
            Self::Index(keyword, number) => write!(f, "/{keyword}/{number}"),
        }
    }
}

/// The subschemas that a keyword holds.
fn direct_subschemas<'a>(keyword: &'a str, value: &'a Value) -> Vec<(PathSegment<'a>, &'a Value)> {
    match (keyword, value) {
        // A boolean here opens or closes an object: it is not a subschema.
        (
            "additionalProperties"
            | "additionalItems"
            | "unevaluatedItems"
            | "unevaluatedProperties",
            Value::Bool(_),
        ) => Vec::new(),
        ("anyOf" | "oneOf" | "allOf" | "prefixItems" | "items", Value::Array(list)) => {
            let numbered = list.iter().enumerate();
            numbered.map(|(number, schema)| (PathSegment::Index(keyword, number), schema)).collect()
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
            named.map(|(name, schema)| (PathSegment::Name(keyword, name), schema)).collect()
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
