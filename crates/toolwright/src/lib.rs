//! The facade of Toolwright: re-exports of its crates, by feature.
//!
#![doc = include_str!("../../../README.md")]

#[cfg(any(feature = "mcp", feature = "server"))]
pub use toolwright_auth as auth;
#[cfg(feature = "chat")]
pub use toolwright_chat as chat;
#[cfg(feature = "cli")]
pub use toolwright_cli as cli;
pub use toolwright_core::*;
#[cfg(feature = "demo")]
pub use toolwright_demo as demo;
#[cfg(feature = "macros")]
pub use toolwright_macros::{prompt, tool, tools};
#[cfg(feature = "mcp")]
pub use toolwright_mcp as mcp;
#[cfg(feature = "models")]
pub use toolwright_models as models;
#[cfg(feature = "server")]
pub use toolwright_server as server;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub use toolwright_store as store;
#[cfg(feature = "otlp")]
pub use toolwright_telemetry as telemetry;
#[cfg(feature = "testing")]
pub use toolwright_testing as testing;

/// Runs the code blocks of the guide as doc tests.
#[cfg(all(doctest, feature = "macros"))]
mod guide {
    #[doc = include_str!("../../../docs/which-way.md")]
    struct WhichWay;

    #[doc = include_str!("../../../docs/designing-a-tool.md")]
    struct DesigningATool;
}
