//! The document that describes the server.

use serde_json::json;
use toolwright::testing::ScriptedModel;
use toolwright_server::ServerBuilder;

use crate::ag_ui::adder;
use crate::approvals::{Payments, payment_tool};
use crate::support::{TestServer, invoker, no_tools, serve};

#[tokio::test]
async fn every_tool_is_described_with_its_own_schemas() {
    let tools = vec![adder(), payment_tool(&Payments::default())];
    let server = serve(ServerBuilder::new(invoker(tools), ScriptedModel::new())).await;
    let document = server.get("/api/openapi.json").await.json();
    assert_eq!(document["openapi"], "3.1.0");
    assert_eq!(document["info"]["title"], "toolwright");
    let add = &document["paths"]["/api/tools/add"]["post"];
    assert_eq!(add["description"], "Adds two numbers.");
    let body = &add["requestBody"]["content"]["application/json"]["schema"];
    assert_eq!(body["properties"]["arguments"]["$ref"], "#/components/schemas/add.input");
    let input = &document["components"]["schemas"]["add.input"];
    assert_eq!(input["required"], json!(["a", "b"]));
    let pay = &document["paths"]["/api/tools/pay"]["post"];
    assert_eq!(pay["x-toolwright-approval"], true);
}

/// Returns true if the server has this route.
async fn has(server: &TestServer, method: &str, path: &str) -> bool {
    let path = path.replace("{id}", "c").replace("{name}", "n").replace("{position}", "1");
    // Event streams do not end: the status is enough.
    let response = server.open(server.request(method, &path), "").await;
    let status = response.status().as_u16();
    if status != 404 {
        return status != 405;
    }
    let answer = server.send(server.request(method, &path), "").await;
    !answer.text().contains("nothing is at this path")
}

#[tokio::test]
async fn every_documented_route_exists() {
    let server = serve(ServerBuilder::new(no_tools(), ScriptedModel::new())).await;
    let document = server.get("/api/openapi.json").await.json();
    let paths = document["paths"].as_object().unwrap();
    assert!(paths.len() > 15);
    for (path, methods) in paths {
        for method in methods.as_object().unwrap().keys().filter(|it| *it != "parameters") {
            let method = method.to_uppercase();
            assert!(has(&server, &method, path).await, "{method} {path}");
        }
    }
}
