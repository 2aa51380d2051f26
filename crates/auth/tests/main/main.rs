//! Sign-in against a provider in this process, over real connections.

#![expect(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests"
)]

#[path = "../../../../tests/support/openid_provider.rs"]
mod openid_provider;

mod sign_in;
