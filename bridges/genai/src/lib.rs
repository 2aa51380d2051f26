//! Toolwright's tools with genai, and a call loop for it.
