//! [`App`]: one builder for a whole program, and its command line.
//!
//! An app is made by the macro `toolwright::app!()`, which captures the name, version and description of the crate that it is
//! written in. [`App::run`] is the `main` of a program with the command line; [`App::start`] is for programs with a `main` of
//! their own. `telemetry` exports the spans of both.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod app;
#[cfg_attr(not(feature = "cli"), expect(dead_code, reason = "only the command line runs them"))]
mod app_command;
mod app_info;
mod attach_options;
#[cfg(feature = "cli")]
pub mod cli;
mod error;
mod open_state;
mod project;
mod remote_servers;
mod running_app;
mod setup;
#[cfg(feature = "otlp")]
pub mod telemetry;

pub use app::App;
pub use app_info::AppInfo;
pub use error::AppError;
pub use open_state::OpenState;
pub use running_app::RunningApp;
