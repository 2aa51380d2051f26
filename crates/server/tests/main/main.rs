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
mod approval_rules;
mod approvals;
mod branches;
mod branding;
mod cluster;
mod connections;
mod credentials;
mod embedded;
mod endpoints;
mod excluded;
mod external_agent;
mod handler_errors;
mod hostile_clients;
mod http_api;
mod inbox;
mod interceptors;
mod late_nodes;
mod login_sessions;
mod nested_turns;
mod node_registry;
mod oauth;
mod openai;
mod openapi;
mod own_login;
mod owners;
mod questions;
mod queue;
mod quotas;
mod reference;
mod restart;
mod resume;
mod retention;
mod room_access;
mod rooms;
mod sharing;
mod shutdown;
mod sign_in;
mod sign_in_attacks;
mod stores;
mod support;
