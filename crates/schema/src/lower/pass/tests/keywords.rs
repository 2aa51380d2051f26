//! Tests of the passes that remove keywords.

mod annotations;
mod describe;
mod unsupported_keywords;
