//! Tools that the vendor runs, some of them once they are approved.

use std::sync::Arc;

use serde_json::json;
use toolwright::chat::{
    ApprovalResponse, ChatEvent, HostedTool, Item, ItemKind, MemoryStore, Model, ModelId,
    ModelRequest, ModelStream, PendingApproval, TurnRequest,
};
use toolwright::testing::{ModelReply, ScriptedModel};
use toolwright::{Config, ConfigSources, Outcome};

use crate::support::{Log, builder, chat, events, none, results, write};

type Decide = fn(&PendingApproval) -> ApprovalResponse;

fn waiting() -> ScriptedModel {
    ScriptedModel::new()
        .replies_with(|_| {
            ModelReply::from_items(vec![Item::new(ItemKind::HostedApproval {
                id: "mcpr_1".to_owned(),
                server: "wiki".to_owned(),
                tool: "ask".to_owned(),
                arguments: r#"{"q": "why"}"#.to_owned(),
            })])
        })
        .replies("Because.")
}

#[test]
fn a_search_that_the_vendor_does_not_have_is_named_in_a_warning() {
    let sources = ConfigSources::new().defaults([("WebSearchTool.type", "default")]);
    let config = Config::load(sources).unwrap().config;
    let search = HostedTool::WebSearch(config.web_search().unwrap().unwrap());
    let chat = builder(ScriptedModel::new(), none()).hosted_tool(search).build();
    let [warning] = &chat.warnings()[..] else { panic!("one warning") };
    assert!(warning.ends_with(" has no hosted web search: it is left out"), "{warning}");
}

#[tokio::test]
async fn it_is_asked_about_like_any_other_call() {
    let response = chat(waiting(), none()).message().user("Why?").call().await;
    let response = response.unwrap();
    let [asked] = response.pending_approvals() else { panic!("one call waits") };
    assert_eq!(asked.call.id.as_str(), "mcpr_1");
    assert_eq!(asked.arguments, json!({"q": "why"}));
    assert_eq!(asked.tool.name.as_str(), "wiki.ask");
    assert!(asked.tool.description.contains("`ask` of the server `wiki`"));
}

#[tokio::test]
async fn the_vendor_receives_the_decision() {
    let cases: [(Decide, Outcome, &str); 4] = [
        (PendingApproval::approve, Outcome::Ok, "approved"),
        (|asked| asked.deny("not today"), Outcome::Denied, "not today"),
        (
            |asked| asked.edit(json!({})),
            Outcome::Denied,
            "what a vendor runs can only be approved or denied",
        ),
        (
            |asked| asked.answer("42"),
            Outcome::Denied,
            "what a vendor runs can only be approved or denied",
        ),
    ];
    for (decide, outcome, text) in cases {
        let model = waiting();
        let store = Arc::new(MemoryStore::new());
        let chat = builder(model.clone(), none()).store(Arc::clone(&store)).build();
        let request = chat.message().conversation("room").user("Why?");
        let paused = request.call().await.unwrap();
        let decided = vec![decide(&paused.pending_approvals()[0])];
        let other = builder(model.clone(), none()).store(store).build();
        let response = other.submit_approvals("room", decided).call().await.unwrap();
        assert_eq!(response.text(), "Because.");
        let [result] = &results(&model.requests()[1])[..] else { panic!("one result") };
        assert_eq!(result.call_id.as_str(), "mcpr_1");
        assert_eq!((result.outcome, &*result.text()), (outcome, text));
    }
}

