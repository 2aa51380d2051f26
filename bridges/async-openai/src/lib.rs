//! Toolwright's tools with async-openai, and a call loop for it.
