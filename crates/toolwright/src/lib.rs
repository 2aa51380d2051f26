//! The facade of Toolwright: re-exports of its crates, by feature.
//!
#![cfg_attr(any(not(doctest), feature = "macros"), doc = include_str!("../README.md"))]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "cli")]
pub use toolwright_app::cli;
#[cfg(feature = "otlp")]
pub use toolwright_app::telemetry;
#[cfg(feature = "mcp")]
pub use toolwright_auth as auth;
#[cfg(feature = "server")]
pub use toolwright_bus as bus;
#[cfg(feature = "chat")]
pub use toolwright_chat as chat;
pub use toolwright_core::*;
#[cfg(feature = "chat")]
pub use toolwright_demo as demo;
#[cfg(feature = "guard")]
pub use toolwright_guard as guard;
#[cfg(feature = "macros")]
pub use toolwright_macros::{AppKind, prompt, tool, tool_type, tools};
#[cfg(feature = "mcp")]
pub use toolwright_mcp as mcp;
#[cfg(feature = "models")]
pub use toolwright_models as models;
#[cfg(feature = "chat")]
pub use toolwright_search as search;
#[cfg(feature = "server")]
pub use toolwright_server as server;
#[cfg(any(feature = "postgres", feature = "sqlite"))]
pub use toolwright_store as store;
#[cfg(feature = "testing")]
pub use toolwright_testing as testing;

/// One builder for a whole program: its tools, state, model, store, endpoints and attached servers.
#[cfg(feature = "app")]
pub mod app {
    pub use toolwright_app::{App, AppError, AppInfo, OpenState, RunningApp};
}

/// Starts an [`App`](app::App) with the name, version and description of the crate that this is written in.
///
/// ```no_run
/// # #[cfg(feature = "cli")]
/// fn main() -> std::process::ExitCode {
///     toolwright::app!().run()
/// }
/// # #[cfg(not(feature = "cli"))]
/// # fn main() {}
/// ```
#[cfg(feature = "app")]
#[macro_export]
macro_rules! app {
    () => {
        $crate::app::App::new($crate::app::AppInfo::new(
            env!("CARGO_PKG_NAME"),
            env!("CARGO_PKG_VERSION"),
            env!("CARGO_PKG_DESCRIPTION"),
        ))
    };
}

/// Runs the code blocks of the book as doc tests.
#[cfg(all(doctest, feature = "macros"))]
mod book {
    #[cfg(feature = "cli")]
    #[doc = include_str!("../../../README.md")]
    struct FrontDoor;

    #[doc = include_str!("../../../docs/which-way.md")]
    struct WhichWay;

    #[doc = include_str!("../../../docs/designing-a-tool.md")]
    struct DesigningATool;

    #[doc = include_str!("../../../docs/state-and-injection.md")]
    struct StateAndInjection;

    #[doc = include_str!("../../../docs/telemetry.md")]
    struct Telemetry;

    #[cfg(feature = "testing")]
    #[doc = include_str!("../../../docs/approvals.md")]
    struct Approvals;

    #[cfg(feature = "testing")]
    #[doc = include_str!("../../../docs/testing.md")]
    struct Testing;

    #[cfg(feature = "cli")]
    #[doc = include_str!("../../../docs/first-hour.md")]
    struct FirstHour;

    #[cfg(feature = "server")]
    #[doc = include_str!("../../../docs/mcp-server.md")]
    struct AnMcpServer;

    #[cfg(all(feature = "cli", feature = "otlp", feature = "testing"))]
    #[doc = include_str!("../../../docs/programs.md")]
    struct Programs;

    #[cfg(feature = "server")]
    #[doc = include_str!("../../../docs/embedding.md")]
    struct Embedding;

    #[cfg(all(feature = "server", feature = "testing"))]
    #[doc = include_str!("../../../docs/endpoints.md")]
    struct Endpoints;

    #[cfg(all(feature = "server", feature = "testing"))]
    #[doc = include_str!("../../../docs/models.md")]
    struct Models;

    #[cfg(all(feature = "server", feature = "testing"))]
    #[doc = include_str!("../../../docs/console.md")]
    struct Console;

    #[cfg(feature = "mcp")]
    #[doc = include_str!("../../../docs/coming-from/rmcp.md")]
    struct ComingFromRmcp;

    #[cfg(feature = "models")]
    #[doc = include_str!("../../../docs/coming-from/rig.md")]
    struct ComingFromRig;

    #[cfg(feature = "cli")]
    #[doc = include_str!("../../../docs/coming-from/fastmcp.md")]
    struct ComingFromFastMcp;

    #[cfg(feature = "models")]
    #[doc = include_str!("../../../docs/coming-from/spring-ai.md")]
    struct ComingFromSpringAi;

    #[cfg(feature = "models")]
    #[doc = include_str!("../../../docs/coming-from/langchain4j.md")]
    struct ComingFromLangChain4j;

    #[cfg(feature = "cli")]
    #[doc = include_str!("../../../docs/coming-from/ai-sdk.md")]
    struct ComingFromTheAiSdk;
}
