//! The schema that passes work on, and how they visit it.

use std::slice;

use serde_json::Value;

use super::{
    JsonObject, KeywordLookup, KeywordSet, Loss, LowerError, PathSegment, SchemaPath, Severity,
    lift::remove_lift_marks, prescan::Prescan,
};
use crate::{Dialect, dialect::DialectRules};

use SubschemaShape::{List, Map, Single, SingleOrList};

/// The state of a lowering.
pub(crate) struct LoweringState {
    pub(crate) schema: Value,
    pub(crate) rules: &'static DialectRules,
    pub(crate) losses: Vec<Loss>,
    /// The root's annotations, where the dialect does not allow them there.
    pub(crate) description_suffix: Option<String>,
    /// The keywords in the schema; `None` after a pass changed them.
    keywords: Option<KeywordSet>,
}

/// The current position of a pass, and where it reports losses.
pub(crate) struct SchemaCursor<'p> {
    /// The path of the schema being visited.
    pub(crate) path: SchemaPath<'p>,
    pub(crate) rules: &'static DialectRules,
    losses: &'p mut Vec<Loss>,
}

impl SchemaCursor<'_> {
    /// Reports a loss at this schema.
    pub(crate) fn report_loss(&mut self, keyword: &str, severity: Severity, text: Option<String>) {
        let path = self.path.json_pointer();
        if severity != Severity::Note && self.path.any_token(inverts_validity) {
            // Inside a negation, wider becomes narrower and vice versa.
            let other = match severity {
                Severity::Wider => Severity::Narrower,
                _ => Severity::Wider,
            };
            self.push_loss(path.clone(), keyword, other, None);
        }
        self.push_loss(path, keyword, severity, text);
    }

    fn push_loss(&mut self, path: String, keyword: &str, severity: Severity, text: Option<String>) {
        let loss = Loss { path, keyword: keyword.to_owned(), severity, described_as: text };
        // A schema that was copied into several branches is reported once.
        if !self.losses.contains(&loss) {
            self.losses.push(loss);
        }
    }

    /// Reports a closed object that becomes an open one.
    pub(crate) fn report_opened_object(&mut self, keyword: &str) {
        let path = self.path.json_pointer();
        // The effect of a definition depends on where it is used.
        let is_definition = path.starts_with("/$defs/");
        match is_definition || self.path.any_token(inverts_validity) {
            // There, an open object can make other values invalid.
            true => self.report_loss(keyword, Severity::Wider, None),
            false => self.push_loss(path, keyword, Severity::Note, None),
        }
    }

    /// Drops a keyword and describes it instead: the schema becomes wider.
    pub(crate) fn move_to_description(
        &mut self,
        schema: &mut JsonObject,
        keyword: &str,
        addition: String,
    ) {
        append_to_description(schema, &addition);
        self.report_loss(keyword, Severity::Wider, Some(addition));
    }

    /// The cursor of a subschema.
    pub(crate) fn child<'s>(
        &'s mut self,
        keyword: &'s str,
        subschema: PathSegment<'s>,
    ) -> SchemaCursor<'s> {
        SchemaCursor {
            path: self.path.child(keyword, subschema),
            rules: self.rules,
            losses: self.losses,
        }
    }
}

impl LoweringState {
    pub(crate) fn new(canonical: &Value, dialect: Dialect) -> Result<Self, LowerError> {
        let scan = Prescan::scan(canonical)?;
        let mut state = Self {
            schema: canonical.clone(),
            rules: dialect.rules(),
            losses: Vec::new(),
            description_suffix: None,
            keywords: Some(scan.keywords),
        };
        if scan.has_lift_marks {
            remove_lift_marks(&mut state.schema);
        }
        Ok(state)
    }

    /// The whole schema, and a cursor at its root.
    pub(crate) fn root(&mut self) -> (&mut Value, SchemaCursor<'_>) {
        let cursor =
            SchemaCursor { path: SchemaPath::ROOT, rules: self.rules, losses: &mut self.losses };
        (&mut self.schema, cursor)
    }

    /// Rejects a schema that has grown too large.
    pub(crate) fn check_size(&mut self) -> Result<(), LowerError> {
        self.keywords = Some(Prescan::scan(&self.schema)?.keywords);
        Ok(())
    }

