//! What is listed, to whom, and in which pages.

use serde_json::{Value, json};
use test_support_mcp::client::{
    http_request, open_session, post, request, send, serve, stateless_request,
};
use test_support_mcp::tools::{kit, server};
use toolwright::{Authorise, Invoker, Registry, Secret, Tool, ToolError};
use toolwright_mcp::{McpServer, Revision};

fn numbered(count: usize) -> Registry {
    let registry = Registry::new();
    let tool = |number: usize| {
        Tool::builder(format!("tool_{number:04}"), "Does nothing.")
            .run(|_, _| Ok::<_, ToolError>("nothing"))
            .unwrap()
    };
    registry.add((0..count).map(tool).collect::<Vec<_>>()).unwrap();
    registry
}

async fn page(addr: std::net::SocketAddr, cursor: Option<&str>) -> (Vec<String>, Option<String>) {
    let params = cursor.map_or(json!({}), |cursor| json!({ "cursor": cursor }));
    let response = send(addr, stateless_request(1, "tools/list", params)).await.json();
    let tools = response["result"]["tools"].as_array().unwrap_or_else(|| panic!("{response}"));
    let names = tools.iter().map(|it| it["name"].as_str().unwrap().to_owned());
    let next = response["result"]["nextCursor"].as_str().map(str::to_owned);
    (names.collect(), next)
}

#[tokio::test]
async fn pages_together_are_the_list_and_stay_so_while_it_changes() {
    let registry = numbered(10);
    let server = McpServer::builder(Invoker::new(&registry).unwrap());
    let server = server.limits(|limits| limits.page_size = 4).build().unwrap();
    let served = serve(&server).await;
    let (first, cursor) = page(served.addr, None).await;
    assert_eq!(first, ["tool_0000", "tool_0001", "tool_0002", "tool_0003"]);
    // What was listed before goes away: the next page still begins after the last.
    registry.remove("tool_0001").unwrap();
    let (second, cursor) = page(served.addr, cursor.as_deref()).await;
    assert_eq!(second, ["tool_0004", "tool_0005", "tool_0006", "tool_0007"]);
    let (third, end) = page(served.addr, cursor.as_deref()).await;
    assert_eq!((third.len(), end), (2, None));
    let wrong =
        send(served.addr, stateless_request(1, "tools/list", json!({ "cursor": "?" }))).await;
    assert_eq!(wrong.code(), -32602);
}

#[tokio::test]
async fn a_caller_sees_and_calls_only_what_is_theirs() {
    let registry = numbered(2);
    let view = registry.all().layer(Authorise::new(|caller, tool| {
        caller.name() == Some("ada") || tool.name == "tool_0000"
    }));
    let server = McpServer::builder(Invoker::new(view).unwrap())
        .token_for("ada", Secret::new("a token of ada's own"))
        .token_for("bob", Secret::new("a token of bob's own"))
        .build()
        .unwrap();
    let served = serve(&server).await;
    for (token, count) in [("a token of ada's own", 2), ("a token of bob's own", 1)] {
        let list = stateless_request(1, "tools/list", json!({}));
        let list = list.replacen("\r\n", &format!("\r\nAuthorization: Bearer {token}\r\n"), 1);
        let response = send(served.addr, list).await.json();
        assert_eq!(response["result"]["tools"].as_array().unwrap().len(), count);
        assert_eq!(response["result"]["cacheScope"], "private");
        let call = stateless_request(1, "tools/call", json!({ "name": "tool_0001" }));
        let call = call.replacen("\r\n", &format!("\r\nAuthorization: Bearer {token}\r\n"), 1);
        let answer = send(served.addr, call).await;
        let refused = answer.json()["result"]["isError"] == true;
        assert_eq!(refused, count == 1, "{answer:?}");
    }
}

