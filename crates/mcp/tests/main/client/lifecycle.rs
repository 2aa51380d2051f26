//! What becomes of an attachment: changes, breaks, ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::StreamExt as _;
use serde_json::{Value, json};
use toolwright_core::{Outcome, Registry};
use toolwright_mcp::{AttachError, RemoteServer, Trust};

use super::http_server::{
    ScriptedHttpServer, ScriptedResponse, discover_response, list_response, text_result, tool,
};
use super::scripted::scripted_server;
use super::support::{call, names};

#[tokio::test]
async fn tools_come_and_go_as_the_server_says() {
    let registry = Registry::new();
    let attached = scripted_server("shop", "").attach(&registry).await.unwrap();
    let before = names(&registry);
    let mut changes = Box::pin(registry.changes());
    call(&registry, "shop_grow", json!({})).await;
    changes.next().await;
    assert!(registry.get("shop_grown").is_some());
    call(&registry, "shop_shrink", json!({})).await;
    changes.next().await;
    assert_eq!(names(&registry), before, "the others have not moved");
    attached.detach().await;
    assert!(names(&registry).is_empty());
}

#[tokio::test]
async fn changes_are_heard_where_there_are_no_sessions() {
    let heard = Arc::new(AtomicBool::new(false));
    let site = ScriptedHttpServer::open(move |asked| match asked.method() {
        "server/discover" => asked.result(json!({
            "supportedVersions": ["2026-07-28"], "capabilities": {"tools": {"listChanged": true}},
            "ttlMs": 0, "cacheScope": "private"
        })),
        "tools/list" if heard.load(Ordering::SeqCst) => list_response(asked, &json!([tool("new")])),
        "tools/list" => list_response(asked, &json!([tool("old")])),
        "subscriptions/listen" => {
            heard.store(true, Ordering::SeqCst);
            let meta = json!({"io.modelcontextprotocol/subscriptionId": asked.message["id"]});
            let notification = |method: &str, params: Value| json!({"jsonrpc": "2.0", "method": method, "params": params});
            let accepted = json!({"notifications": {"toolsListChanged": true}, "_meta": meta});
            ScriptedResponse::Events(vec![
                notification("notifications/subscriptions/acknowledged", accepted),
                notification("notifications/tools/list_changed", json!({"_meta": meta})),
            ])
        }
        _ => ScriptedResponse::Silence,
    })
    .await;
    let registry = Registry::new();
    let mut changes = Box::pin(registry.changes());
    let attached = RemoteServer::url("shop", &site.url).attach(&registry).await.unwrap();
    while names(&registry) != ["shop_new"] {
        changes.next().await;
    }
    attached.detach().await;
}

#[tokio::test]
async fn a_dead_servers_tools_stay_and_say_so_at_once() {
    let is_dead = Arc::new(AtomicBool::new(false));
    let dead = Arc::clone(&is_dead);
    let site = ScriptedHttpServer::open(move |asked| match asked.method() {
        _ if dead.load(Ordering::SeqCst) => ScriptedResponse::Half,
        "server/discover" => discover_response(asked),
        "tools/list" => list_response(asked, &json!([tool("good")])),
        _ => asked.result(text_result("fine")),
    })
    .await;
    let registry = Registry::new();
    let attach = RemoteServer::url("shop", &site.url).trust(Trust::Calls);
    let attached = attach.attach(&registry).await.unwrap();
    assert_eq!(attached.status().revision.as_deref(), Some("2026-07-28"));

    is_dead.store(true, Ordering::SeqCst);

    // The first call finds the connection broken, with an unknown outcome; the next one fails at once.
    let first = call(&registry, "shop_good", json!({})).await;
    assert_eq!(first.outcome, Outcome::OutcomeUnknown, "{first:?}");
    let status = attached.wait_for_status(|status| !status.is_connected).await;

    assert!(status.error.is_some() && status.items.len() == 1, "{status:?}");
    let asked = site.requests().len();
    let calls = |asked: usize| {
        site.requests().iter().skip(asked).filter(|it| it.method() == "tools/call").count()
    };

    let second = call(&registry, "shop_good", json!({})).await;
    assert!(second.text().contains("`shop` is not connected"), "{second:?}");
    assert_eq!((second.outcome, calls(asked)), (Outcome::Failed, 0));

    is_dead.store(false, Ordering::SeqCst);

    attached.wait_for_status(|status| status.is_connected).await;
    assert_eq!(call(&registry, "shop_good", json!({})).await.text(), "fine");
    attached.detach().await;
}

#[tokio::test]
async fn a_second_server_with_the_same_prefix_is_refused_until_the_first_is_gone() {
    let (registry, other) = (Registry::new(), Registry::new());
    let first = scripted_server("shop", "").attach(&registry).await.unwrap();
    let error = scripted_server("store", "").prefix("shop").attach(&registry).await.unwrap_err();
    assert!(
        matches!(&error, AttachError::PrefixTaken { holder, .. } if holder == "shop"),
        "{error}"
    );
    let elsewhere = scripted_server("shop", "").attach(&other).await.unwrap();
    first.detach().await;
    let again = scripted_server("store", "").prefix("shop").attach(&registry).await.unwrap();
    assert!(registry.get("shop_add").is_some());
    again.detach().await;
    elsewhere.detach().await;
}

#[tokio::test]
async fn a_program_that_leaves_at_the_newer_greeting_is_greeted_in_the_older_way() {
    let registry = Registry::new();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/main/client/scripted.py");
    let attach = RemoteServer::command("shop", "python3", [script, "prim"]);
    let attached = attach.attach(&registry).await.unwrap();
    assert_eq!(attached.status().revision.as_deref(), Some("2025-11-25"));
    attached.detach().await;
}

#[tokio::test]
async fn dropped_it_takes_its_tools_along() {
    let registry = Registry::new();
    let attached = scripted_server("shop", "").attach(&registry).await.unwrap();
    let add = registry.get("shop_add").unwrap();
    drop(attached);
    assert!(names(&registry).is_empty());
    // A call of the removed tool is a failure.
    registry.add(add).unwrap();
    let result = call(&registry, "shop_add", json!({"a": 1, "b": 1})).await;
    assert!(result.text().contains("was detached"), "{result:?}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_program_ends_with_its_attachment() {
    let registry = Registry::new();
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("alive");
    // The program, and what it starts, hold one end of a pipe: reading the other ends when all of them have.
    let status = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    assert!(status.success());
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/main/client/scripted.py");
    let line = format!("exec 9>'{}'; sleep 1000 & exec python3 '{script}'", pipe.display());
    let reader = tokio::task::spawn_blocking(move || std::fs::read(pipe));
    let attach = RemoteServer::command("shop", "sh", ["-c", line.as_str()]).revision("2025-11-25");
    let attached = attach.attach(&registry).await.unwrap();
    attached.detach().await;
    reader.await.unwrap().unwrap();
}
