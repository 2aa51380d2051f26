//! Tool definitions in the formats of model APIs: import, export and the `tools` array of a request.

pub(crate) mod bridge;
mod candidate;
mod deferred;
pub(crate) mod gateway;
mod import;
mod input_examples;

mod plan;
mod tool_plan;
mod wire_name;
mod wrap_output;
mod write;

pub use candidate::CandidateTool;
pub use deferred::DeferredDefinition;
pub use import::{
    ImportError, RejectedDefinition, Shape, ToolDefinition, UnknownShape, import_definitions,
};
pub use plan::{BYTES_PER_TOKEN, ToolPlanner};
pub use tool_plan::{OmittedTool, PlannedTool, ToolPlan};
pub use wire_name::wire_names;
pub use wrap_output::{needs_result_wrapper, wrap_output_schema};

#[cfg(test)]
mod tests;
