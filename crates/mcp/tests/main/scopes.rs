//! What a token's scopes open: in lists and in calls, for tools, prompts and resources.

use serde_json::{Value, json};
use test_support_mcp::client::{
    HttpAnswer, RawConnection, RunningServer, http_request, send, serve, stateless_request,
};
use test_support_mcp::tools::{Kit, kit, server, text};
use toolwright::{Caller, Secret, prompt, tool};
use toolwright_mcp::{
    Claims, ClientPeer, McpServer, McpServerBuilder, ResourceServer, ScopeRule, ServedResource,
    StaticTokens,
};

use crate::oauth::{HERE, ISSUER, with};

/// Says who calls, and what they were granted.
#[tool(read_only)]
fn whoami(caller: Caller, client: ClientPeer) -> String {
    let scopes: Vec<&str> = client.scopes().collect();
    format!("{} {}", caller.name().unwrap_or("-"), scopes.join(","))
}

/// What is written down.
#[tool(read_only)]
fn notes() -> &'static str {
    "nothing"
}

/// What is kept under lock and key.
#[tool]
fn ledger() -> &'static str {
    "much"
}

/// Writes the files of everybody.
#[tool(destructive)]
fn format_disk() -> &'static str {
    "gone"
}

/// Greets.
#[prompt]
fn greeting() -> &'static str {
    "Hello"
}

/// Tokens are the names of their callers and scopes: `ada.read.write`.
fn table() -> StaticTokens {
    let all = ["ada", "ada.read", "ada.read.write", "bob.read", "ada.all", "ada.read.unknown"];
    all.iter().fold(StaticTokens::new(), |table, token| {
        let mut parts = token.split('.');
        let claims = Claims::new(parts.next().unwrap_or_default(), [HERE]).scopes(parts);
        table.token(&Secret::new(*token), claims)
    })
}

/// A server where `read` grants read-only tools, `write` some more, `all` nearly everything.
pub(crate) fn scoped(kit: &Kit) -> McpServer {
    with_scopes(kit, server(kit)).build().unwrap()
}

/// Adds an authorization server, its scopes, and what they open.
pub(crate) fn with_scopes(kit: &Kit, server: McpServerBuilder) -> McpServerBuilder {
    kit.registry.add(vec![whoami::tool(), format_disk::tool()]).unwrap();
    let oauth = ResourceServer::new(HERE, table())
        .authorization_server(ISSUER)
        .scope("all", ScopeRule::matching(|spec| spec.name != *"format_disk"))
        .scope("read", ScopeRule::read_only())
        .scope("write", ScopeRule::names(["fail", "erase", "ledger", "wait"]))
        .implies("all", ["read"]);
    server
        .oauth(oauth)
        .resource(ServedResource::new("shop://notes", notes::tool()))
        .resource(ServedResource::new("shop://ledger", ledger::tool()))
}

async fn ask(served: &RunningServer, token: &str, method: &str, params: Value) -> HttpAnswer {
    send(served.addr, with(token, &stateless_request(1, method, params))).await
}

fn names(answer: &HttpAnswer, list: &str) -> Vec<String> {
    let result = answer.json()["result"][list].clone();
    let all = result.as_array().unwrap_or_else(|| panic!("{answer:?}"));
    let name = |it: &Value| it["name"].as_str().unwrap().to_owned();
    all.iter().map(name).collect()
}

const READ: [&str; 6] = ["add", "sum", "below", "mixed", "session", "whoami"];

#[tokio::test]
async fn a_list_shows_what_the_scopes_open() {
    let kit = kit();
    let served = serve(&scoped(&kit)).await;
    let mut written = READ.to_vec();
    written.splice(4..4, ["fail"]);
    written.splice(6..6, ["erase", "wait"]);
    for (token, wanted) in [
        ("ada", &[][..]),
        ("ada.read", &READ[..]),
        ("ada.read.unknown", &READ[..]),
        ("bob.read", &READ[..]),
        ("ada.read.write", &written),
    ] {
        let listed = names(&ask(&served, token, "tools/list", json!({})).await, "tools");
        assert_eq!(listed, wanted, "{token}");
    }
    let all = names(&ask(&served, "ada.all", "tools/list", json!({})).await, "tools");
    assert!(all.contains(&"steps".to_owned()) && !all.contains(&"format_disk".to_owned()));
}

