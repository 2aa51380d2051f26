//! Violations about properties that are missing, unknown or misnamed.

use jsonschema::ValidationError;
use serde_json::Value;

use super::{Violation, ViolationCollector, describe, single_value_message};
use crate::{nearest, text::redact::looks_secret_value};

/// How many subschemas are visited for a hint: schemas may come from untrusted servers.
const MAX_VISITED_SUBSCHEMAS: usize = 64;

impl<'s> ViolationCollector<'s> {
    pub(super) fn add_missing(&mut self, error: &ValidationError<'_>, property: &str) {
        let wanted =
            self.parent_schema(error).and_then(|parent| parent.get("properties")?.get(property));
        let expected = wanted
            .and_then(|wanted| {
                describe::describe_expected(self.schema, wanted, &mut { MAX_VISITED_SUBSCHEMAS })
            })
            .map(|it| format!("; expected {it}"));
        let about = wanted
            .and_then(|wanted| wanted.get("description")?.as_str()?.lines().next())
            .map(|line| format!(" ({line})"));
        let message =
            format!("missing{}{}", expected.unwrap_or_default(), about.unwrap_or_default());
        let pointer = describe::child_pointer(error.instance_path().as_str(), property);
        self.push(pointer, error.kind(), message);
    }

    pub(super) fn add_unknown(
        &mut self,
        error: &ValidationError<'_>,
        unexpected: &[String],
        unevaluated: bool,
    ) {
        let mut declared = Vec::new();
        if let Some(parent) = self.parent_schema(error) {
            let mut visits = MAX_VISITED_SUBSCHEMAS;
            collect_property_names(self.schema, parent, &mut visits, &mut declared);
        }
        let sent = error.instance().as_object();
        for name in unexpected {
            if self.is_full() {
                self.unexamined_count += 1;
                continue;
            }
            let pointer = describe::child_pointer(error.instance_path().as_str(), name);
            let is_sent = |name: &&str| sent.is_some_and(|sent| sent.contains_key(*name));
            let free = declared.iter().copied().filter(|name| !is_sent(name));
            let hint = match nearest(name, free, 1).first() {
                Some(suggestion) if !looks_secret_value(name) => {
                    format!("; did you mean `{suggestion}`?")
                }
                _ => String::new(),
            };
            let violation = Violation {
                pointer,
                keyword: error.kind().keyword().to_owned(),
                message: format!("unknown argument{hint}"),
            };
            if unevaluated && declared.contains(&name.as_str()) {
                self.uncertain.push(violation)
            } else {
                self.violations.push(violation)
            }
        }
    }

    pub(super) fn add_invalid_name(
        &mut self,
        error: &ValidationError<'_>,
        inner: &ValidationError<'_>,
    ) {
        let name = inner.instance().as_str().unwrap_or_default();
        let pointer = describe::child_pointer(error.instance_path().as_str(), name);
        let message = format!("not an allowed name: {}", single_value_message(inner));
        self.push(pointer, error.kind(), message);
    }

    /// The schema that contains the violated keyword; only used for hints, so an unresolvable path is ignored.
    fn parent_schema(&self, error: &ValidationError<'_>) -> Option<&'s Value> {
        let (parent, _) = error.schema_path().as_str().rsplit_once('/')?;
        self.schema.pointer(parent)
    }
}

/// Collects every property that a schema or one of its branches declares.
fn collect_property_names<'s>(
    root: &'s Value,
    schema: &'s Value,
    visits: &mut usize,
    declared: &mut Vec<&'s str>,
) {
    let (Some(object), Some(left)) = (schema.as_object(), visits.checked_sub(1)) else {
        return;
    };
    *visits = left;
    for (keyword, value) in object {
        match keyword.as_str() {
            "properties" => declared
                .extend(value.as_object().into_iter().flatten().map(|(name, _)| name.as_str())),
            "allOf" | "anyOf" | "oneOf" => {
                for branch in value.as_array().into_iter().flatten() {
                    collect_property_names(root, branch, visits, declared);
                }
            }
            "then" | "else" => collect_property_names(root, value, visits, declared),
            "$ref" => {
                let target = describe::resolve_local_ref(root, value).unwrap_or(&Value::Null);
                collect_property_names(root, target, visits, declared);
            }
            _ => {}
        }
    }
}
