//! What schemas say of one member of an object.

use serde_json::Value;

use crate::sample::{
    draw::Draw,
    rules::{Rules, texts},
};

/// The work of matching one pattern.
const MATCH: usize = 4;

impl<'s> Draw<'_, 's> {
    /// The schemas that judge the member of this name.
    pub(super) fn schemas_of(&mut self, rules: &Rules<'s>, name: &str) -> Option<Vec<&'s Value>> {
        let mut schemas: Vec<&'s Value> = Vec::new();
        let mut add = |schema: &'s Value| {
            if !schemas.iter().any(|other| std::ptr::eq(*other, schema)) {
                schemas.push(schema);
            }
        };
        let mut evaluated = false;
        for part in &rules.parts {
            let mut named = false;
            if let Some(schema) = part.get("properties").and_then(|all| all.get(name)) {
                add(schema);
                named = true;
            }
            if let Some(Value::Object(patterns)) = part.get("patternProperties") {
                self.spend(MATCH * patterns.len())?;
                for (pattern, schema) in patterns {
                    if self.known.matches(pattern, name) {
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
            rules.each("unevaluatedProperties").for_each(add);
        }
        Some(schemas)
    }
}

/// The names that must be there when `name` is.
pub(super) fn dependents<'s>(rules: &Rules<'s>, name: &str) -> impl Iterator<Item = &'s str> {
    let lists = rules
        .each("dependentRequired")
        .chain(rules.each("dependencies"))
        .filter_map(move |names| names.get(name));
    texts(lists)
}

/// Whether no property can be made up.
pub(super) fn is_closed(rules: &Rules<'_>) -> bool {
    let refuses = |keyword| rules.each(keyword).any(|rest| rest == &Value::Bool(false));
    let has_patterns = rules.each("patternProperties").next().is_some();
    !has_patterns && (refuses("additionalProperties") || refuses("unevaluatedProperties"))
}
