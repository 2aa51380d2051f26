//! What clients read by its address.

use serde_json::json;
use test_support_mcp::client::{
    RawConnection, http_request, open_session, post, request, send, serve, stateless_body,
    stateless_request,
};
use test_support_mcp::tools::{kit, server};
use toolwright::{Content, Tool, ToolError, tool};
use toolwright_mcp::{McpServer, ServedResource};

/// What was written on a day.
#[tool(read_only)]
fn notes(day: String) -> Result<Vec<Content>, ToolError> {
    match day.as_str() {
        "monday" => Ok(vec![Content::text("rain"), Content::image("image/png", b"\x89PNG")]),
        _ => Err(ToolError::failed("nothing was written then")),
    }
}

fn with_notes(tool: Tool) -> McpServer {
    let resource = ServedResource::new("notes://{day}", tool).mime_type("text/plain");
    server(&kit()).resource(resource).build().unwrap()
}

fn read(uri: &str) -> String {
    let body = stateless_body(1, "resources/read", json!({ "uri": uri }), json!({}));
    let headers = [
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "resources/read"),
        ("Mcp-Name", uri),
    ];
    http_request("POST", &headers, &body.to_string())
}

#[tokio::test]
async fn a_resource_is_what_its_tool_returns_and_the_tool_is_not_listed() {
    let served = serve(&with_notes(notes::tool())).await;
    let response =
        send(served.addr, stateless_request(1, "resources/templates/list", json!({}))).await.json();
    let listed = &response["result"]["resourceTemplates"][0];
    assert_eq!(
        (&listed["uriTemplate"], &listed["name"]),
        (&json!("notes://{day}"), &json!("notes"))
    );
    let response = send(served.addr, stateless_request(1, "tools/list", json!({}))).await;
    assert!(!response.body.contains("notes"), "{response:?}");
    let response = send(served.addr, read("notes://monday")).await.json();
    let contents = json!([
        { "uri": "notes://monday", "mimeType": "text/plain", "text": "rain" },
        { "uri": "notes://monday", "mimeType": "image/png", "blob": "iVBORw==" },
    ]);
    assert_eq!(response["result"]["contents"], contents);
    let response = send(served.addr, read("notes://sunday")).await;
    assert_eq!(response.code(), -32603, "{response:?}");
    let response = send(served.addr, read("elsewhere://monday")).await;
    assert_eq!(response.code(), -32602, "{response:?}");
    assert_eq!(response.json()["error"]["data"]["uri"], "elsewhere://monday");
}

#[tokio::test]
async fn whoever_watches_a_resource_hears_that_it_has_changed() {
    let server = with_notes(notes::tool());
    let served = serve(&server).await;
    let mut wire = RawConnection::open(served.addr).await;
    let filter = json!({ "notifications": { "resourceSubscriptions": ["notes://monday"] } });
    wire.send(stateless_request(1, "subscriptions/listen", filter)).await;
    wire.until("acknowledged").await;
    wire.until("}\n\n").await;
    let session = open_session(served.addr, "2025-11-25", json!({})).await;
    let headers = [("Mcp-Session-Id", session.as_str())];
    let watch = request(1, "resources/subscribe", json!({ "uri": "notes://tuesday" }));
    assert_eq!(post(served.addr, &headers, &watch).await.json()["result"], json!({}));
    let mut standing = RawConnection::open(served.addr).await;
    standing.send(http_request("GET", &headers, "")).await;
    standing.until(":\n\n").await;
    server.resource_updated("notes://tuesday");
    server.resource_updated("notes://monday");
    let heard = wire.until("}\n\n").await;
    assert!(heard.contains("notes://monday") && !heard.contains("tuesday"), "{heard}");
    let heard = standing.until("}\n\n").await;
    assert!(heard.contains("notes://tuesday"), "{heard}");
}
