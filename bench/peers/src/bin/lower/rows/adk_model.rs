//! The schema adapters of adk's clients for OpenAI, Anthropic and Gemini.
//!
//! They come with the clients, and those with an HTTP stack: hence a feature of their own.

use adk_gemini::GeminiSchemaAdapter;
use adk_model::{
    anthropic::AnthropicSchemaAdapter,
    openai::{OpenAiSchemaAdapter, OpenAiStrictSchemaAdapter},
};

use super::adk::adapter;
use crate::comparison::LoweringComparison;

/// Adds the row of adk's client.
pub fn add_rows(contest: LoweringComparison<'_>) -> LoweringComparison<'_> {
    match contest.dialect.name() {
        "openai" => adapter(contest, "adk OpenAiSchemaAdapter", OpenAiSchemaAdapter),
        "openai-strict" => {
            adapter(contest, "adk OpenAiStrictSchemaAdapter", OpenAiStrictSchemaAdapter)
        }
        "anthropic" => adapter(contest, "adk AnthropicSchemaAdapter", AnthropicSchemaAdapter),
        "gemini" => adapter(contest, "adk GeminiSchemaAdapter", GeminiSchemaAdapter::json_schema()),
        "gemini-openapi" => adapter(contest, "adk GeminiSchemaAdapter", GeminiSchemaAdapter::new()),
        _ => contest,
    }
}
