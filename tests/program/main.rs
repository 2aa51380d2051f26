//! The program, its examples, and the files of the repository.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests"
)]

mod app;
mod architecture;
mod attach;
mod bridges;
mod chat;
mod check;
mod command_line;
mod conversation;
#[cfg(unix)]
mod conversations;
#[cfg(unix)]
mod credentials;
mod deploy;
mod endpoint;
mod everywhere;
mod facade_names;
mod layering;
mod module_cycles;
mod packages;
mod programs;
mod real_servers;
mod reference;
mod request_types;
mod scaffold;
mod sdk_types;
mod secrets;
#[cfg(unix)]
mod serve;
mod stdio_server;
mod terminal;
mod tools_search;
mod vendor;
mod weight;
