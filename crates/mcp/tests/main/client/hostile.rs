//! A server at an address that means harm: each leaves a clear error, and a process that goes on.

use std::time::Duration;

use serde_json::{Value, json};
use toolwright_core::{Outcome, Registry, Secret};
use toolwright_mcp::{AttachError, RemoteServer, Trust};

use super::http_server::{
    ReceivedRequest, ScriptedHttpServer, ScriptedResponse, discover_response, list_response,
    text_result, tool,
};
use super::scripted::{short_timeout_limits, small_limits};
use super::support::{call, names};

fn at(site: &ScriptedHttpServer) -> RemoteServer {
    RemoteServer::url("evil", &site.url).trust(Trust::Calls).limits(small_limits())
}

async fn refused(site: &ScriptedHttpServer) -> AttachError {
    let registry = Registry::new();
    let error = at(site).attach(&registry).await.expect_err("refused");
    assert!(names(&registry).is_empty(), "nothing is left of it");
    error
}

/// Attaches a server with one good tool beside others, and sees that it works.
async fn still_works(site: &ScriptedHttpServer) -> Registry {
    let registry = Registry::new();
    let attached = at(site).attach(&registry).await.expect("attached");
    let result = call(&registry, "evil_good", json!({})).await;
    assert_eq!(result.text(), "fine", "{result:?}");
    attached.detach().await;
    registry
}

fn fine(asked: &ReceivedRequest) -> ScriptedResponse {
    asked.result(text_result("fine"))
}

#[tokio::test]
async fn more_tools_than_are_read_are_an_error() {
    let tools: Value = (0..51).map(|n| tool(&format!("t{n}"))).collect();
    let site = ScriptedHttpServer::with_tools(tools, fine).await;
    let error = refused(&site).await;
    assert!(matches!(error, AttachError::ListTooLarge { what: "tools", limit: 50, .. }), "{error}");
}

#[tokio::test]
async fn more_bytes_than_are_read_are_an_error() {
    let mut big = tool("big");
    big["description"] = json!("x".repeat(300 << 10));
    let site = ScriptedHttpServer::with_tools(json!([big]), fine).await;
    let error = refused(&site).await;
    assert!(matches!(error, AttachError::ListTooLarge { what: "bytes", .. }), "{error}");
}

#[tokio::test]
async fn pages_without_an_end_are_an_error() {
    let site = ScriptedHttpServer::open(|asked| match asked.method() {
        "server/discover" => discover_response(asked),
        _ => {
            let page = asked.message["params"]["cursor"].as_str().unwrap_or("0").len();
            asked.result(json!({"tools": [], "nextCursor": "x".repeat(page + 1), "ttlMs": 0, "cacheScope": "private"}))
        }
    })
    .await;
    let error = refused(&site).await;
    assert!(matches!(error, AttachError::ListTooLarge { what: "pages", limit: 10, .. }), "{error}");
}

#[tokio::test]
async fn an_endless_list_is_an_error() {
    let site = ScriptedHttpServer::open(|asked| match asked.method() {
        "server/discover" => discover_response(asked),
        _ => ScriptedResponse::Endless(
            "application/json",
            r#"{"jsonrpc":"2.0","id":1,"result":{"tools":["#,
            r#"{"name":"a"},"#,
        ),
    })
    .await;
    let error = refused(&site).await.to_string();
    assert!(error.contains("more than 1048576 bytes"), "{error}");
}

