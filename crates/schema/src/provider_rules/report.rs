//! Collects rejections.

use super::{
    Rejection,
    subschemas::{Subschema, SubschemaList},
};

/// The rejections so far, and the schema they are about.
pub(super) struct RejectionReport<'o, 'a> {
    subschemas: &'o SubschemaList<'a>,
    rejections: Vec<Rejection>,
}

impl<'o, 'a> RejectionReport<'o, 'a> {
    /// The maximum number of rejections that are listed.
    pub(super) const MAX_REJECTIONS: usize = 100;

    pub(super) fn new(subschemas: &'o SubschemaList<'a>) -> Self {
        Self { subschemas, rejections: Vec::new() }
    }

    pub(super) fn subschemas(&self) -> &'o SubschemaList<'a> {
        self.subschemas
    }

    /// Rejects a subschema.
    pub(super) fn reject(&mut self, subschema: &Subschema<'a>, rule: impl Into<String>) {
        if self.rejections.len() < Self::MAX_REJECTIONS {
            self.reject_at(self.subschemas.pointer(subschema), rule);
        }
    }

    /// Rejects the schema as a whole.
    pub(super) fn reject_root(&mut self, rule: impl Into<String>) {
        self.reject_at(String::new(), rule);
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
    const MOST: usize = 60;
    if text.chars().nth(MOST).is_none() {
        return text.to_owned();
    }
    text.chars().take(MOST).chain(['…']).collect()
}
