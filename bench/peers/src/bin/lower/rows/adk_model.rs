//! The schema adapters of adk's clients for OpenAI, Anthropic and Gemini.
//!
//! They come with the clients, and those with an HTTP stack: hence a feature of their own.

use adk_gemini::GeminiSchemaAdapter;
use adk_model::{
    anthropic::AnthropicSchemaAdapter,
    openai::{OpenAiSchemaAdapter, OpenAiStrictSchemaAdapter},
};
use toolwright::schema::Dialect;

use super::adk::adapter;
use crate::contest::Contest;

/// Adds the row of adk's client.
pub fn lower(contest: Contest<'_>) -> Contest<'_> {
    match contest.dialect {
        Dialect::OPENAI => adapter(contest, "adk OpenAiSchemaAdapter", OpenAiSchemaAdapter),
        Dialect::OPENAI_STRICT => adapter(
            contest,
            "adk OpenAiStrictSchemaAdapter",
            OpenAiStrictSchemaAdapter,
        ),
        Dialect::ANTHROPIC => adapter(
            contest,
            "adk AnthropicSchemaAdapter",
            AnthropicSchemaAdapter,
        ),
        Dialect::GEMINI => adapter(
            contest,
            "adk GeminiSchemaAdapter",
            GeminiSchemaAdapter::json_schema(),
        ),
        Dialect::GEMINI_OPENAPI => adapter(
            contest,
            "adk GeminiSchemaAdapter",
            GeminiSchemaAdapter::new(),
        ),
        _ => contest,
    }
}
