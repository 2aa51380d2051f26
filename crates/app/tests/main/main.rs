//! An app in a program with a `main` of its own, and its spans.

mod app;
mod telemetry;
