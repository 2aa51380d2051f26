//! adk's `GenericSchemaAdapter`, which its clients for Ollama and DeepSeek use.

use adk_core::{GenericSchemaAdapter, SchemaAdapter};

use crate::contest::Contest;

/// Adds the row of adk's core.
pub fn lower(contest: Contest<'_>) -> Contest<'_> {
    match contest.dialect.name() {
        "deepseek" | "ollama" => adapter(contest, "adk GenericSchemaAdapter", GenericSchemaAdapter),
        _ => contest,
    }
}

/// Adds an adapter, without the cache that some of adk's clients put around it.
pub fn adapter<'a>(
    contest: Contest<'a>,
    name: &str,
    adapter: impl SchemaAdapter + 'a,
) -> Contest<'a> {
    contest.each(name, move |tool| {
        adapter.normalize_schema(tool.input.clone())
    })
}
