//! The protocols, one file each: what its vendor says and hears.

mod anthropic;
mod gemini;
mod ollama;
mod openai_chat;
mod openai_responses;
