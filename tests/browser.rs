//! The console in a real browser: what people do there, and what must not be done to them.
//!
//! The tests are `tests/browser/*.test.js`.

#![expect(clippy::expect_used, reason = "helpers of tests")]

use std::fs;
use std::path::{Path, PathBuf};

#[path = "support/browser.rs"]
mod browser;
#[path = "support/real.rs"]
mod real;

/// The test files, in the order of their names.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("tests/browser is part of every checkout");
    let files = entries.map(|entry| entry.expect("readable").path());
    let mut files: Vec<PathBuf> =
        files.filter(|file| file.to_string_lossy().ends_with(".test.js")).collect();
    files.sort();
    files
}

#[test]
fn people_use_the_console_in_a_browser() {
    let files = files(&real::root().join("tests/browser"));
    let program = Path::new(env!("CARGO_BIN_EXE_toolwright"));
    let nested = program.with_file_name("examples/nested_server");
    assert!(nested.exists(), "it is not built: cargo build --example nested_server");
    browser::run(&files, program);
}
