//! Structured output and hosted tools.

use serde_json::json;
use toolwright_chat::{HostedTool, ResponseFormat};
use toolwright_core::schema::Schema;
use toolwright_core::{Config, ConfigSources, Registry, Tool};

use crate::canned_transport::{
    CannedResponse, CannedTransport, ask, model, sent_body, weather_request,
};
use crate::protocol_fixture::{ProtocolFixture, ReplyPart, ScenarioReply, call};

/// A search and an MCP server from settings.
fn hosted() -> Vec<HostedTool> {
    let sources = ConfigSources::new().defaults([
        ("WebSearchTool.type", "default"),
        ("MCP.name", "wiki"),
        ("MCP.url", "https://wiki.example/mcp"),
        ("MCP.authorization", "Bearer hunter2-hunter2"),
    ]);
    let config = Config::load(sources).unwrap().config;
    let search = config.web_search().unwrap().unwrap();
    let groups = config.mcp_servers().unwrap().into_iter().map(HostedTool::Mcp);
    std::iter::once(HostedTool::WebSearch(search)).chain(groups).collect()
}

pub(crate) async fn structured_output_is_parsed_and_lifted(protocol: &dyn ProtocolFixture) {
    let schema = Schema::check(json!({
        "type": "object",
        "properties": {"city": {"type": "string"}, "note": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": false
    }));
    let format = ResponseFormat::new("place", schema.unwrap());
    let transport = CannedTransport::new([CannedResponse::ok(
        protocol.streamed(&ScenarioReply::new([ReplyPart::Text("{}")])),
    )]);
    let model = model(protocol, &transport);
    let mut request = weather_request();
    request.response_format = Some(format.clone());
    ask(&model, request).await.finished();
    let sent = protocol.response_schema(&sent_body(&transport, 0));
    assert_eq!(sent["properties"]["city"]["type"], "string", "{sent}");
    // If strict mode requires all fields, nulls are removed again.
    let forced = sent["required"].as_array().unwrap().len() == 2;
    let written = match forced {
        true => r#"{"city": "Rome", "note": null}"#,
        false => r#"{"city": "Rome"}"#,
    };
    assert_eq!(model.parse_structured_output(&format, written), Ok(json!({"city": "Rome"})));
    let fenced = format!("```json\n{written}\n```");
    assert_eq!(model.parse_structured_output(&format, &fenced), Ok(json!({"city": "Rome"})));
    assert!(model.parse_structured_output(&format, r#"{"city": "Ro"#).is_err());
    assert!(model.parse_structured_output(&format, "").is_err());
}

pub(crate) async fn a_search_of_the_vendor_keeps_its_name(protocol: &dyn ProtocolFixture) {
    let registry = Registry::new();
    let ours = Tool::builder("web_search", "Looks something up in our own web.")
        .run(|_, _| "found")
        .unwrap();
    registry.add(ours).unwrap();
    let tools = || registry.snapshot().iter().cloned().collect();
    let silent = CannedResponse::ok(protocol.streamed(&ScenarioReply::new([])));
    let transport = CannedTransport::new([silent.clone(), silent.clone()]);
    let asking = model(protocol, &transport);
    let mut request = weather_request();
    request.tools = tools();
    ask(&asking, request.clone()).await;
    request.hosted_tools = hosted();
    ask(&asking, request.clone()).await;
    let (searches, _) = protocol.hosted_support();
    let named = |place: usize| {
        let body = sent_body(&transport, place).to_string();
        let name = body.split("Looks something up").next().unwrap();
        let name = name.rsplit(r#""name":""#).next().unwrap();
        name.split('"').next().unwrap().to_owned()
    };
    assert_eq!(named(0), "web_search");
    assert_eq!(named(1) == "web_search", !searches, "{}", named(1));
    // A call with the wire name is a call of the same tool.
    let wire: &'static str = named(1).leak();
    let reply = ScenarioReply::new([call("call_1", wire, "")]);
    let transport = CannedTransport::new([CannedResponse::ok(protocol.streamed(&reply))]);
    let collected = ask(&model(protocol, &transport), request).await;
    assert_eq!(collected.calls()[0].name, "web_search");
}

pub(crate) async fn keys_of_servers_are_not_shown(protocol: &dyn ProtocolFixture) {
    let transport =
        CannedTransport::new([CannedResponse::ok(protocol.streamed(&ScenarioReply::new([])))]);
    let mut request = weather_request();
    request.hosted_tools = hosted();
    let collected = ask(&model(protocol, &transport), request).await;
    let (_, servers) = protocol.hosted_support();
    let sent = sent_body(&transport, 0).to_string();
    assert_eq!(sent.contains("hunter2"), servers);
    let shown = collected.sent_body().to_string();
    assert!(!shown.contains("hunter2"), "{shown}");
    assert_eq!(shown.contains("***"), servers, "{shown}");
    assert!(!format!("{:?}", transport.requests()).contains("a key"));
}

pub(crate) async fn hosted_tools_are_those_of_the_vendor(protocol: &dyn ProtocolFixture) {
    let model = model(protocol, &CannedTransport::default());
    let hosts: Vec<bool> =
        hosted().iter().map(|hosted| model.supports_hosted_tool(hosted)).collect();
    assert_eq!((hosts[0], hosts[1]), protocol.hosted_support());
}
