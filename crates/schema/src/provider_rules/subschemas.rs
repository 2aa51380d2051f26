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
    /// The index of the parent in [`SubschemaList::entries`].
    pub(super) parent_index: Option<usize>,
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
    /// The subschemas below the listed keywords, or below all: those below a rejected keyword are not checked.
    pub(super) fn new(root: &'a Value, keywords: Option<&[&str]>) -> Self {
        let enters = |keyword: &str| keywords.is_none_or(|known| known.contains(&keyword));
        let mut subschemas =
            vec![Subschema { schema: root, segment: PathSegment::Root, parent_index: None }];
        let mut next = 0;
        while let Some(schema) = subschemas.get(next).map(|subschema| subschema.schema) {
            let members = schema.as_object().into_iter().flatten();
            for (keyword, value) in members.filter(|(keyword, _)| enters(keyword)) {
                let parent_index = Some(next);
                let inner = direct_subschemas(keyword, value).into_iter();
                subschemas.extend(inner.map(|(segment, schema)| Subschema {
                    schema,
                    segment,
                    parent_index,
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

    pub(super) fn parent(&self, subschema: &Subschema<'_>) -> Option<&Subschema<'a>> {
        self.entries.get(subschema.parent_index?)
    }

    /// The subschema itself, then its ancestors, innermost first.
    pub(super) fn self_and_ancestors<'o>(
        &'o self,
        subschema: &'o Subschema<'o>,
    ) -> impl Iterator<Item = &'o Subschema<'o>> {
        iter::successors(Some(subschema), |subschema| self.parent(subschema))
    }

    /// The JSON pointer of a subschema.
    pub(super) fn pointer(&self, subschema: &Subschema<'_>) -> String {
        let parent = self.parent(subschema).map(|parent| self.pointer(parent));
        parent.unwrap_or_default() + &subschema.segment.to_string()
    }
}

impl<'a> Subschema<'a> {
    pub(super) fn is_root(&self) -> bool {
        matches!(self.segment, PathSegment::Root)
    }

    pub(super) fn get(&self, keyword: &str) -> Option<&'a Value> {
        self.schema.get(keyword)
    }

    pub(super) fn members(&self) -> impl Iterator<Item = (&'a String, &'a Value)> + use<'a> {
        self.schema.as_object().into_iter().flatten()
    }

    /// The properties, if they are an object.
    pub(super) fn properties(&self) -> Option<&'a Map<String, Value>> {
        self.get("properties")?.as_object()
    }

    pub(super) fn property_names(&self) -> impl Iterator<Item = &'a String> + use<'a> {
        self.properties().into_iter().flat_map(Map::keys)
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
    /// A boolean there opens or closes an object or array: it is not a subschema.
    const CLOSING_KEYWORDS: [&str; 4] =
        ["additionalProperties", "additionalItems", "unevaluatedItems", "unevaluatedProperties"];
    const SINGLE_SCHEMA_KEYWORDS: [&str; 8] =
        ["items", "contains", "propertyNames", "contentSchema", "not", "if", "then", "else"];
    match (keyword, value) {
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
        (_, schema)
            if SINGLE_SCHEMA_KEYWORDS.contains(&keyword)
                || CLOSING_KEYWORDS.contains(&keyword) && !schema.is_boolean() =>
        {
            vec![(PathSegment::Keyword(keyword), schema)]
        }
        _ => Vec::new(),
    }
}