#[tokio::test]
async fn what_is_not_listed_is_not_callable_either() {
    let kit = kit();
    let served = serve(&scoped(&kit)).await;
    let call = |token, name: &str| {
        ask(&served, token, "tools/call", json!({ "name": name, "arguments": {} }))
    };
    let answer = call("ada.read.write", "fail").await;
    assert_eq!(answer.status, 200, "{answer:?}");
    // The least privileged scope is required, not the one that grants everything.
    for name in ["fail", "Fail"] {
        let answer = call("ada.read", name).await;
        assert_eq!(answer.status, 403, "{answer:?}");
        let challenge = answer.header("www-authenticate").unwrap();
        for part in [r#"error="insufficient_scope""#, r#"scope="write""#, "resource_metadata="] {
            assert!(challenge.contains(part), "{challenge}");
        }
    }
    // A tool that no scope grants is answered like an unknown one.
    let closed = call("ada.all", "format_disk").await;
    let unknown = call("ada.all", "format_dish").await;
    assert_eq!((closed.status, closed.code()), (200, -32602));
    let error_message = |answer: &HttpAnswer| answer.json()["error"]["message"].to_string();
    assert_eq!(error_message(&closed).replace("disk", "dish"), error_message(&unknown));
    let near = call("ada.read", "fial").await;
    assert!(!near.body.contains("fail") && near.body.contains("add"), "{near:?}");
}

#[tokio::test]
async fn tools_meet_the_caller_and_the_scopes_but_not_the_token() {
    let kit = kit();
    let served = serve(&scoped(&kit)).await;
    let answer = ask(&served, "ada.all", "tools/call", json!({ "name": "whoami" })).await;
    assert_eq!(text(&answer.json()["result"]), "ada all,read");
}

#[tokio::test]
async fn prompts_and_resources_are_opened_likewise() {
    let kit = kit();
    kit.registry.add(greeting::prompt()).unwrap();
    let served = serve(&scoped(&kit)).await;
    for (token, prompts, resources) in [
        ("ada", &[][..], &[][..]),
        ("ada.read", &["greeting"], &["notes"]),
        ("ada.all", &["greeting"], &["notes", "ledger"]),
    ] {
        let listed = ask(&served, token, "prompts/list", json!({})).await;
        assert_eq!(names(&listed, "prompts"), prompts, "{token}");
        let listed = ask(&served, token, "resources/list", json!({})).await;
        assert_eq!(names(&listed, "resources"), resources, "{token}");
    }
    let answer = ask(&served, "ada", "prompts/get", json!({ "name": "greeting" })).await;
    assert_eq!(answer.status, 403, "{answer:?}");
    let read = |token, uri: &str| {
        let body = test_support_mcp::client::stateless_body(
            1,
            "resources/read",
            json!({ "uri": uri }),
            json!({}),
        );
        let headers = [
            ("MCP-Protocol-Version", "2026-07-28"),
            ("Mcp-Method", "resources/read"),
            ("Mcp-Name", uri),
        ];
        send(served.addr, with(token, &http_request("POST", &headers, &body.to_string())))
    };
    assert_eq!(read("ada.read", "shop://notes").await.status, 200);
    let answer = read("ada.read", "shop://ledger").await;
    assert_eq!(answer.status, 403, "{answer:?}");
    assert!(answer.header("www-authenticate").unwrap().contains(r#"scope="write""#));
}

#[tokio::test]
async fn who_listens_hears_of_what_they_see() {
    let kit = kit();
    let served = serve(&scoped(&kit)).await;
    let listen = json!({ "notifications": { "toolsListChanged": true } });
    let mut wire = RawConnection::open(served.addr).await;
    wire.send(with("ada.read", &stateless_request(7, "subscriptions/listen", listen))).await;
    wire.until("acknowledged").await;
    // Its removal is invisible with `read`: the next notification is of a tool that `read` grants.
    kit.registry.remove("erase").unwrap();
    let call = ask(&served, "ada.read", "tools/list", json!({})).await;
    assert_eq!(names(&call, "tools"), READ);
    kit.registry.remove("add").unwrap();
    wire.until("tools/list_changed").await;
    let listed = ask(&served, "ada.read", "tools/list", json!({})).await;
    assert_eq!(names(&listed, "tools"), READ[1..]);
}

#[tokio::test]
async fn cursors_lead_through_what_is_open() {
    let kit = kit();
    kit.registry.add(whoami::tool()).unwrap();
    let oauth = ResourceServer::new(HERE, table())
        .authorization_server(ISSUER)
        .scope("read", ScopeRule::read_only());
    let server = server(&kit).oauth(oauth).limits(|limits| limits.page_size = 4);
    let served = serve(&server.build().unwrap()).await;
    let first = ask(&served, "ada.read", "tools/list", json!({})).await;
    assert_eq!(names(&first, "tools"), READ[..4]);
    let cursor = first.json()["result"]["nextCursor"].clone();
    // Between two pages something closed comes and goes.
    kit.registry.remove("fail").unwrap();
    let next = ask(&served, "ada.read", "tools/list", json!({ "cursor": cursor })).await;
    assert_eq!(names(&next, "tools"), READ[4..]);
    assert!(next.json()["result"].get("nextCursor").is_none());
    let other = ask(&served, "ada", "tools/list", json!({ "cursor": cursor })).await;
    assert!(names(&other, "tools").is_empty());
}