    /// Returns true if any of these keywords occurs; otherwise a pass about them can be skipped.
    pub(crate) fn contains_any_keyword(&mut self, keywords: &[&str]) -> bool {
        self.contains_any(KeywordSet::from_keywords(keywords))
    }

    /// Returns true if any of these occurs.
    pub(crate) fn contains_any(&mut self, any: KeywordSet) -> bool {
        let scan = || Prescan::scan(&self.schema).map_or(KeywordSet::ALL, |scan| scan.keywords);
        self.keywords.get_or_insert_with(scan).intersects(any)
    }

    /// Adds keywords that a pass may have written.
    pub(crate) fn note_added_keywords(&mut self, some: KeywordSet) {
        if let Some(seen) = &mut self.keywords {
            *seen = seen.union(some);
        }
    }

    /// Discards the keyword set, so that the next pass scans the schema again.
    pub(crate) fn invalidate_keywords(&mut self) {
        self.keywords = None;
    }

    /// Returns true if the keyword set contains all that occur.
    pub(crate) fn keywords_are_complete(&self) -> bool {
        let (Some(seen), Ok(scan)) = (self.keywords, Prescan::scan(&self.schema)) else {
            return true;
        };
        seen.contains_all(scan.keywords)
    }

    /// Visits every object schema, each before its subschemas; subschemas that a visit adds are visited too.
    pub(crate) fn visit_top_down(
        &mut self,
        mut visit: impl FnMut(&mut JsonObject, &mut SchemaCursor<'_>),
    ) {
        if let (Value::Object(schema), mut cursor) = self.root() {
            visit_top_down(schema, &mut cursor, &mut visit);
        }
    }

    /// Visits every object schema, each after its subschemas.
    pub(crate) fn visit_bottom_up(
        &mut self,
        mut visit: impl FnMut(&mut JsonObject, &mut SchemaCursor<'_>),
    ) {
        if let (Value::Object(schema), mut cursor) = self.root() {
            visit_bottom_up(schema, &mut cursor, &mut visit);
        }
    }
}

fn visit_top_down(
    schema: &mut JsonObject,
    cursor: &mut SchemaCursor<'_>,
    visit: &mut impl FnMut(&mut JsonObject, &mut SchemaCursor<'_>),
) {
    visit(schema, cursor);
    for_each_subschema(schema, cursor, &mut |subschema, cursor| {
        visit_top_down(subschema, cursor, visit)
    });
}

pub(crate) fn visit_bottom_up(
    schema: &mut JsonObject,
    cursor: &mut SchemaCursor<'_>,
    visit: &mut impl FnMut(&mut JsonObject, &mut SchemaCursor<'_>),
) {
    for_each_subschema(schema, cursor, &mut |subschema, cursor| {
        visit_bottom_up(subschema, cursor, visit)
    });
    visit(schema, cursor);
}

/// Visits the direct subschemas that are objects.
pub(crate) fn for_each_subschema(
    schema: &mut JsonObject,
    cursor: &mut SchemaCursor<'_>,
    visit: &mut impl FnMut(&mut JsonObject, &mut SchemaCursor<'_>),
) {
    for (keyword, value) in schema {
        // Most keywords hold a string or number, and no schema.
        if !value.is_object() && !value.is_array() {
            continue;
        }
        let mut visit_at = |segment, subschema: &mut Value| {
            if let Value::Object(subschema) = subschema {
                visit(subschema, &mut cursor.child(keyword, segment));
            }
        };
        match (subschema_shape(keyword), value) {
            (List | SingleOrList, Value::Array(subschemas)) => {
                for (at, subschema) in subschemas.iter_mut().enumerate() {
                    visit_at(PathSegment::Index(at), subschema);
                }
            }
            (Map, Value::Object(subschemas)) => {
                for (name, subschema) in subschemas {
                    visit_at(PathSegment::Name(name), subschema);
                }
            }
            (Single | SingleOrList, value) => visit_at(PathSegment::Single, value),
            _ => {}
        }
    }
}

/// The subschemas that a keyword holds, without boolean ones.
pub(crate) fn subschemas_of<'s>(
    keyword: &str,
    value: &'s Value,
) -> impl Iterator<Item = &'s Value> {
    let shape = match value {
        Value::Object(_) | Value::Array(_) => subschema_shape(keyword),
        // Most keywords hold a string or number, and no schema.
        _ => SubschemaShape::NotASchema,
    };
    let (list, map) = match (shape, value) {
        (Single | SingleOrList, Value::Object(_)) => (slice::from_ref(value), None),
        (List | SingleOrList, Value::Array(list)) => (list.as_slice(), None),
        (Map, Value::Object(map)) => (Default::default(), Some(map.values())),
        _ => (Default::default(), None),
    };
    list.iter().chain(map.into_iter().flatten())
}

/// The same, mutable.
pub(crate) fn subschemas_of_mut<'s>(
    keyword: &str,
    value: &'s mut Value,
) -> Box<dyn Iterator<Item = &'s mut Value> + 's> {
    match (subschema_shape(keyword), value) {
        (List | SingleOrList, Value::Array(list)) => Box::new(list.iter_mut()),
        (Map, Value::Object(map)) => Box::new(map.values_mut()),
        (Single | SingleOrList, value) => Box::new(std::iter::once(value)),
        _ => Box::new(std::iter::empty()),
    }
}

/// Returns true if the test holds for any object in a value, however deep.
pub(crate) fn any_object(value: &Value, test: &mut impl FnMut(&JsonObject) -> bool) -> bool {
    match value {
        Value::Array(elements) => elements.iter().any(|element| any_object(element, test)),
        Value::Object(members) => {
            test(members) || members.values().any(|member| any_object(member, test))
        }
        _ => false,
    }
}

/// Visits all objects in a value, inner ones first.
pub(crate) fn for_each_object_mut(value: &mut Value, visit: &mut impl FnMut(&mut JsonObject)) {
    match value {
        Value::Array(elements) => {
            elements.iter_mut().for_each(|element| for_each_object_mut(element, visit));
        }
        Value::Object(members) => {
            members.values_mut().for_each(|member| for_each_object_mut(member, visit));
            visit(members);
        }
        _ => {}
    }
}

/// How a keyword holds subschemas.
#[derive(PartialEq)]
pub(crate) enum SubschemaShape {
    Single,
    /// `items`, which was a list in older drafts.
    SingleOrList,
    List,
    Map,
    NotASchema,
}

pub(crate) fn subschema_shape(keyword: &str) -> SubschemaShape {
    match keyword {
        // The most frequent keyword.
        "properties" => SubschemaShape::Map,
        "enum" | "required" => SubschemaShape::NotASchema,
        "items" => SubschemaShape::SingleOrList,
        "additionalItems"
        | "additionalProperties"
        | "contains"
        | "contentSchema"
        | "else"
        | "if"
        | "not"
        | "propertyNames"
        | "then"
        | "unevaluatedItems"
        | "unevaluatedProperties" => SubschemaShape::Single,
        "allOf" | "anyOf" | "oneOf" | "prefixItems" => SubschemaShape::List,
        "$defs" | "definitions" | "dependentSchemas" | "patternProperties" => SubschemaShape::Map,
        _ => SubschemaShape::NotASchema,
    }
}

/// Returns true if a keyword may invert the effect of its subschemas.
fn inverts_validity(keyword: &str) -> bool {
    matches!(keyword, "not" | "if" | "oneOf" | "contains")
}

/// Appends text to a schema's description.
pub(crate) fn append_to_description(schema: &mut JsonObject, addition: &str) {
    if let Some(Value::String(description)) = schema.keyword_mut("description") {
        if description.contains(addition) {
            return;
        }
        if !description.trim().is_empty() {
            description.truncate(description.trim_end().len());
            let brackets = [" (", addition, ")"];
            description.reserve_exact(brackets.iter().map(|text| text.len()).sum());
            brackets.iter().for_each(|text| description.push_str(text));
            return;
        }
    }
    let mut letters = addition.chars();
    let mut text = String::with_capacity(addition.len());
    text.extend(letters.next().into_iter().flat_map(char::to_uppercase));
    text.push_str(letters.as_str());
    schema.set_keyword("description", Value::String(text));
}
