//! Canonical schema in; the form that a dialect accepts, what that cost, and the way back out.
//!
//! The canonical schema is never changed. A dialect is a list of [passes](pass); each changes a draft and reports what could
//! not be said in other words.

pub(crate) mod cost;
mod keyword_lookup;
mod keyword_set;
mod lift;
mod loss;
pub(crate) mod pass;
mod path;
mod prescan;
mod state;

pub use cost::SchemaCost;
pub(crate) use keyword_lookup::{KeywordLookup, KeywordLookupMut};
pub(crate) use keyword_set::KeywordSet;
pub(crate) use lift::{LIFT_KEYWORD, LiftMark, add_lift_mark};
pub use loss::{Loss, LowerError, Severity};
pub(crate) use path::{PathSegment, SchemaPath};
pub(crate) use prescan::{MAX_NODES, too_large_error};
pub(crate) use state::{
    LoweringState, SchemaCursor, SubschemaShape, append_to_description, for_each_subschema,
    subschema_shape, visit_bottom_up,
};

use std::sync::OnceLock;

use serde_json::Value;

use crate::{Dialect, Schema};
use lift::LiftPlan;

/// A schema in the words of one dialect.
#[derive(Debug)]
pub struct Lowered {
    schema: Value,
    text: OnceLock<String>,
    cost: OnceLock<SchemaCost>,
    losses: Vec<Loss>,
    description_suffix: Option<String>,
    lift_plan: LiftPlan,
}

impl Lowered {
    /// Runs the passes of a dialect over a copy of the schema.
    pub(crate) fn new(canonical: &Value, dialect: Dialect) -> Result<Self, LowerError> {
        let mut state = LoweringState::new(canonical, dialect)?;
        for pass in dialect.rules().passes {
            pass(&mut state)?;
            debug_assert!(
                state.keywords_are_complete(),
                "a pass wrote a keyword in silence"
            );
        }
        let (mut schema, losses, remark) = state.finish();
        let lift = LiftPlan::extract(&mut schema);
        Ok(Self {
            schema,
            text: OnceLock::new(),
            cost: OnceLock::new(),
            losses,
            description_suffix: remark,
            lift_plan: lift,
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
    pub fn cost(&self) -> SchemaCost {
        *self.cost.get_or_init(|| cost::schema_cost(&self.schema))
    }

    /// The schema without one keyword, wherever it stands.
    pub fn schema_without(&self, keyword: &str) -> Value {
        let mut schema = self.schema.clone();
        cost::remove_keyword_everywhere(&mut schema, keyword);
        schema
    }

    /// What could not be said, in the order it was given up.
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }

    /// What belongs into the tool's description, because the dialect has no room for it in the schema.
    pub fn description_suffix(&self) -> Option<&str> {
        self.description_suffix.as_deref()
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
    pub fn keeps_argument_form(&self) -> bool {
        self.lift_plan.is_identity()
    }

    /// Returns arguments from this dialect's form to the canonical one.
    ///
    /// What is in neither form is left as it is, for the validator to refuse.
    pub fn lift_arguments(&self, arguments: &mut Value) {
        self.lift_plan.lift(&self.schema, arguments);
    }

    /// Brings canonical arguments into this dialect's form, as for a call of the past that a model reads again.
    pub fn lower_arguments(&self, arguments: &mut Value) {
        self.lift_plan.lower(&self.schema, arguments);
    }
}

impl Schema {
    /// Lowers the schema to a dialect; the work is done once per dialect.
    ///
    /// # Errors
    ///
    /// Nothing the dialect could express admits the same arguments, or the schema is beyond every bound.
    pub fn lower(&self, dialect: Dialect) -> Result<&Lowered, &LowerError> {
        let lowered = self.lowered_slot(dialect);
        let lowered = lowered.get_or_init(|| Box::new(Lowered::new(self.as_value(), dialect)));
        lowered.as_ref().as_ref()
    }
}

#[cfg(test)]
mod tests;
