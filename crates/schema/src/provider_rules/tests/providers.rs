//! What each provider accepts and rejects.

mod anthropic;
mod deepseek;
mod google;
mod google_openapi;
mod mcp;
mod ollama;
mod openai;
mod openai_budget;
mod openai_strict;
mod other_providers;
mod portable;
