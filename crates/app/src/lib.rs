//! [`App`]: one builder for a whole program.
//!
//! An app is made by the macro `toolwright::app!()`, which captures the name, version and description of the crate that it is
//! written in. [`App::run`] is the `main` of a program with the command line; [`App::start`] is for programs with a `main` of
//! their own.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod app;
mod app_command;
mod app_info;
mod attach_options;
mod error;
mod open_state;
mod project;
#[cfg_attr(not(feature = "mcp-client"), path = "remote_servers_disabled.rs")]
mod remote_servers;
mod running_app;
mod setup;

pub use app::App;
pub use app_info::AppInfo;
pub use error::AppError;
pub use open_state::OpenState;
pub use running_app::RunningApp;

/// What the command line needs of an app; no promise to others.
#[doc(hidden)]
pub mod __internal {
    pub use crate::app::AppParts;
    pub use crate::app_command::AppCommand;
    pub use crate::attach_options::{AttachOptions, ConnectingFn, PinLocation, ProgramLifetime};
    pub use crate::error::error_chain;
    pub use crate::project::conversation_store::{ConversationStore, DefaultStore, store_url};
    pub use crate::project::{Project, ProjectSources};
    pub use crate::project::{assistant, data_dir, journal_keep, model_selection};
    pub use crate::remote_servers::RemoteServers;
    #[cfg(feature = "mcp-client")]
    pub use crate::remote_servers::ServerLogin;
    pub use crate::setup::{AppSetup, StateMode};
}
