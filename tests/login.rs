//! People sign in with a provider that others wrote (npm `oidc-provider`), in a real browser.
//!
//! The tests are `tests/login/*.test.js`.

use std::fs;
use std::path::{Path, PathBuf};

#[path = "support/browser.rs"]
mod browser;
#[path = "support/real.rs"]
mod real;

#[test]
fn two_people_and_an_admin_sign_in_with_a_real_provider() {
    let folder = real::root().join("tests/login");
    let entries = fs::read_dir(folder).expect("tests/login is part of every checkout");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "js"));
    files.sort();
    let telemetry = if cfg!(feature = "otlp") { "yes" } else { "no" };
    let program = Path::new(env!("CARGO_BIN_EXE_toolwright"));
    browser::run_with(&files, program, &[("TELEMETRY", telemetry)]);
}
