//! Converts a canonical schema to the form that a dialect accepts, and arguments between the two forms.
//!
//! The canonical schema is never changed. A dialect is a list of [passes](pass); each rewrites a copy of the schema and
//! reports the constraints that the dialect cannot express.

pub(crate) mod cost;
mod keyword_lookup;
mod keyword_set;
mod lift;
mod loss;
pub(crate) mod pass;
mod path;
mod prescan;
mod state;

pub(crate) use crate::JsonObject;
pub use cost::SchemaCost;
pub(crate) use keyword_lookup::KeywordLookup;
pub(crate) use keyword_set::KeywordSet;
pub(crate) use lift::{LIFT_KEYWORD, LiftMark, add_lift_mark};
pub use loss::{Loss, LowerError, Severity};
pub(crate) use path::{PathSegment, SchemaPath};
pub(crate) use prescan::{MAX_NODES, too_large_error};
pub(crate) use state::{
    LoweringState, SchemaCursor, SubschemaShape, any_object, append_to_description,
    for_each_object_mut, for_each_subschema, subschema_shape, subschemas_of, subschemas_of_mut,
    visit_bottom_up,
};

use std::sync::OnceLock;

use serde_json::Value;

use crate::{Dialect, Schema};
use lift::LiftPlan;

/// A schema in the form of one dialect.
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
        for pass in dialect.rules().all_passes() {
            pass(&mut state)?;
            debug_assert!(state.keywords_are_complete(), "a pass wrote a keyword in silence");
        }
        let lift_plan = LiftPlan::extract(&mut state.schema);
        Ok(Self {
            schema: state.schema,
            text: OnceLock::new(),
            cost: OnceLock::new(),
            losses: state.losses,
            description_suffix: state.description_suffix,
            lift_plan,
        })
    }

    /// The schema in the dialect's form.
    pub fn schema(&self) -> &Value {
        &self.schema
    }

    /// The same as JSON text, cached.
    pub fn text(&self) -> &str {
        self.text.get_or_init(|| self.schema.to_string())
    }

    /// What it uses of the limits of a request.
    pub fn cost(&self) -> SchemaCost {
        *self
            .cost
            .get_or_init(|| self.schema.as_object().map(cost::schema_cost).unwrap_or_default())
    }

    /// The schema without one keyword, in all subschemas.
    pub fn schema_without(&self, keyword: &str) -> Value {
        let mut schema = self.schema.clone();
        cost::remove_keyword_everywhere(&mut schema, keyword);
        schema
    }

    /// The constraints that were dropped, in the order of the passes.
    pub fn losses(&self) -> &[Loss] {
        &self.losses
    }

    /// Text for the tool's description, where the dialect does not allow it in the schema.
    pub fn description_suffix(&self) -> Option<&str> {
        self.description_suffix.as_deref()
    }

    /// Returns true if it accepts the same arguments as the canonical schema, except that objects may be open.
    pub fn is_lossless(&self) -> bool {
        self.losses.iter().all(|loss| loss.severity == Severity::Note)
    }

    /// Returns true if every object that the canonical schema closes is still closed.
    pub fn is_closed(&self) -> bool {
        let closing = ["additionalProperties", "unevaluatedProperties"];
        !self
            .losses
            .iter()
            .any(|loss| loss.severity == Severity::Note && closing.contains(&loss.keyword.as_str()))
    }

    /// Returns true if arguments have the same form in both schemas.
    pub fn keeps_argument_form(&self) -> bool {
        self.lift_plan.is_identity()
    }

    /// Converts arguments from this dialect's form to the canonical one.
    ///
    /// Values in neither form are left unchanged; the validator rejects them.
    pub fn lift_arguments(&self, arguments: &mut Value) {
        self.lift_plan.transform(&self.schema, arguments, true);
    }

    /// Converts canonical arguments to this dialect's form, for earlier calls that are sent to the model again.
    pub fn lower_arguments(&self, arguments: &mut Value) {
        self.lift_plan.transform(&self.schema, arguments, false);
    }
}

impl Schema {
    /// Lowers the schema to a dialect; the result is cached per dialect.
    ///
    /// # Errors
    ///
    /// The dialect cannot express any schema for these arguments, or the schema is too large.
    pub fn lower(&self, dialect: Dialect) -> Result<&Lowered, LowerError> {
        let lowered = self.lowered_slot(dialect);
        let lowered = lowered.get_or_init(|| Box::new(Lowered::new(self.as_value(), dialect)));
        lowered.as_ref().as_ref().map_err(LowerError::clone)
    }
}

#[cfg(test)]
mod tests;
