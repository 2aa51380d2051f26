//! Tool definitions on the wire: those of other software in, ours out as each API wants them.

pub(crate) mod bridge;
mod import;

mod plan;
mod wire_name;
mod wrap_output;
mod write;

pub use import::{
    ImportError, RejectedDefinition, Shape, ToolDefinition, UnknownShape, import_definitions,
};
pub use plan::{CandidateTool, OmittedTool, PlannedTool, ToolPlan, ToolPlanner};
pub use wire_name::wire_names;
pub use wrap_output::{needs_result_wrapper, wrap_output_schema};

#[cfg(test)]
mod tests;
