//! Canonical schema in; the form that a dialect accepts, what that cost, and the way back out.
//!
//! The canonical schema is never changed. A dialect is a list of [passes](pass); each changes a draft and reports what could
//! not be said in other words.

mod draft;
mod lift;
mod look;
mod lookup;
mod loss;
mod path;
mod seen;
pub(crate) mod weigh;

pub(crate) use draft::{Draft, Parts, Spot, describe, each_part, parts, up};
pub(crate) use lift::{LIFT, Mark, mark};
pub(crate) use look::{MOST_NODES, too_large};
pub(crate) use lookup::{Lookup, LookupMut};
pub use loss::{Impossible, Loss, Severity};
pub(crate) use path::{Part, Path};
pub(crate) use seen::Seen;
pub use weigh::Weight;

use std::sync::OnceLock;

use serde_json::Value;

use crate::{Dialect, Schema};
use lift::Lift;

/// A schema in the words of one dialect.
#[derive(Debug)]
pub struct Lowered {
    schema: Value,
    text: OnceLock<String>,
    weight: OnceLock<Weight>,
    losses: Vec<Loss>,
    remark: Option<String>,
    lift: Lift,
}

impl Lowered {
    /// Runs the passes of a dialect over a copy of the schema.
    pub(crate) fn new(canonical: &Value, dialect: Dialect) -> Result<Self, Impossible> {
        let mut draft = Draft::new(canonical, dialect)?;
        for pass in dialect.rules().passes {
            pass(&mut draft)?;
            debug_assert!(draft.knows_itself(), "a pass wrote a keyword in silence");
        }
        let (mut schema, losses, remark) = draft.finish();
        let lift = Lift::take(&mut schema);
        Ok(Self {
            schema,
            text: OnceLock::new(),
            weight: OnceLock::new(),
            losses,
            remark,
            lift,
        })
    }

    /// The schema as the dialect wants it.
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// The same as JSON text, written once.
    pub fn text(&self) -> &str {
        self.text.get_or_init(|| self.schema.to_string())
    }

    /// What it takes from the budgets of a request.
    pub fn weight(&self) -> Weight {
        *self.weight.get_or_init(|| weigh::weigh(&self.schema))
    }

    /// The schema without one keyword, wherever it stands.
    pub fn without(&self, keyword: &str) -> Value {
        let mut schema = self.schema.clone();
        weigh::remove(&mut schema, keyword);
        schema
    }

    /// What could not be said, in the order it was given up.
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }

    /// What belongs into the tool's description, because the dialect has no room for it in the schema.
    pub fn remark(&self) -> Option<&str> {
        self.remark.as_deref()
    }

    /// Returns true if it admits what the canonical schema admits, except that objects may be open.
    pub fn is_lossless(&self) -> bool {
        self.losses
            .iter()
            .all(|loss| loss.severity == Severity::Note)
    }

    /// Returns true if every object that the canonical schema closes is still closed.
    pub fn is_closed(&self) -> bool {
        let closing = ["additionalProperties", "unevaluatedProperties"];
        !self
            .losses
            .iter()
            .any(|loss| loss.severity == Severity::Note && closing.contains(&loss.keyword.as_str()))
    }

    /// Whether arguments come back in the form they have anyway.
    pub fn lifts_nothing(&self) -> bool {
        self.lift.is_nothing()
    }

    /// Returns arguments from this dialect's form to the canonical one.
    ///
    /// What is in neither form is left as it is, for the validator to refuse.
    pub fn lift(&self, arguments: &mut Value) {
        self.lift.up(&self.schema, arguments);
    }

    /// Brings canonical arguments into this dialect's form, as for a call of the past that a model reads again.
    pub fn lower_arguments(&self, arguments: &mut Value) {
        self.lift.down(&self.schema, arguments);
    }
}

impl Schema {
    /// Lowers the schema to a dialect; the work is done once per dialect.
    ///
    /// # Errors
    ///
    /// Nothing the dialect could express admits the same arguments, or the schema is beyond every bound.
    pub fn lower(&self, dialect: Dialect) -> Result<&Lowered, &Impossible> {
        let lowered = self.lowered(dialect);
        let lowered = lowered.get_or_init(|| Box::new(Lowered::new(self.as_value(), dialect)));
        lowered.as_ref().as_ref()
    }
}

#[cfg(test)]
mod tests;
