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
mod credentials;
mod embedded;
mod endpoints;
mod foreign;
mod hostile;
mod interceptors;
mod oauth;
mod openai;
mod openapi;
mod owners;
mod plain;
mod restart;
mod resume;
mod rooms;
mod scene;
mod shutdown;
