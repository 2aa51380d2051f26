//! The whole server over real connections on this machine.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests"
)]

mod admission;
mod ag_ui;
mod ai_sdk;
mod approvals;
mod branches;
mod credentials;
mod embedded;
mod endpoints;
mod external_agent;
mod hostile_clients;
mod http_api;
mod inbox;
mod interceptors;
mod oauth;
mod openai;
mod openapi;
mod owners;
mod queue;
mod restart;
mod resume;
mod retention;
mod rooms;
mod shutdown;
mod support;
