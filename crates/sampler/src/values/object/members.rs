//! The schemas that apply to one member of an object.

use serde_json::Value;

use crate::{
    constraints::{ValueConstraints, list_strings},
    generator::Generator,
};

/// The work of matching one pattern.
const PATTERN_MATCH_WORK: usize = 4;

impl<'s> Generator<'_, 's> {
    /// The schemas that apply to the member of this name.
    pub(super) fn property_schemas(
        &mut self,
        constraints: &ValueConstraints<'s>,
        name: &str,
    ) -> Option<Vec<&'s Value>> {
        let mut schemas: Vec<&'s Value> = Vec::new();
        let mut add = |schema: &'s Value| {
            if !schemas.iter().any(|other| std::ptr::eq(*other, schema)) {
                schemas.push(schema);
            }
        };
        let mut evaluated = false;
        for part in &constraints.schemas {
            let mut named = false;
            if let Some(schema) = part.get("properties").and_then(|all| all.get(name)) {
                add(schema);
                named = true;
            }
            if let Some(Value::Object(patterns)) = part.get("patternProperties") {
                self.use_work(PATTERN_MATCH_WORK * patterns.len())?;
                for (pattern, schema) in patterns {
                    if self.cache.matches(pattern, name) {
                        add(schema);
                        named = true;
                    }
                }
            }
            if let (false, Some(schema)) = (named, part.get("additionalProperties")) {
                add(schema);
                named = true;
            }
            evaluated |= named;
        }
        if !evaluated {
            constraints.keyword_values("unevaluatedProperties").for_each(add);
        }
        Some(schemas)
    }
}

/// The names that must be present if `name` is.
pub(super) fn dependent_names<'s>(
    constraints: &ValueConstraints<'s>,
    name: &str,
) -> impl Iterator<Item = &'s str> {
    let lists = constraints
        .keyword_values("dependentRequired")
        .chain(constraints.keyword_values("dependencies"))
        .filter_map(move |names| names.get(name));
    list_strings(lists)
}

/// Returns true if no additional property is allowed.
pub(super) fn is_closed(constraints: &ValueConstraints<'_>) -> bool {
    let refuses =
        |keyword| constraints.keyword_values(keyword).any(|rest| rest == &Value::Bool(false));
    let has_patterns = constraints.keyword_values("patternProperties").next().is_some();
    !has_patterns && (refuses("additionalProperties") || refuses("unevaluatedProperties"))
}
