//! Definitions of tools that a model reads outside of the `tools` array of a request: in the result of a search.

use std::borrow::Cow;

use toolwright_schema::{Dialect, Lowered};

use super::candidate::CandidateTool;
use super::plan::full_description;
use super::tool_plan::parse_arguments;
use crate::call::Arguments;
use crate::registry::RegisteredTool;

/// The description and the input schema of a tool in a dialect.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DeferredDefinition<'a> {
    /// What the tool does, and constraints that the schema cannot express.
    pub description: Cow<'a, str>,
    /// The schema of the arguments, as the model reads it.
    pub input: &'a Lowered,
}

impl RegisteredTool {
    /// Returns the definition that a model of this dialect reads outside of the `tools` array, where no provider enforces the
    /// schema; `None` if the dialect cannot express the schema.
    pub fn deferred_definition(&self, dialect: Dialect) -> Option<DeferredDefinition<'_>> {
        let input = self.spec.input.lower(dialect.non_strict()).ok()?;
        let tool = CandidateTool::from(self);
        let description = full_description(&tool, tool.name, input);
        Some(DeferredDefinition { description, input })
    }

    /// Converts arguments that satisfy the [deferred definition](Self::deferred_definition) to the form of the tool's own schema.
    ///
    /// Arguments that cannot be converted are returned unchanged: invoking the tool returns the error.
    pub fn lift_deferred_arguments(&self, dialect: Dialect, arguments: Arguments) -> Arguments {
        let Ok(lowered) = self.spec.input.lower(dialect.non_strict()) else {
            return arguments;
        };
        if lowered.keeps_argument_form() {
            return arguments;
        }
        match parse_arguments(&arguments) {
            Some(mut value) => {
                lowered.lift_arguments(&mut value);
                value.into()
            }
            None => arguments,
        }
    }
}
