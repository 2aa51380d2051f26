//! The schema that passes work on, and how they visit it.

use serde_json::{Map, Value};

use super::{
    KeywordLookup, KeywordLookupMut, KeywordSet, Loss, LowerError, PathSegment, SchemaPath,
    Severity, lift::remove_lift_marks, prescan::Prescan,
};
use crate::{Dialect, dialect::DialectRules};

/// The state of a lowering.
pub(crate) struct LoweringState {
    pub(crate) schema: Value,
    pub(crate) rules: &'static DialectRules,
    losses: Vec<Loss>,
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
    pub(crate) fn report_loss(
        &mut self,
        keyword: &str,
        severity: Severity,
        spilled: Option<String>,
    ) {
        let path = self.path.json_pointer();
        if severity != Severity::Note && path.split('/').any(inverts_validity) {
            // Inside a negation, wider becomes narrower and vice versa.
            let other = match severity {
                Severity::Wider => Severity::Narrower,
                _ => Severity::Wider,
            };
            self.push_loss(path.clone(), keyword, other, None);
        }
        self.push_loss(path, keyword, severity, spilled);
    }

    fn push_loss(
        &mut self,
        path: String,
        keyword: &str,
        severity: Severity,
        spilled: Option<String>,
    ) {
        let loss = Loss { path, keyword: keyword.to_owned(), severity, described_as: spilled };
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
        match is_definition || path.split('/').any(inverts_validity) {
            // There, an open object can make other values invalid.
            true => self.report_loss(keyword, Severity::Wider, None),
            false => self.push_loss(path, keyword, Severity::Note, None),
        }
    }

    /// Drops a keyword and describes it instead: the schema becomes wider.
    pub(crate) fn move_to_description(
        &mut self,
        schema: &mut Map<String, Value>,
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

    /// Reports a loss at another path.
    pub(crate) fn report_loss_at(
        &mut self,
        pointer: &str,
        keyword: &str,
        severity: Severity,
        spilled: Option<String>,
    ) {
        let (_, mut cursor) = self.root();
        cursor.path = SchemaPath::Pointer(pointer);
        cursor.report_loss(keyword, severity, spilled);
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

    pub(crate) fn finish(self) -> (Value, Vec<Loss>, Option<String>) {
        (self.schema, self.losses, self.description_suffix)
    }

    /// Visits every schema, each before its subschemas; subschemas that a visit adds are visited too.
    pub(crate) fn visit_top_down(
        &mut self,
        mut visit: impl FnMut(&mut Value, &mut SchemaCursor<'_>),
    ) {
        let (schema, mut cursor) = self.root();
        visit_top_down(schema, &mut cursor, &mut visit);
    }

    /// Visits every schema, each after its subschemas.
    pub(crate) fn visit_bottom_up(
        &mut self,
        mut visit: impl FnMut(&mut Value, &mut SchemaCursor<'_>),
    ) {
        let (schema, mut cursor) = self.root();
        visit_bottom_up(schema, &mut cursor, &mut visit);
    }
}

fn visit_top_down(
    schema: &mut Value,
    cursor: &mut SchemaCursor<'_>,
    visit: &mut impl FnMut(&mut Value, &mut SchemaCursor<'_>),
) {
    visit(schema, cursor);
    for_each_subschema(schema, cursor, &mut |subschema, cursor| {
        visit_top_down(subschema, cursor, visit)
    });
}

pub(crate) fn visit_bottom_up(
    schema: &mut Value,
    cursor: &mut SchemaCursor<'_>,
    visit: &mut impl FnMut(&mut Value, &mut SchemaCursor<'_>),
) {
    for_each_subschema(schema, cursor, &mut |subschema, cursor| {
        visit_bottom_up(subschema, cursor, visit)
    });
    visit(schema, cursor);
}

/// Visits the direct subschemas.
pub(crate) fn for_each_subschema(
    schema: &mut Value,
    cursor: &mut SchemaCursor<'_>,
    visit: &mut impl FnMut(&mut Value, &mut SchemaCursor<'_>),
) {
    let Value::Object(members) = schema else {
        return;
    };
    for (keyword, value) in members {
        // Most keywords hold a string or number, and no schema.
        if !matches!(value, Value::Object(_) | Value::Array(_) | Value::Bool(_)) {
            continue;
        }
        match (subschema_shape(keyword), value) {
            (
                SubschemaShape::Single | SubschemaShape::SingleOrList,
                value @ (Value::Object(_) | Value::Bool(_)),
            ) => {
                visit(value, &mut cursor.child(keyword, PathSegment::Single));
            }
            (SubschemaShape::List | SubschemaShape::SingleOrList, Value::Array(subschemas)) => {
                for (at, subschema) in subschemas.iter_mut().enumerate() {
                    visit(subschema, &mut cursor.child(keyword, PathSegment::Index(at)));
                }
            }
            (SubschemaShape::Map, Value::Object(subschemas)) => {
                for (name, subschema) in subschemas {
                    visit(subschema, &mut cursor.child(keyword, PathSegment::Name(name)));
                }
            }
            _ => {}
        }
    }
}

/// The subschemas that a keyword holds, without boolean ones.
pub(crate) fn subschemas_of<'s>(
    keyword: &str,
    value: &'s Value,
) -> impl Iterator<Item = &'s Value> {
    use SubschemaShape::{List, Map, Single, SingleOrList};
    let (single, list, map) = match (subschema_shape(keyword), value) {
        (Single | SingleOrList, Value::Object(_)) => (Some(value), None, None),
        (List | SingleOrList, Value::Array(list)) => (None, Some(list), None),
        (Map, Value::Object(map)) => (None, None, Some(map)),
        _ => (None, None, None),
    };
    let map = map.into_iter().flat_map(|map| map.values());
    single.into_iter().chain(list.into_iter().flatten()).chain(map)
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
pub(crate) fn append_to_description(schema: &mut Map<String, Value>, addition: &str) {
    let text = match schema.keyword("description").and_then(Value::as_str) {
        Some(description) if description.contains(addition) => return,
        Some(description) if !description.trim().is_empty() => {
            format!("{} ({addition})", description.trim_end())
        }
        _ => {
            let mut letters = addition.chars();
            let first = letters.next().into_iter().flat_map(char::to_uppercase);
            first.chain(letters).collect()
        }
    };
    schema.set_keyword("description", Value::String(text));
}
