//! Collects what is refused.

use super::{
    Refusal,
    outline::{Outline, Place},
};

/// What was refused so far, and the schema it is about.
pub(super) struct Report<'o, 'a> {
    outline: &'o Outline<'a>,
    refusals: Vec<Refusal>,
}

impl<'o, 'a> Report<'o, 'a> {
    /// How many refusals are listed at most.
    pub(super) const MOST: usize = 100;

    pub(super) fn on(outline: &'o Outline<'a>) -> Self {
        Self {
            outline,
            refusals: Vec::new(),
        }
    }

    pub(super) fn outline(&self) -> &'o Outline<'a> {
        self.outline
    }

    /// Refuses a schema.
    pub(super) fn refuse(&mut self, place: &Place<'a>, rule: impl Into<String>) {
        if self.refusals.len() < Self::MOST {
            self.refuse_at(self.outline.path(place), rule);
        }
    }

    /// Refuses the schema as a whole.
    pub(super) fn refuse_all(&mut self, rule: impl Into<String>) {
        self.refuse_at(String::new(), rule);
    }

    pub(super) fn refuse_at(&mut self, path: String, rule: impl Into<String>) {
        let refusal = Refusal {
            path,
            rule: rule.into(),
        };
        if self.refusals.len() < Self::MOST && !self.refusals.contains(&refusal) {
            self.refusals.push(refusal);
        }
    }

    pub(super) fn into_refusals(self) -> Vec<Refusal> {
        self.refusals
    }
}

/// Text for a rule: what the schema says, but not all of it.
pub(super) fn short(text: &str) -> String {
    const MOST: usize = 60;
    if text.chars().nth(MOST).is_none() {
        return text.to_owned();
    }
    text.chars().take(MOST).chain(['…']).collect()
}