#[tokio::test]
async fn a_caller_that_runs_our_calls_still_decides_about_the_vendors() {
    let log = Log::default();
    let model = ScriptedModel::new()
        .replies_with(|_| {
            ModelReply::from_items(vec![
                Item::new(ItemKind::HostedApproval {
                    id: "mcpr_1".to_owned(),
                    server: "wiki".to_owned(),
                    tool: "ask".to_owned(),
                    arguments: "{}".to_owned(),
                }),
                Item::call(toolwright::ToolCall::new("write", "{}").with_id("ours")),
            ])
        })
        .replies("Done.");
    let chat = chat(model.clone(), write(&log));
    let paused = chat.message().manual_calls().user("Go!").call().await.unwrap();
    assert_eq!(paused.pending_approvals().len(), 1);
    let decided = vec![paused.pending_approvals()[0].approve()];
    let paused = paused.submit_approvals(decided).call().await.unwrap();
    let [call] = paused.calls() else { panic!("one call is ours") };
    let mut result = toolwright::ToolResult::success("by hand");
    result.call_id = call.id.clone();
    let response = paused.submit_results(vec![result]).call().await.unwrap();
    assert_eq!(response.text(), "Done.");
    let results_read = results(&model.requests()[1]);
    assert_eq!((&*results_read[0].text(), &*results_read[1].text()), ("approved", "by hand"));
    assert!(log.is_empty());
}

#[tokio::test]
async fn calls_that_the_vendor_ran_are_emitted() {
    let model = ScriptedModel::new().replies_with(|_| {
        let searched = Item::new(ItemKind::HostedCall {
            tool: "web_search".to_owned(),
            input: "rust".to_owned(),
            output: "a language".to_owned(),
            failed: false,
        });
        ModelReply::from_items(vec![searched]).with_item(Item::text("A language."))
    });
    let chat = chat(model, none());
    let (events, _) = events(chat.message().user("Rust?").stream()).await;
    assert!(events.iter().any(|event| matches!(
        event,
        ChatEvent::HostedCall { tool, input, output, failed: false }
            if tool == "web_search" && input == "rust" && output == "a language"
    )));
}

/// A model whose vendor has every hosted tool.
struct HostingModel(ScriptedModel);

impl Model for HostingModel {
    fn id(&self) -> &ModelId {
        self.0.id()
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        self.0.stream(request)
    }

    fn supports_hosted_tool(&self, _: &HostedTool) -> bool {
        true
    }
}

#[tokio::test]
async fn hosted_tools_are_selected_and_excluded_by_name() {
    let log = Log::default();
    let script = (0..9).fold(ScriptedModel::new(), |model, _| model.replies("Done."));
    let chat = builder(HostingModel(script.clone()), write(&log))
        .hosted_tool(HostedTool::web_search().city("Prague"))
        .hosted_tool(HostedTool::mcp("wiki", "https://wiki.example/mcp").description("Pages."))
        .build();
    type Select = fn(TurnRequest) -> TurnRequest;
    let cases: [(Select, &[&str]); 9] = [
        (|request| request, &["write", "web_search", "wiki"]),
        (|request| request.exclude(["web_search"]), &["write", "wiki"]),
        (|request| request.only_tools_named(["write"]), &["write"]),
        (|request| request.only_tools_named(["web_search"]), &["web_search"]),
        (|request| request.bundles(["wiki"]), &["wiki"]),
        (|request| request.only_tools(none()), &[]),
        (|request| request.filter(|spec| spec.name != "web_search"), &["write", "wiki"]),
        (|request| request.filter(|spec| &*spec.bundle != "wiki"), &["write", "web_search"]),
        (|request| request.filter(|_| false), &[]),
    ];
    for (index, (select, expected)) in cases.into_iter().enumerate() {
        select(chat.message().user("Go.")).call().await.unwrap();
        let request = &script.requests()[index];
        let tools = request.tools.iter().map(|tool| tool.spec().name.to_string());
        let hosted = request.hosted_tools.iter().map(|hosted| hosted.name().to_owned());
        assert_eq!(tools.chain(hosted).collect::<Vec<_>>(), expected);
    }
}

#[test]
fn hosted_tools_are_read_from_settings_except_servers_of_this_program() {
    let sources = ConfigSources::new().defaults([
        ("WebSearchTool.type", "default"),
        ("MCP.name", "wiki"),
        ("MCP.url", "https://wiki.example/mcp"),
        ("MCP_1.name", "files"),
        ("MCP_1.url", "https://files.example/mcp"),
        ("MCP_1.mode", "client"),
    ]);
    let hosted = HostedTool::from_config(&Config::load(sources).unwrap().config).unwrap();
    let names: Vec<&str> = hosted.iter().map(HostedTool::name).collect();
    assert_eq!(names, ["web_search", "wiki"]);
}
