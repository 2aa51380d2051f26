//! Properties that are missing, unknown or misnamed.

use jsonschema::ValidationError;
use serde_json::Value;

use super::{Teller, Violation, plain, words};
use crate::{nearest, redact::looks_secret_value};

/// How many subschemas are visited for a hint; schemas may come from strangers.
const VISITED: usize = 64;

impl<'s> Teller<'s> {
    pub(super) fn missing(&mut self, error: &ValidationError<'_>, property: &str) {
        let wanted = self
            .parent(error)
            .and_then(|parent| parent.get("properties")?.get(property));
        let expected = wanted
            .and_then(|wanted| words::expectation(self.schema, wanted, &mut { VISITED }))
            .map(|it| format!("; expected {it}"));
        let about = wanted
            .and_then(|wanted| wanted.get("description")?.as_str()?.lines().next())
            .map(|line| format!(" ({line})"));
        let message = format!(
            "missing{}{}",
            expected.unwrap_or_default(),
            about.unwrap_or_default()
        );
        self.push(
            words::below(error.instance_path().as_str(), property),
            error.kind(),
            message,
        );
    }

    pub(super) fn unknown(
        &mut self,
        error: &ValidationError<'_>,
        unexpected: &[String],
        unevaluated: bool,
    ) {
        let mut known = Vec::new();
        if let Some(parent) = self.parent(error) {
            names(self.schema, parent, &mut { VISITED }, &mut known);
        }
        let sent = error.instance().as_object();
        for name in unexpected {
            if self.full() {
                self.unseen += 1;
                continue;
            }
            let pointer = words::below(error.instance_path().as_str(), name);
            let free = known
                .iter()
                .copied()
                .filter(|name| !sent.is_some_and(|sent| sent.contains_key(*name)));
            let hint = match nearest(name, free, 1).first() {
                Some(meant) if !looks_secret_value(name) => format!("; did you mean `{meant}`?"),
                _ => String::new(),
            };
            let violation = Violation {
                pointer,
                keyword: error.kind().keyword().to_owned(),
                message: format!("unknown argument{hint}"),
            };
            if unevaluated && known.contains(&name.as_str()) {
                self.doubtful.push(violation)
            } else {
                self.found.push(violation)
            }
        }
    }

    pub(super) fn misnamed(&mut self, error: &ValidationError<'_>, inner: &ValidationError<'_>) {
        let name = inner.instance().as_str().unwrap_or_default().to_owned();
        let pointer = words::below(error.instance_path().as_str(), &name);
        self.push(
            pointer,
            error.kind(),
            format!("not an allowed name: {}", plain(inner)),
        );
    }

    /// The schema object that holds the broken keyword; a hint only, so an odd base address merely loses it.
    fn parent(&self, error: &ValidationError<'_>) -> Option<&'s Value> {
        let (parent, _) = error.schema_path().as_str().rsplit_once('/')?;
        self.schema.pointer(parent)
    }
}

/// Every property that a schema or one of its branches names.
fn names<'s>(root: &'s Value, schema: &'s Value, visits: &mut usize, known: &mut Vec<&'s str>) {
    let (Some(object), Some(left)) = (schema.as_object(), visits.checked_sub(1)) else {
        return;
    };
    *visits = left;
    for (keyword, value) in object {
        match keyword.as_str() {
            "properties" => known.extend(
                value
                    .as_object()
                    .into_iter()
                    .flatten()
                    .map(|(name, _)| name.as_str()),
            ),
            "allOf" | "anyOf" | "oneOf" => {
                for branch in value.as_array().into_iter().flatten() {
                    names(root, branch, visits, known);
                }
            }
            "then" | "else" => names(root, value, visits, known),
            "$ref" => {
                if let Some(target) = words::target(root, value) {
                    names(root, target, visits, known);
                }
            }
            _ => {}
        }
    }
}