#[tokio::test]
async fn each_revision_lists_what_it_knows() {
    let kit = kit();
    let served = serve(&server(&kit).build().unwrap()).await;
    for revision in Revision::ALL {
        let response = if revision.is_stateless() {
            send(served.addr, stateless_request(1, "tools/list", json!({}))).await
        } else {
            let session = open_session(served.addr, revision.as_str(), json!({})).await;
            let list = request(1, "tools/list", json!({}));
            post(served.addr, &[("Mcp-Session-Id", &session)], &list).await
        };
        let response = response.json();
        let find = |name: &str| {
            let tools = response["result"]["tools"].as_array().unwrap().iter();
            tools.clone().find(|tool| tool["name"] == name).unwrap().clone()
        };
        let (sum, below) = (find("sum"), find("below"));
        let structured = revision >= Revision::V2025_06_18;
        assert_eq!(sum.get("title").is_some(), structured);
        assert_eq!(sum.get("outputSchema").is_some(), structured);
        let hints = revision >= Revision::V2025_03_26;
        assert_eq!(sum.get("annotations").is_some(), hints);
        let icon = json!([{ "src": "https://example.com/sum.png" }]);
        let icons = (revision >= Revision::V2025_11_25).then_some(&icon);
        assert_eq!(sum.get("icons"), icons);
        if structured {
            let kind = below["outputSchema"]["type"].as_str().unwrap();
            let expected = if revision.is_stateless() { "array" } else { "object" };
            assert_eq!(kind, expected, "{revision}");
        }
        assert_eq!(sum["inputSchema"]["type"], "object");
    }
}

#[tokio::test]
async fn arguments_are_completed_from_what_their_schema_counts() {
    use toolwright::prompt;

    /// In which words.
    #[derive(serde::Deserialize, toolwright::JsonSchema)]
    #[schemars(crate = "toolwright::schemars")]
    #[serde(rename_all = "snake_case")]
    enum Tone {
        Formal,
        Friendly,
        Rude,
    }

    /// Says something.
    #[prompt]
    fn say(tone: Tone) -> &'static str {
        match tone {
            Tone::Formal => "Good day.",
            Tone::Friendly => "Hello!",
            Tone::Rude => "What?",
        }
    }

    let kit = kit();
    kit.registry.add(say::prompt()).unwrap();
    let served = serve(&server(&kit).build().unwrap()).await;
    let complete = |name: &str, value: &str| {
        json!({
            "ref": { "type": "ref/prompt", "name": name },
            "argument": { "name": "tone", "value": value },
        })
    };
    let response =
        send(served.addr, stateless_request(1, "completion/complete", complete("say", "F"))).await;
    let values: Value = response.json()["result"]["completion"]["values"].clone();
    assert_eq!(values, json!(["formal", "friendly"]));
    let response =
        send(served.addr, stateless_request(1, "completion/complete", complete("sing", ""))).await;
    assert_eq!(response.code(), -32602);
    let params = json!({ "name": "say", "arguments": { "tone": "rude" } });
    let response = send(served.addr, stateless_request(1, "prompts/get", params)).await.json();
    let message = json!({ "role": "assistant", "content": { "type": "text", "text": "What?" } });
    assert_eq!(response["result"]["messages"], json!([message]));
}

#[tokio::test]
async fn who_brings_no_token_is_told_how() {
    let server = server(&kit()).token(Secret::new("sixteen letters!")).build().unwrap();
    let served = serve(&server).await;
    let list = stateless_request(1, "tools/list", json!({}));
    let answer = send(served.addr, &list).await;
    assert_eq!((answer.status, answer.header("www-authenticate")), (401, Some("Bearer")));
    let wrong = http_request("POST", &[("Authorization", "Bearer sixteen letters?")], "{}");
    let answer = send(served.addr, wrong).await;
    assert_eq!(answer.status, 401);
    assert!(answer.header("www-authenticate").unwrap().contains("invalid_token"));
}

#[tokio::test]
async fn an_address_open_to_others_needs_a_token() {
    let open = server(&kit()).build().unwrap();
    let refused = open.bind("0.0.0.0:0".parse().unwrap()).await.unwrap_err();
    assert!(refused.to_string().contains("set a token"), "{refused}");
    assert!(server(&kit()).token(Secret::new(" ")).build().is_err());
}
