//! OAuth tokens: their scopes hold at every path.

use serde_json::json;
use toolwright::testing::FnModel;
use toolwright::{Secret, Tool, ToolError};
use toolwright_mcp::{Claims, ResourceServer, ScopeRule, StaticTokens};
use toolwright_server::ServerBuilder;

use crate::approvals::{Payments, payment_tool};
use crate::support::{SseEvents, invoker, joined_text, serve};

const HERE: &str = "http://localhost/mcp";
const TOKEN: &str = "a-token-that-may-only-look";

fn oauth() -> ResourceServer {
    let claims = Claims::new("ada", [HERE]).scopes(["look"]);
    let table = StaticTokens::new().token(&Secret::new(TOKEN), claims);
    ResourceServer::new(HERE, table)
        .authorization_server("https://login.example")
        .scope("look", ScopeRule::read_only())
        .scope("all", ScopeRule::all())
}

#[tokio::test]
async fn a_read_only_scope_lists_and_calls_only_read_only_tools() {
    let look = Tool::builder("look", "Looks.").read_only(true);
    let look = look.run(|_, _| Ok::<_, ToolError>("seen")).unwrap();
    let model = FnModel::new(|request| {
        let names = request.tools.iter().map(|tool| tool.spec().name.to_string());
        names.collect::<Vec<_>>().join(" ")
    });
    let paid = Payments::default();
    let server = ServerBuilder::new(invoker(vec![look, payment_tool(&paid)]), model);
    let server = server.warnings(|| vec!["the tool `pay` is hidden".to_owned()]);
    let server = serve(server.configure_auth(|guard| guard.oauth(oauth()))).await;
    let with = |method: &str, path: &str| {
        let request = server.request(method, path);
        let request = request.header("authorization", format!("Bearer {TOKEN}"));
        request.header("content-type", "application/json")
    };
    assert_eq!(server.get("/api/tools").await.status, 401);
    let tools = server.send(with("GET", "/api/tools"), "").await.json();
    let names: Vec<_> = tools.as_array().unwrap().iter().map(|it| &it["name"]).collect();
    assert_eq!(names, [&json!("look")]);
    let found = server.send(with("GET", "/api/tools?search=pay%20euros%20look"), "").await.json();
    assert_eq!(found.as_array().unwrap().len(), 1, "{found}");
    assert_eq!(found[0]["name"], "look");
    let info = server.send(with("GET", "/api/info"), "").await.json();
    assert_eq!(info["warnings"], json!([]), "they name tools of others");
    assert!(info.get("principal").is_none(), "the caller is described at one place: {info}");
    let me = server.send(with("GET", "/api/me"), "").await.json();
    assert_eq!((&me["subject"], &me["scopes"]), (&json!("ada"), &json!(["look"])));
    let pay = r#"{"arguments":{"euros":5},"confirmed":true}"#;
    assert_eq!(server.send(with("POST", "/api/tools/pay"), pay).await.status, 404);
    let path = "/api/conversations/c";
    let response = server.send(with("POST", &format!("{path}/prompt")), r#"{"text":"Hi"}"#).await;
    let after = response.json()["seq"].as_u64().unwrap();
    let events = with("GET", &format!("{path}/events?after={after}"));
    let mut events = SseEvents::new(server.open(events, "").await);
    assert_eq!(joined_text(&events.collect_turn().await), "look");
    assert!(paid.lock().unwrap().is_empty());
    let known = server.get("/.well-known/oauth-protected-resource").await;
    assert_eq!(known.status, 200, "{known:?}");
}
