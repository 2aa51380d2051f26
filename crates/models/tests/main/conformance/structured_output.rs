//! Answers for programs, and tools that the vendor runs.

use serde_json::json;
use toolwright_chat::{HostedTool, ResponseFormat};
use toolwright_core::schema::Schema;
use toolwright_core::{Config, ConfigSources, Registry, Tool};

use crate::canned_transport::{CannedResponse, CannedTransport, ask, model, weather_request};
use crate::protocol_fixture::{ProtocolFixture, ReplyPart, ScenarioReply, call};

/// A search and an MCP server, as settings ask for them.
fn hosted() -> Vec<HostedTool> {
    let sources = ConfigSources::new().defaults([
        ("WebSearchTool.type", "default"),
        ("MCP.name", "wiki"),
        ("MCP.url", "https://wiki.example/mcp"),
        ("MCP.authorization", "Bearer hunter2-hunter2"),
    ]);
    let config = Config::load(sources).unwrap().config;
    let search = config.web_search().unwrap().unwrap();
    let groups = config
        .mcp_servers()
        .unwrap()
        .into_iter()
        .map(HostedTool::Mcp);
    std::iter::once(HostedTool::WebSearch(search))
        .chain(groups)
        .collect()
}

pub(crate) async fn an_answer_in_a_form_is_read_as_it_was_meant(speaker: &dyn ProtocolFixture) {
    let schema = Schema::check(json!({
        "type": "object",
        "properties": {"city": {"type": "string"}, "note": {"type": "string"}},
        "required": ["city"],
        "additionalProperties": false
    }));
    let form = ResponseFormat::new("place", schema.unwrap());
    let line = CannedTransport::new([CannedResponse::ok(
        speaker.streamed(&ScenarioReply::new([ReplyPart::Text("{}")])),
    )]);
    let model = model(speaker, &line);
    let mut request = weather_request();
    request.response_format = Some(form.clone());
    ask(&model, request).await.finished();
    let asked = speaker.response_schema(&line.body(0));
    assert_eq!(asked["properties"]["city"]["type"], "string", "{asked}");
    // Where all fields had to be required, those that say nothing are taken out again.
    let forced = asked["required"].as_array().unwrap().len() == 2;
    let written = match forced {
        true => r#"{"city": "Rome", "note": null}"#,
        false => r#"{"city": "Rome"}"#,
    };
    assert_eq!(
        model.parse_structured_output(&form, written),
        Ok(json!({"city": "Rome"}))
    );
    let fenced = format!("```json\n{written}\n```");
    assert_eq!(
        model.parse_structured_output(&form, &fenced),
        Ok(json!({"city": "Rome"}))
    );
    assert!(
        model
            .parse_structured_output(&form, r#"{"city": "Ro"#)
            .is_err()
    );
    assert!(model.parse_structured_output(&form, "").is_err());
}

pub(crate) async fn a_search_of_the_vendor_keeps_its_name(speaker: &dyn ProtocolFixture) {
    let registry = Registry::new();
    let ours = Tool::builder("web_search", "Looks something up in our own web.")
        .run(|_, _| "found")
        .unwrap();
    registry.add(ours).unwrap();
    let tools = || registry.snapshot().iter().cloned().collect();
    let silent = CannedResponse::ok(speaker.streamed(&ScenarioReply::new([])));
    let line = CannedTransport::new([silent.clone(), silent.clone()]);
    let asking = model(speaker, &line);
    let mut request = weather_request();
    request.tools = tools();
    ask(&asking, request.clone()).await;
    request.hosted_tools = hosted();
    ask(&asking, request.clone()).await;
    let (searches, _) = speaker.hosted_support();
    let named = |place: usize| {
        let body = line.body(place).to_string();
        let name = body.split("Looks something up").next().unwrap();
        let name = name.rsplit(r#""name":""#).next().unwrap();
        name.split('"').next().unwrap().to_owned()
    };
    assert_eq!(named(0), "web_search");
    assert_eq!(named(1) == "web_search", !searches, "{}", named(1));
    // What is called by that other name is still the same tool.
    let wire: &'static str = named(1).leak();
    let said = ScenarioReply::new([call("call_1", wire, "")]);
    let line = CannedTransport::new([CannedResponse::ok(speaker.streamed(&said))]);
    let told = ask(&model(speaker, &line), request).await;
    assert_eq!(told.calls()[0].name, "web_search");
}

pub(crate) async fn keys_of_servers_are_not_shown(speaker: &dyn ProtocolFixture) {
    let line = CannedTransport::new([CannedResponse::ok(
        speaker.streamed(&ScenarioReply::new([])),
    )]);
    let mut request = weather_request();
    request.hosted_tools = hosted();
    let told = ask(&model(speaker, &line), request).await;
    let (_, servers) = speaker.hosted_support();
    let sent = line.body(0).to_string();
    assert_eq!(sent.contains("hunter2"), servers);
    let shown = told.sent_body().to_string();
    assert!(!shown.contains("hunter2"), "{shown}");
    assert_eq!(shown.contains("***"), servers, "{shown}");
    assert!(!format!("{:?}", line.requests()).contains("a key"));
}

pub(crate) async fn hosted_tools_are_those_of_the_vendor(speaker: &dyn ProtocolFixture) {
    let model = model(speaker, &CannedTransport::default());
    let hosts: Vec<bool> = hosted()
        .iter()
        .map(|hosted| model.supports_hosted_tool(hosted))
        .collect();
    assert_eq!((hosts[0], hosts[1]), speaker.hosted_support());
}
