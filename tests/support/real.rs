//! Third-party software for tests, installed by `cargo xtask test setup`; without it, the test is skipped.
//!
//! Tests of other crates include this file with `#[path]`.

#![allow(dead_code, reason = "each test binary uses its part")]
#![expect(clippy::expect_used, reason = "helpers of tests")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

/// The folder of the workspace.
pub(crate) fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.ancestors().find(|folder| folder.join("tests/real").is_dir());
    root.expect("tests/real is part of every checkout")
}

/// The JSON-Schema-Test-Suite, with its folders `tests/draft2020-12` and `remotes`.
pub(crate) fn suite() -> Option<PathBuf> {
    is_installed().then(|| installed("suite"))
}

/// The responses of real MCP servers to `tools/list`, one file each, sorted by name.
pub(crate) fn lists() -> Option<Vec<PathBuf>> {
    if !is_installed() {
        return None;
    }
    print!("{}", python("capture.py", &[]));
    let entries = fs::read_dir(installed("lists")).expect("capture.py made it");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "json"));
    files.sort();
    Some(files)
}

/// Runs a script of `tests/real` and returns its stdout; panics if it fails.
pub(crate) fn python(script: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(installed("python/bin/python"));
    command.arg(root().join("tests/real").join(script)).args(arguments);
    let output = command.output().expect("the interpreter starts");
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script} failed:\n{printed}{complaint}");
    printed
}

/// Returns true if everything is installed; else prints what is missing, and panics in CI.
pub(crate) fn is_installed() -> bool {
    static INSTALLED: LazyLock<bool> = LazyLock::new(|| {
        let check = ["tests/real/install.py", "--check"];
        let status = Command::new("python3").args(check).current_dir(root()).status();
        status.is_ok_and(|status| status.success())
    });
    if !*INSTALLED {
        let needs = "needs the software of tests/real; `cargo xtask test setup` installs it";
        assert!(std::env::var_os("CI").is_none_or(|ci| ci != "true"), "{needs}");
        println!("skipped: {needs}");
    }
    *INSTALLED
}

fn installed(part: &str) -> PathBuf {
    root().join("target/real").join(part)
}
