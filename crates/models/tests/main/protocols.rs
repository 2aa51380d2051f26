//! The fixture of each protocol.

mod anthropic;
mod gemini;
mod ollama;
mod openai_chat;
mod openai_responses;
