//! What a server's tools are called here, and what of them is left out.

use std::collections::HashSet;

use serde_json::json;
use toolwright_core::{Registry, Tool, ToolName};
use toolwright_mcp::{RemoteServer, Trust};

use super::http_server::{ScriptedHttpServer, text_result, tool};
use super::support::{call, names};

#[tokio::test]
async fn every_name_fits_every_provider_and_leads_to_its_tool() {
    let long = "x".repeat(100);
    let remote = ["add", "files.read", "files/read", "天気", "with blank", long.as_str()];
    let tools: serde_json::Value = remote.iter().map(|name| tool(name)).collect();
    let site = ScriptedHttpServer::with_tools(tools, |asked| {
        let name = asked.message["params"]["name"].as_str().unwrap_or_default();
        asked.result(text_result(name))
    })
    .await;
    let registry = Registry::new();
    let attach = RemoteServer::url("My shop", &site.url).trust(Trust::Calls);
    let attached = attach.attach(&registry).await.unwrap();
    let listed = attached.status().items;
    assert_eq!(listed.len(), remote.len());
    assert!(listed.iter().all(|it| ToolName::is_valid(&it.name)), "{listed:?}");
    assert_eq!(listed.iter().map(|it| &it.name).collect::<HashSet<_>>().len(), remote.len());
    assert_eq!(listed[0].name, "My_shop_add");
    for it in &listed {
        assert_eq!(call(&registry, &it.name, json!({})).await.text(), it.remote_name);
    }
    attached.detach().await;
}

#[tokio::test]
async fn a_name_that_is_taken_is_left_to_who_has_it() {
    let registry = Registry::new();
    let ours = Tool::builder("shop_add", "Ours.").run(|_, _| "ours").unwrap();
    registry.add(ours).unwrap();
    let site = ScriptedHttpServer::with_tools(json!([tool("add")]), |asked| {
        asked.result(text_result("theirs"))
    })
    .await;
    let attached =
        RemoteServer::url("shop", &site.url).trust(Trust::Calls).attach(&registry).await.unwrap();
    let theirs = &attached.status().items[0].name;
    assert!(theirs.starts_with("shop_add_"), "{theirs}");
    assert_eq!(call(&registry, "shop_add", json!({})).await.text(), "ours");
    assert_eq!(call(&registry, theirs, json!({})).await.text(), "theirs");
    attached.detach().await;
    assert_eq!(names(&registry), ["shop_add"]);
}

#[tokio::test]
async fn what_is_lacking_or_doubled_is_noted() {
    let tools = json!([
        {"name": "mute", "inputSchema": {"type": "object"}},
        tool("twin"),
        tool("twin"),
        {"inputSchema": {"type": "object"}},
    ]);
    let site =
        ScriptedHttpServer::with_tools(tools, |asked| asked.result(text_result("fine"))).await;
    let registry = Registry::new();
    let attached =
        RemoteServer::url("shop", &site.url).trust(Trust::Calls).attach(&registry).await.unwrap();
    assert_eq!(names(&registry), ["shop_mute", "shop_twin"]);
    let notes = attached.status().notes.join("\n");
    assert!(notes.contains("`mute`: no description"), "{notes}");
    assert!(notes.contains("`twin` is listed twice"), "{notes}");
    assert!(notes.contains("without a name"), "{notes}");
    assert_eq!(call(&registry, "shop_mute", json!({})).await.text(), "fine");
    attached.detach().await;
}