#[tokio::test]
async fn recursive_and_deep_schemas_cost_at_most_their_own_tool() {
    let mut deep = json!({"type": "object"});
    for _ in 0..60 {
        deep = json!({"type": "object", "properties": {"in": deep}});
    }
    let with = |name: &str, schema: Value| {
        let mut tool = tool(name);
        tool["inputSchema"] = schema;
        tool
    };
    let tools = json!([
        with("itself", json!({"type": "object", "properties": {"child": {"$ref": "#"}}})),
        with("nothing_but_itself", json!({"$ref": "#"})),
        with(
            "each_other",
            json!({"type": "object", "$ref": "#/$defs/a",
            "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}})
        ),
        with("deep", deep),
        with(
            "far_away",
            json!({"type": "object", "properties": {"a": {"$ref": "https://evil.example/schema"}}})
        ),
        with("no_schema", json!("everything")),
        tool("good"),
    ]);
    let site = ScriptedHttpServer::with_tools(tools, fine).await;
    let registry = Registry::new();
    let attached = at(&site).attach(&registry).await.expect("attached");
    let shown = names(&registry);
    assert!(
        shown.contains(&"evil_good".to_owned()) && shown.contains(&"evil_itself".to_owned()),
        "{shown:?}"
    );
    assert!(!shown.contains(&"evil_far_away".to_owned()), "nothing is fetched: {shown:?}");
    assert!(!shown.contains(&"evil_no_schema".to_owned()), "{shown:?}");
    let notes = attached.status().notes.join("\n");
    assert!(
        notes.contains("`far_away` is left out") && notes.contains("`no_schema` is left out"),
        "{notes}"
    );
    for name in &shown {
        // None of them hangs or ends the process, whatever it makes of the arguments.
        call(&registry, name, json!({"child": {"child": {}}})).await;
    }
    attached.detach().await;
    still_works(&site).await;
}

#[tokio::test]
async fn a_server_that_never_answers_is_given_up() {
    let site = ScriptedHttpServer::open(|_| ScriptedResponse::Silence).await;
    let attach = RemoteServer::url("evil", &site.url).limits(short_timeout_limits());
    let error = attach.attach(&Registry::new()).await.expect_err("given up");
    assert!(matches!(error, AttachError::TimedOut { .. }), "{error}");
}

#[tokio::test]
async fn a_call_that_is_never_answered_times_out() {
    let site = ScriptedHttpServer::with_tools(json!([tool("good"), tool("bad")]), |asked| {
        match asked.message["params"]["name"].as_str() {
            Some("bad") => ScriptedResponse::Silence,
            _ => fine(asked),
        }
    })
    .await;
    let registry = Registry::new();
    let attached =
        at(&site).timeout(Duration::from_secs(2)).attach(&registry).await.expect("attached");
    assert_eq!(call(&registry, "evil_bad", json!({})).await.outcome, Outcome::TimedOut);
    assert_eq!(call(&registry, "evil_good", json!({})).await.text(), "fine");
    attached.detach().await;
}

#[tokio::test]
async fn noise_instead_of_an_answer_is_an_error() {
    for (kind, noise) in [
        ("text/html", "<html>log in</html>"),
        ("application/json", "noise, password=hunter2"),
        ("application/json", r#"{"jsonrpc": "2.0"}"#),
        ("application/json", "[]"),
        ("text/event-stream", "data: noise\n\n"),
        ("text/event-stream", ""),
    ] {
        let site = ScriptedHttpServer::open(move |_| {
            let length = noise.len().to_string();
            ScriptedResponse::Raw(format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{noise}"))
        })
        .await;
        let error = refused(&site).await.to_string();
        assert!(
            error.starts_with("server `evil`") && !error.contains("hunter2"),
            "{kind}: {error}"
        );
    }
}

#[tokio::test]
async fn half_an_answer_is_an_error() {
    let site = ScriptedHttpServer::open(|_| ScriptedResponse::Half).await;
    let error = refused(&site).await;
    assert!(matches!(error, AttachError::Connect { .. }), "{error}");
}

#[tokio::test]
async fn noise_in_a_call_costs_that_call_only() {
    let site = ScriptedHttpServer::with_tools(
        json!([tool("good"), tool("html"), tool("half"), tool("json"), tool("status")]),
        |asked| match asked.message["params"]["name"].as_str() {
            Some("html") => ScriptedResponse::Status(200, Vec::new(), "<html>".to_owned()),
            Some("half") => ScriptedResponse::Half,
            Some("json") => ScriptedResponse::Json(
                json!({"jsonrpc": "2.0", "id": asked.message["id"], "result": 42}),
            ),
            Some("status") => {
                ScriptedResponse::Status(500, Vec::new(), "password=hunter2".to_owned())
            }
            _ => fine(asked),
        },
    )
    .await;
    let registry = Registry::new();
    let attached = at(&site).attach(&registry).await.expect("attached");
    for name in ["html", "half", "json", "status"] {
        let result = call(&registry, &format!("evil_{name}"), json!({})).await;
        assert!(result.is_error() && result.text().contains("`evil`"), "{name}: {result:?}");
        assert!(!result.text().contains("hunter2"), "{result:?}");
        attached.wait_for_status(|status| status.is_connected).await;
        assert_eq!(call(&registry, "evil_good", json!({})).await.text(), "fine", "after {name}");
    }
    attached.detach().await;
}

#[tokio::test]
async fn a_result_without_an_end_is_a_failed_call() {
    let site = ScriptedHttpServer::with_tools(
        json!([tool("good"), tool("json"), tool("event"), tool("events")]),
        |asked| match asked.message["params"]["name"].as_str() {
            Some("json") => ScriptedResponse::Endless(
                "application/json",
                r#"{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":""#,
                "x",
            ),
            Some("event") => ScriptedResponse::Endless("text/event-stream", "data: ", "x"),
            Some("events") => ScriptedResponse::Endless("text/event-stream", "", ": nothing\n\n"),
            _ => fine(asked),
        },
    )
    .await;
    let registry = Registry::new();
    let attached =
        at(&site).timeout(Duration::from_secs(5)).attach(&registry).await.expect("attached");
    for name in ["json", "event", "events"] {
        let result = call(&registry, &format!("evil_{name}"), json!({})).await;
        assert!(result.is_error(), "{name}: {result:?}");
        attached.wait_for_status(|status| status.is_connected).await;
        assert_eq!(call(&registry, "evil_good", json!({})).await.text(), "fine", "after {name}");
    }
    attached.detach().await;
}

#[tokio::test]
async fn what_a_server_says_went_wrong_is_bounded_and_without_secrets() {
    let site = ScriptedHttpServer::with_tools(json!([tool("good")]), |asked| {
        let message = format!("no\u{1b}[31m, password=hunter2 {}", "x".repeat(100_000));
        ScriptedResponse::Json(json!({"jsonrpc": "2.0", "id": asked.message["id"], "error": {"code": -32000, "message": message}}))
    })
    .await;
    let registry = Registry::new();
    let attached = at(&site).attach(&registry).await.expect("attached");
    let result = call(&registry, "evil_good", json!({})).await;
    assert_eq!(result.outcome, Outcome::Failed);
    let text = result.text();
    assert!(
        text.contains("refused the call: no[31m, password=***") && text.len() < 1_000,
        "{text}"
    );
    attached.detach().await;
}

#[tokio::test]
async fn authorization_is_not_taken_elsewhere() {
    let elsewhere = ScriptedHttpServer::with_tools(json!([tool("good")]), fine).await;
    let to = elsewhere.url.clone();
    let site = ScriptedHttpServer::open(move |_| {
        ScriptedResponse::Status(307, vec![("location", to.clone())], String::new())
    })
    .await;
    let registry = Registry::new();
    let attach = at(&site).authorization(Secret::new("Bearer hunter2"));
    let error = attach.attach(&registry).await.expect_err("not followed").to_string();
    assert!(error.contains("307"), "{error}");
    assert!(elsewhere.requests().is_empty());
    let sent = site.requests();
    assert!(sent.iter().all(|asked| asked.headers["authorization"] == "Bearer hunter2"));
}

#[tokio::test]
async fn a_server_that_wants_authorization_says_so() {
    let site = ScriptedHttpServer::open(|_| {
        let challenge = vec![("www-authenticate", "Bearer realm=\"x\"".to_owned())];
        ScriptedResponse::Status(401, challenge, String::new())
    })
    .await;
    let error = refused(&site).await;
    assert!(matches!(error, AttachError::Unauthorized { .. }), "{error}");
}

#[tokio::test]
async fn an_older_server_is_asked_in_the_older_way() {
    let site = ScriptedHttpServer::open(|asked| match asked.method() {
        "server/discover" => ScriptedResponse::Status(400, Vec::new(), "what?".to_owned()),
        "initialize" => asked
            .result(json!({"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
            "serverInfo": {"name": "old", "version": "1"}})),
        "tools/list" => list_response(asked, &json!([tool("good")])),
        "tools/call" => fine(asked),
        _ => ScriptedResponse::Status(202, Vec::new(), String::new()),
    })
    .await;
    let registry = still_works(&site).await;
    assert!(names(&registry).is_empty());
}
