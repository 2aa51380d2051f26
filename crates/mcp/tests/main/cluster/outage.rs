//! The bus or the shared state is away: a clear error in time, and what needs neither goes on.

use std::time::Duration;

use serde_json::json;
use test_support_mcp::client::{
    assert_healthy, http_request, initialize, request, stateless_request, stateless_request_with,
};
use test_support_mcp::tools::text;

use super::answers::{answer, call_erase};
use super::nodes::{Fault, Nodes, await_announcements, last_event_id, nodes, nodes_with};

/// Two nodes that do not wait for long.
async fn impatient_nodes() -> Nodes {
    nodes_with(|_, server| {
        server.limits(|limits| limits.cluster_timeout = Duration::from_millis(200))
    })
    .await
}

type Break = fn(&Fault, bool);

/// Both ways to be away: with an error, and without any answer.
const BREAKS: [Break; 2] = [|fault, on| fault.set_away(on), |fault, on| fault.set_silent(on)];

#[tokio::test]
async fn without_the_shared_state_known_sessions_go_on_and_others_are_put_off() {
    for break_it in BREAKS {
        let nodes = impatient_nodes().await;
        let session = nodes.a.open_session("2025-11-25", json!({})).await;
        break_it(&nodes.state.fault, true);
        let answer = nodes.a.send(session.call(1, "add", json!({ "a": 2, "b": 3 }))).await;
        assert_eq!(text(&answer.json()["result"]), "5", "{answer:?}");
        assert_healthy(nodes.a.served.addr).await;
        assert_healthy(nodes.b.served.addr).await;
        let hello = initialize("2025-11-25", json!({})).to_string();
        for (node, put_off) in [
            (&nodes.a, http_request("POST", &[], &hello)),
            (&nodes.b, http_request("POST", &[], &hello)),
            (&nodes.b, session.ping()),
            (&nodes.b, session.get()),
            (&nodes.b, session.post(&json!([request(1, "ping", json!({}))]))),
            (&nodes.a, session.delete()),
        ] {
            let answer = node.send(put_off).await;
            assert_eq!((answer.status, answer.code()), (503, -32603), "{answer:?}");
            assert_eq!(answer.header("retry-after"), Some("1"));
            assert!(answer.body.contains("try again"), "{answer:?}");
        }
        let level = request(1, "logging/setLevel", json!({ "level": "error" }));
        let answer = nodes.a.send(session.post(&level)).await;
        assert_eq!((answer.status, answer.code()), (200, -32603), "{answer:?}");
        // When it is back, the session is there for both.
        break_it(&nodes.state.fault, false);
        for node in [&nodes.a, &nodes.b] {
            assert_eq!(node.send(session.ping()).await.status, 200);
        }
    }
}

#[tokio::test]
async fn without_the_shared_state_nothing_is_approved() {
    for break_it in BREAKS {
        let nodes = impatient_nodes().await;
        let able = json!({ "elicitation": {} });
        let mut params = json!({ "name": "erase", "arguments": { "path": "/x" } });
        let call = |params| stateless_request_with(1, "tools/call", params, able.clone());
        let asked = nodes.a.send(call(params.clone())).await.json();
        params["requestState"] = asked["result"]["requestState"].clone();
        params["inputResponses"] = json!({ "toolwright/approval": { "action": "accept" } });
        break_it(&nodes.state.fault, true);
        let denied = nodes.a.send(call(params.clone())).await.json();
        assert!(text(&denied["result"]).contains("denied"), "{denied}");
        // B does not have the key yet.
        let put_off = nodes.b.send(call(params.clone())).await;
        assert_eq!((put_off.status, put_off.code()), (503, -32603), "{put_off:?}");
        break_it(&nodes.state.fault, false);
        let erased = nodes.b.send(call(params)).await.json();
        assert_eq!(text(&erased["result"]), "erased /x", "{erased}");
    }
}

