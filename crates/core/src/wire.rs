//! Tool definitions on the wire: those of other software in, ours out as each API wants them.

mod import;

mod wire_name;
mod wrap_output;
mod plan;
mod write;

pub use wire_name::wire_names;
pub use wrap_output::{needs_result_wrapper, wrap_output_schema};
pub use plan::{CandidateTool, OmittedTool, ToolPlan, PlannedTool, ToolPlanner};
pub use import::{ToolDefinition, RejectedDefinition, Shape, UnknownShape, ImportError, import_definitions};

#[cfg(test)]
mod tests;
