//! What every check reads and writes: the subschemas of one schema, and the rejections so far.

use super::{
    Rejection,
    subschemas::{Subschema, SubschemaList},
};
use crate::text::english::truncated;

/// The subschemas of one schema, and what the provider would reject in them.
pub(super) struct Report<'a> {
    subschemas: &'a SubschemaList<'a>,
    rejections: Vec<Rejection>,
}

impl<'a> Report<'a> {
    /// The maximum number of rejections that are listed.
    pub(super) const MAX_REJECTIONS: usize = 100;

    pub(super) fn new(subschemas: &'a SubschemaList<'a>) -> Self {
        Self { subschemas, rejections: Vec::new() }
    }

    pub(super) fn subschemas(&self) -> &'a SubschemaList<'a> {
        self.subschemas
    }

    /// Rejects a subschema.
    pub(super) fn reject(&mut self, subschema: &Subschema<'_>, rule: impl Into<String>) {
        if self.rejections.len() < Self::MAX_REJECTIONS {
            self.reject_at(self.subschemas.pointer(subschema), rule);
        }
    }

    /// Rejects the schema as a whole.
    pub(super) fn reject_root(&mut self, rule: impl Into<String>) {
        self.reject_at(String::new(), rule);
    }

    /// Rejects the schema as a whole if it has more than `max` of something.
    pub(super) fn reject_above(&mut self, max: usize, count: usize, what: &str) {
        if count > max {
            self.reject_root(format!("{count} {what}, and at most {max} are accepted"));
        }
    }

    pub(super) fn reject_at(&mut self, path: String, rule: impl Into<String>) {
        let refusal = Rejection { path, rule: rule.into() };
        if self.rejections.len() < Self::MAX_REJECTIONS && !self.rejections.contains(&refusal) {
            self.rejections.push(refusal);
        }
    }

    pub(super) fn into_rejections(self) -> Vec<Rejection> {
        self.rejections
    }
}

/// The beginning of a text from the schema, for a message.
pub(super) fn excerpt(text: &str) -> String {
    truncated(text, 60)
}