#[tokio::test]
async fn without_the_bus_calls_are_answered_and_what_another_node_needs_is_put_off() {
    for break_it in BREAKS {
        let nodes = impatient_nodes().await;
        let session = nodes.a.open_session("2025-11-25", json!({ "elicitation": {} })).await;
        let (mut stream, id) = call_erase(&nodes.a, &session).await;
        let read = stream.until("\n\n").await;
        assert!(read.contains("requestedSchema"), "{read}");
        nodes.b.send(session.ping()).await;
        break_it(&nodes.b.bus, true);
        let called = nodes.b.send(session.call(1, "add", json!({ "a": 2, "b": 3 }))).await;
        assert_eq!(text(&called.json()["result"]), "5", "{called:?}");
        let accept = answer(&session, &id, &json!({ "action": "accept" }));
        let put_off = nodes.b.send(&accept).await;
        assert_eq!((put_off.status, put_off.code()), (503, -32603), "{put_off:?}");
        let node = id.trim_matches('"').split('-').next().unwrap();
        let resumed = nodes.b.send(session.resume(&format!("{node}-0-0-NA"))).await;
        assert_eq!((resumed.status, resumed.code()), (503, -32603), "{resumed:?}");
        // The client tries again when it is back.
        break_it(&nodes.b.bus, false);
        assert_eq!(nodes.b.send(&accept).await.status, 202);
        stream.until("erased /x").await;
    }
}

#[tokio::test]
async fn a_call_that_cannot_be_cancelled_now_is_reported() {
    let nodes = impatient_nodes().await;
    let session = nodes.a.open_session("2025-11-25", json!({})).await;
    let params = json!({ "requestId": 9 });
    let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
    nodes.b.bus.set_away(true);
    let answer = nodes.b.send(session.post(&cancel)).await;
    assert_eq!((answer.status, answer.code()), (503, -32603), "{answer:?}");
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(nodes.b.send(session.post(&initialized)).await.status, 202);
}

#[tokio::test]
async fn what_was_missed_in_a_gap_is_read_from_the_shared_state() {
    let nodes = nodes().await;
    let ended = nodes.a.open_session("2025-11-25", json!({})).await;
    let changed = nodes.a.open_session("2025-11-25", json!({})).await;
    let steps = changed.call(1, "steps", json!({}));
    assert!(nodes.a.send(&steps).await.body.contains("notifications/message"));
    nodes.b.bus.set_silent(true);
    assert_eq!(nodes.b.send(ended.delete()).await.status, 204);
    let level = request(1, "logging/setLevel", json!({ "level": "emergency" }));
    assert_eq!(nodes.b.send(changed.post(&level)).await.status, 200);
    nodes.b.bus.set_silent(false);
    await_announcements(&nodes.b, &nodes.a).await;
    assert_eq!(nodes.a.send(ended.ping()).await.status, 200, "A does not know yet");
    assert!(nodes.a.send(&steps).await.body.contains("notifications/message"));
    let listen = json!({ "notifications": { "toolsListChanged": true } });
    let listen = stateless_request(1, "subscriptions/listen", listen);
    let mut wire = nodes.a.connect(listen).await;
    wire.until("acknowledged").await;
    nodes.a.gaps.report();
    // Its tools may have changed too.
    wire.until("notifications/tools/list_changed").await;
    while nodes.a.send(ended.ping()).await.status != 404 {
        tokio::task::yield_now().await;
    }
    while nodes.a.send(&steps).await.body.contains("notifications/message") {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_reader_is_served_on_after_the_bus_was_away() {
    let nodes = nodes_with(|_, server| {
        server.limits(|limits| limits.keep_alive_interval = Duration::from_millis(50))
    })
    .await;
    let session = nodes.a.open_session("2025-11-25", json!({ "elicitation": {} })).await;
    let call = session.call(4, "erase", json!({ "path": "/x" }));
    let mut stream = nodes.a.connect(call).await;
    let first = last_event_id(&stream.until("data: \n\n").await);
    let mut following = nodes.b.connect(session.resume(&first)).await;
    let id = super::answers::asked(&mut following, "elicitation/create").await;
    following.until("\n\n").await;
    nodes.b.bus.set_away(true);
    // Comments are sent while there is no event, or a page cannot be read.
    following.until(":\n\n").await;
    following.until(":\n\n").await;
    nodes.b.bus.set_away(false);
    let accept = answer(&session, &id, &json!({ "action": "accept" }));
    assert_eq!(nodes.a.send(accept).await.status, 202);
    following.until("erased /x").await;
}
