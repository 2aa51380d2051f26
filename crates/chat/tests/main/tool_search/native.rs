//! A model whose provider loads the tools that a search has found: they are called by their own names.

use toolwright::chat::{ModelId, ModelStream, ToolDeferral};
use toolwright::{Authorise, Caller};

use super::*;

/// A script behind a provider that loads found tools.
struct NativeModel(ScriptedModel, ToolDeferral);

impl Model for NativeModel {
    fn id(&self) -> &ModelId {
        self.0.id()
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        self.0.stream(request)
    }

    fn tool_deferral(&self) -> Option<ToolDeferral> {
        Some(self.1)
    }
}

const BOTH: [ToolDeferral; 2] = [ToolDeferral::References, ToolDeferral::Definitions];

fn native(model: &ScriptedModel, deferral: ToolDeferral) -> NativeModel {
    NativeModel(model.clone(), deferral)
}

/// The names of the tools that a provider may load.
fn deferred(request: &ModelRequest) -> Vec<&str> {
    let native = request.native_search.as_ref().unwrap();
    assert_eq!(native.search_tool, "search_tools");
    native.deferred.iter().map(|tool| tool.spec().name.as_str()).collect()
}

#[tokio::test]
async fn a_request_has_the_search_and_what_the_provider_loads() {
    for deferral in BOTH {
        let log = Log::default();
        let look = Tool::builder("look", "Looks.").read_only(true).pinned(true);
        let tools = vec![write(&log), inspect(&log), logging_tool(look, &log)];
        let model = searches("inspects an engine")
            .calls("inspect_engine", r#"{"n": 1}"#)
            .calls("look", r#"{"n": 2}"#)
            .replies("Seen.");
        let chat = searching(native(&model, deferral), tools).build();
        chat.message().user("Look!").call().await.unwrap();
        assert_eq!(log.lines(), ["inspect_engine 1", "look 2"]);
        for (index, request) in model.requests().iter().enumerate() {
            assert_eq!(tool_names(request), ["search_tools", "look"]);
            let expected: &[&str] = match (deferral, index) {
                (ToolDeferral::References, _) => &["write", "inspect_engine"],
                (_, 0) => &[],
                _ => &["inspect_engine"],
            };
            assert_eq!(deferred(request), expected);
        }
    }
}

#[tokio::test]
async fn a_found_tool_is_called_recorded_and_approved_as_itself() {
    for deferral in BOTH {
        let log = Log::default();
        let model = searches("pays a bill").calls("pay", r#"{"n": 1}"#).replies("Paid.");
        let chat = searching(native(&model, deferral), vec![pay(&log)]).build();
        let response = chat.message().conversation("room").user("Pay!").call().await.unwrap();
        let [asked] = response.pending_approvals() else { panic!("an approval is asked for") };
        assert_eq!(asked.call.name, "pay");
        assert!(log.is_empty());
        let steps = response.entries().iter().filter_map(|entry| match &entry.body {
            EntryBody::Step { step, .. } => Some(step),
            _ => None,
        });
        assert!(steps.flat_map(|step| &step.items).all(|item| item.sent_as.is_none()));
    }
}

#[tokio::test]
async fn a_tool_that_no_search_has_found_is_not_called_by_its_name() {
    for deferral in BOTH {
        let log = Log::default();
        let model = ScriptedModel::new().calls("write", r#"{"n": 1}"#).replies("No.");
        let chat = searching(native(&model, deferral), vec![write(&log)]).build();
        let response = chat.message().user("Write!").call().await.unwrap();
        assert!(log.is_empty());
        assert_eq!(response.results()[0].outcome, Outcome::UnknownTool);
        let text = response.results()[0].text().into_owned();
        assert!(text.contains("no search has found a tool `write`"), "{text}");
        assert_complete(response.entries());
    }
}

#[tokio::test]
async fn the_provider_loads_nothing_that_the_caller_may_not_use() {
    for deferral in BOTH {
        let log = Log::default();
        let model = searches("pays a bill, inspects an engine").replies("Found.").replies("Bye.");
        let tools = registry(vec![pay(&log), inspect(&log)]);
        let only_ada = Authorise::new(|caller: &Caller, tool| {
            caller.name() == Some("ada") || tool.hints.read_only == Some(true)
        });
        let invoker = Invoker::new(tools.all().layer(only_ada)).unwrap();
        let chat = Chat::builder(&invoker, native(&model, deferral));
        let chat = chat.tool_search(ToolSearchMode::On).build();
        let turn = |caller| {
            chat.message().conversation("room").user("Pay!").caller(Caller::new(caller)).call()
        };
        turn("ada").await.unwrap();
        turn("eve").await.unwrap();
        let requests = model.requests();
        let mut found = deferred(&requests[1]);
        found.sort_unstable();
        assert_eq!(found, ["inspect_engine", "pay"]);
        assert_eq!(deferred(&requests[2]), ["inspect_engine"]);
    }
}

#[tokio::test]
async fn a_changed_tool_is_loaded_again_only_after_another_search() {
    let log = Log::default();
    let store = Arc::new(MemoryStore::new());
    let model = searches("writes").replies("Found.").replies("Bye.");
    let turn = async |tool: Tool| {
        let chat = searching(native(&model, ToolDeferral::Definitions), vec![tool]);
        let chat = chat.store(Arc::clone(&store)).build();
        chat.message().conversation("room").user("Write!").call().await.unwrap();
    };
    turn(write(&log)).await;
    turn(logging_tool(Tool::builder("write", "Writes otherwise."), &log)).await;
    let requests = model.requests();
    assert_eq!(deferred(&requests[1]), ["write"]);
    assert!(deferred(&requests[2]).is_empty());
}

#[tokio::test]
async fn more_definitions_than_a_request_can_hold_are_called_with_call_tool() {
    let long = "x".repeat(20_000);
    let large =
        |number: usize| Tool::builder(format!("tool_{number}"), &*long).run(|_, _| "done").unwrap();
    for (deferral, count, offered) in [
        (ToolDeferral::References, 40, &["search_tools"][..]),
        (ToolDeferral::References, 60, &["search_tools", "call_tool"]),
        (ToolDeferral::Definitions, 60, &["search_tools"]),
    ] {
        let model = ScriptedModel::new().replies("Hi.");
        let tools: Vec<Tool> = (0..count).map(large).collect();
        let chat = builder(native(&model, deferral), tools).build();
        chat.message().user("Hi!").call().await.unwrap();
        assert_eq!(tool_names(&model.requests()[0]), offered);
    }
}

#[tokio::test]
async fn a_conversation_moves_between_providers_that_load_tools_and_others() {
    let log = Log::default();
    let store = Arc::new(MemoryStore::new());
    let turn = async |model: &ScriptedModel, deferral: Option<ToolDeferral>| {
        let tools = vec![write(&log), inspect(&log)];
        let chat = match deferral {
            Some(deferral) => searching(native(model, deferral), tools),
            None => searching(model.clone(), tools),
        };
        let chat = chat.store(Arc::clone(&store)).build();
        let response = chat.message().conversation("room").user("Write!").call().await.unwrap();
        assert_complete(response.entries());
    };
    let first = searches("writes").calls("write", r#"{"n": 1}"#).replies("Done.");
    turn(&first, Some(ToolDeferral::References)).await;
    let other =
        ScriptedModel::new().calls("call_tool", naming("write", json!({"n": 2}))).replies("Done.");
    turn(&other, None).await;
    let last = ScriptedModel::new()
        .calls("write", r#"{"n": 3}"#)
        .calls("call_tool", naming("write", json!({"n": 4})))
        .replies("Done.");
    turn(&last, Some(ToolDeferral::Definitions)).await;
    assert_eq!(log.lines(), ["write 1", "write 2", "write 3", "write 4"]);
    let request = &last.requests()[0];
    assert_eq!(deferred(request), ["write"]);
    // Every call has its result, under the name that the model used.
    let names = |request: &ModelRequest| -> Vec<String> {
        let results = request.messages.iter().filter_map(|message| match message {
            Message::Results(results) => Some(results[0].tool.to_string()),
            _ => None,
        });
        results.collect()
    };
    assert_eq!(names(request), ["search_tools", "write", "call_tool"]);
}
