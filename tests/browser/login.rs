//! People sign in with a provider that others wrote (npm `oidc-provider`), in a real browser.
//!
//! The tests are `tests/browser/login/*.test.js`.

use std::path::Path;

use test_support::browser;

#[test]
fn two_people_and_an_admin_sign_in_with_a_real_provider() {
    let telemetry = if cfg!(feature = "otlp") { "yes" } else { "no" };
    let program = Path::new(env!("CARGO_BIN_EXE_toolwright"));
    browser::run_with(&crate::test_files("login"), program, &[("TELEMETRY", telemetry)]);
}
