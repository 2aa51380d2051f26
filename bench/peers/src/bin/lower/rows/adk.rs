//! adk's `GenericSchemaAdapter`, which its clients for Ollama and DeepSeek use.

use adk_core::{GenericSchemaAdapter, SchemaAdapter};

use crate::comparison::LoweringComparison;

/// Adds the row of adk's core.
pub fn add_rows(contest: LoweringComparison<'_>) -> LoweringComparison<'_> {
    match contest.dialect.name() {
        "deepseek" | "ollama" => adapter(contest, "adk GenericSchemaAdapter", GenericSchemaAdapter),
        _ => contest,
    }
}

/// Adds an adapter, without the cache that some of adk's clients put around it.
pub fn adapter<'a>(
    contest: LoweringComparison<'a>,
    name: &str,
    adapter: impl SchemaAdapter + 'a,
) -> LoweringComparison<'a> {
    contest.add_per_tool(name, move |tool| adapter.normalize_schema(tool.input.clone()))
}
