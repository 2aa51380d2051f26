//! What people do in a real browser: with the console, and when they sign in.

#![expect(clippy::expect_used, reason = "helpers of tests")]

use std::fs;
use std::path::PathBuf;

use test_support::real;

mod browser;
mod login;

/// The test files of a folder below `tests/browser`, in the order of their names.
fn test_files(folder: &str) -> Vec<PathBuf> {
    let folder = real::root().join("tests/browser").join(folder);
    let entries = fs::read_dir(folder).expect("it is part of every checkout");
    let files = entries.map(|entry| entry.expect("readable").path());
    let mut files: Vec<PathBuf> =
        files.filter(|file| file.to_string_lossy().ends_with(".test.js")).collect();
    files.sort();
    files
}
