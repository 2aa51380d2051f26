//! A model that searches for its tools: what requests contain, what may be called, and what it is recorded as.

use std::sync::Arc;

use serde_json::{Value, json};
use toolwright::chat::{
    Chat, ChatBuilder, ChatEvent, EntryBody, Item, ItemKind, MemoryStore, Message, Model,
    ModelRequest, ToolSearch, ToolSearchMode, TurnLimits, TurnRequest,
};
use toolwright::testing::{FnModel, ModelReply, ScriptedModel};
use toolwright::{Config, ConfigSources, Invoker, Outcome, Tool, ToolCall, ToolResult};

use crate::support::{
    Log, assert_complete, builder, events, kinds, last_result_texts, logging_tool, pay, read_tool,
    registry, results, store_entries, stored_entries, tool_names, write,
};

mod authorisation;
mod native;
mod replay;

/// A chat whose model searches for its tools.
fn searching(model: impl Model, tools: Vec<Tool>) -> ChatBuilder {
    builder(model, tools).tool_search(ToolSearchMode::On)
}

/// A script that searches for `query`.
fn searches(query: &str) -> ScriptedModel {
    ScriptedModel::new().calls("search_tools", json!({"query": query}).to_string())
}

/// The arguments of `call_tool`.
fn naming(tool: &str, arguments: Value) -> String {
    json!({"name": tool, "arguments": arguments}).to_string()
}

/// The names of the tools in the result of a search.
fn found(result: &ToolResult) -> Vec<String> {
    let output: Value = serde_json::from_str(&result.text()).unwrap();
    let tools = output["tools"].as_array().unwrap().iter();
    tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

/// A tool that only reads, and that a search finds.
fn inspect(log: &Log) -> Tool {
    let inspect = Tool::builder("inspect_engine", "Inspects an engine.").read_only(true);
    logging_tool(inspect, log)
}

/// Many tools, and one that returns the tide.
fn many(count: usize) -> Vec<Tool> {
    let other = |number: usize| {
        let description = format!("Files form {number} of the registry of ships.");
        Tool::builder(format!("file_form_{number}"), description).run(|_, _| "filed").unwrap()
    };
    let tide = Tool::builder("read_tide", "Returns the level of the tide in a harbour.")
        .param::<String>("harbour", "The harbour.")
        .read_only(true)
        .run(|args, _| args.get::<String>("harbour").map(|harbour| format!("{harbour}: 3 m")))
        .unwrap();
    (1..count).map(other).chain([tide]).collect()
}

fn finds_and_calls(request: &ModelRequest) -> ToolCall {
    match request.messages.last() {
        Some(Message::Results(_)) => {
            ToolCall::new("call_tool", naming("read_tide", json!({"harbour": "Brest"})))
        }
        _ => ToolCall::new("search_tools", json!({"query": "level of the tide"}).to_string()),
    }
}

#[tokio::test]
async fn of_ten_thousand_tools_a_request_contains_two() {
    let model = ScriptedModel::new()
        .replies_with(finds_and_calls)
        .replies_with(finds_and_calls)
        .replies("3 metres.");
    let chat = builder(model.clone(), many(10_000)).build();
    let response = chat.message().user("How high is the tide in Brest?").call().await.unwrap();
    assert_eq!(found(&response.results()[0])[0], "read_tide");
    assert_eq!(response.results()[1].text(), "Brest: 3 m");
    for request in model.requests() {
        assert_eq!(tool_names(&request), ["search_tools", "call_tool"]);
    }
}

#[tokio::test]
async fn a_turn_sends_as_much_with_ten_thousand_tools_as_with_a_hundred() {
    let sent = async |count: usize| {
        let model = ScriptedModel::new()
            .replies_with(finds_and_calls)
            .replies_with(finds_and_calls)
            .replies("3 metres.");
        let chat = searching(model.clone(), many(count)).build();
        chat.message().user("How high is the tide in Brest?").call().await.unwrap();
        let requests = model.requests();
        let tools = requests.iter().flat_map(|request| request.tools.iter());
        let tools = tools.map(|tool| serde_json::to_string(tool.spec()).unwrap().len());
        let messages = requests.iter().flat_map(|request| &request.messages);
        let results = messages.map(|message| match message {
            Message::Results(results) => results.iter().map(|result| result.text().len()).sum(),
            _ => 0,
        });
        (requests.len(), tools.sum::<usize>() + results.sum::<usize>())
    };
    let (few, many) = (sent(100).await, sent(10_000).await);
    assert_eq!(many.0, few.0, "rounds");
    assert!(many.1 * 10 <= few.1 * 11, "bytes of tools and results: {few:?}, then {many:?}");
}

#[tokio::test]
async fn few_tools_are_all_in_the_request_unless_they_are_large() {
    let offered = async |tools: Vec<Tool>, search: ToolSearch| {
        let model = ScriptedModel::new().replies("Hi.");
        let chat = builder(model.clone(), tools).tool_search(search).build();
        chat.message().user("Hi!").call().await.unwrap();
        tool_names(&model.requests()[0]).len()
    };
    let auto = ToolSearch::default();
    assert_eq!(offered(many(128), auto.clone()).await, 128);
    assert_eq!(offered(many(129), auto.clone()).await, 2);
    assert_eq!(offered(many(129), ToolSearchMode::Off.into()).await, 129);
    assert_eq!(offered(many(9), auto.clone().max_tools(8)).await, 2);
    assert_eq!(offered(many(9), auto.max_tokens(100)).await, 2);
    assert_eq!(offered(many(1), ToolSearchMode::On.into()).await, 2);
}

#[tokio::test]
async fn pinned_tools_are_in_every_request_and_need_no_search() {
    let log = Log::default();
    let look = Tool::builder("look", "Looks.").read_only(true).pinned(true);
    let tools = vec![write(&log), logging_tool(look, &log)];
    let model = ScriptedModel::new()
        .calls("look", r#"{"n": 1}"#)
        .calls("call_tool", naming("look", json!({"n": 2})))
        .replies("Seen.");
    let chat = searching(model.clone(), tools).build();
    chat.message().user("Look!").call().await.unwrap();
    assert_eq!(tool_names(&model.requests()[0]), ["search_tools", "call_tool", "look"]);
    assert_eq!(log.lines(), ["look 1", "look 2"]);
}

#[tokio::test]
async fn the_tools_of_a_conversation_stay_the_same_while_the_catalogue_changes() {
    let registry = registry(many(200));
    let model = searches("tide").replies("Found.").replies("Still here.");
    let chat = Chat::new(&Invoker::new(&registry).unwrap(), model.clone());
    let turn = |text: &str| chat.message().conversation("sea").user(text);
    turn("Tide?").call().await.unwrap();
    for number in 1..150 {
        registry.remove(&format!("file_form_{number}"));
    }
    turn("And now?").call().await.unwrap();
    let schemas = |request: &ModelRequest| {
        let specs = request.tools.iter().map(|tool| serde_json::to_string(tool.spec()).unwrap());
        specs.collect::<Vec<_>>()
    };
    let requests = model.requests();
    assert_eq!(requests.len(), 3);
    assert!(requests.iter().all(|request| schemas(request) == schemas(&requests[0])));
}

#[tokio::test]
async fn a_call_is_shown_as_one_of_the_tool_it_names() {
    let log = Log::default();
    let model =
        searches("writes").calls("call_tool", naming("write", json!({"n": 1}))).replies("Done.");
    let chat = searching(model, vec![write(&log), read_tool(&log)]).build();
    let (events, error) = events(chat.message().user("Write!").stream()).await;
    assert!(error.is_none(), "{error:?}");
    let named: Vec<&str> = events
        .iter()
        .filter_map(|event| match event {
            ChatEvent::CallBegins { tool, .. } | ChatEvent::Running { tool, .. } => {
                Some(tool.as_str())
            }
            ChatEvent::Call { call } => Some(call.name.as_str()),
            ChatEvent::Result { result, .. } => Some(result.tool.as_str()),
            _ => None,
        })
        .collect();
    let (search, write) = (["search_tools"; 4], ["write"; 4]);
    assert_eq!(named, [search, write].concat());
    let call = ["call_begins", "call_delta", "call", "step", "running", "result"];
    assert!(kinds(&events).windows(6).any(|window| window == call), "{:?}", kinds(&events));
    assert_eq!(log.lines(), ["write 1"]);
}

#[tokio::test]
async fn a_tool_that_no_search_has_found_is_not_called() {
    let log = Log::default();
    let model = ScriptedModel::new()
        .calls("call_tool", naming("write", json!({"n": 1})))
        .calls("write", r#"{"n": 2}"#)
        .calls_all([
            ("search_tools", json!({"query": "writes"}).to_string()),
            ("call_tool", naming("write", json!({"n": 3}))),
        ])
        .replies("No.");
    let chat = searching(model.clone(), vec![write(&log)]).build();
    let response = chat.message().user("Write!").call().await.unwrap();
    assert!(log.is_empty());
    for at in [0, 1] {
        let result = &response.results()[at];
        assert_eq!(result.outcome, Outcome::UnknownTool);
        assert!(result.text().contains("search with `search_tools`"), "{}", result.text());
    }
    let last = last_result_texts(&model);
    assert_eq!(last[1], "`write` was found just now: call it again");
    assert_complete(response.entries());
}

#[tokio::test]
async fn a_model_may_call_a_found_tool_by_its_own_name() {
    let log = Log::default();
    let model = searches("writes").calls("write", r#"{"n": 2}"#).replies("Done.");
    let chat = searching(model, vec![write(&log)]).build();
    chat.message().user("Write!").call().await.unwrap();
    assert_eq!(log.lines(), ["write 2"]);
}

#[tokio::test]
async fn arguments_are_validated_by_the_schema_of_the_named_tool() {
    let log = Log::default();
    let model = searches("writes")
        .calls("call_tool", naming("write", json!({"n": "many"})))
        .calls("call_tool", naming("write", json!({"m": 1})))
        .calls("call_tool", r#"{"name": "write", "arguments": {"n": 1"#)
        .calls("call_tool", r#"{"tool": "write"}"#)
        .calls("call_tool", r#"{"name": "write", "arguments": "{\"n\": 7}"}"#)
        .replies("Done.");
    let chat = searching(model, vec![write(&log)]).build();
    let response = chat.message().user("Write!").call().await.unwrap();
    let results = response.results();
    let tools: Vec<&str> = results.iter().map(|result| result.tool.as_str()).collect();
    assert_eq!(tools, ["search_tools", "write", "write", "call_tool", "call_tool", "write"]);
    for result in &results[1..5] {
        assert_eq!(result.outcome, Outcome::InvalidArguments, "{}", result.text());
    }
    assert_eq!(log.lines(), ["write 7"]);
}

#[tokio::test]
async fn an_approver_decides_about_the_named_tool() {
    let log = Log::default();
    let model = searches("pay a bill")
        .calls("call_tool", naming("pay", json!({"n": "5"})))
        .replies("Settled.");
    let chat = searching(model.clone(), vec![pay(&log), read_tool(&log)]).build();
    let paused = chat.message().user("Pay!").call().await.unwrap();
    let [asked] = paused.pending_approvals() else { panic!("one call waits") };
    assert_eq!((asked.tool.display_name(), &asked.arguments), ("Payment", &json!({"n": 5})));
    assert_eq!(asked.call.name, "pay");
    let approved = vec![asked.approve()];
    assert!(log.is_empty());
    let response = paused.submit_approvals(approved).call().await.unwrap();
    assert_eq!((response.text().as_str(), log.lines()), ("Settled.", vec!["pay 5".to_owned()]));
    assert_eq!(results(&model.requests()[2])[0].text(), "pay 5");
}

#[tokio::test]
async fn asking_before_each_call_asks_about_the_tools_and_not_about_the_search() {
    let log = Log::default();
    let model = searches("writes").calls("call_tool", naming("write", json!({})));
    let chat = searching(model, vec![write(&log)]).ask_before_each_call().build();
    let paused = chat.message().user("Write!").call().await.unwrap();
    let asked: Vec<&str> =
        paused.pending_approvals().iter().map(|asked| asked.call.name.as_str()).collect();
    assert_eq!(asked, ["write"]);
}

#[tokio::test]
async fn limits_count_the_calls_of_the_named_tool() {
    let log = Log::default();
    let mut limits = TurnLimits::default();
    limits.calls_per_tool = 2;
    let call = |n: i64| ("call_tool", naming("write", json!({"n": n})));
    let model = searches("writes").calls_all([call(1), call(2), call(3)]).replies("Enough.");
    let chat = searching(model.clone(), vec![write(&log)]).limits(limits).build();
    chat.message().user("Write!").call().await.unwrap();
    assert_eq!(log.lines(), ["write 1", "write 2"]);
    assert!(last_result_texts(&model)[2].contains("called `write` 2 times already"));
}

#[tokio::test]
async fn the_same_call_for_ever_is_stopped() {
    let log = Log::default();
    let model = FnModel::new(|request| match request.messages.len() {
        1 => ToolCall::new("search_tools", r#"{"query": "writes"}"#),
        _ => ToolCall::new("call_tool", naming("write", json!({"n": 1}))),
    });
    let chat = searching(model, vec![write(&log)]).build();
    let error = chat.message().user("Write!").call().await.unwrap_err();
    assert!(error.to_string().contains("the same call was asked for 7 times"), "{error}");
    assert_eq!(log.lines().len(), 3);
}

#[tokio::test]
async fn a_caller_that_runs_calls_itself_gets_those_of_the_named_tools() {
    let log = Log::default();
    let model = searches("writes").calls("call_tool", naming("write", json!({"n": 1})));
    let chat = searching(model, vec![write(&log)]).build();
    let paused = chat.message().manual_calls().user("Write!").call().await.unwrap();
    let [call] = paused.calls() else { panic!("one call") };
    assert_eq!((call.name.as_str(), call.arguments.as_str()), ("write", r#"{"n":1}"#));
}

#[tokio::test]
async fn tools_of_the_same_names_are_kept_apart() {
    let log = Log::default();
    let own = logging_tool(Tool::builder("call_tool", "Calls for a taxi."), &log);
    let model = searches("taxi")
        .calls("call_tool_2", naming("call_tool", json!({"n": 1})))
        .replies("Called.");
    let chat = searching(model.clone(), vec![own]).build();
    chat.message().user("A taxi!").call().await.unwrap();
    assert_eq!(tool_names(&model.requests()[0]), ["search_tools", "call_tool_2"]);
    assert_eq!(log.lines(), ["call_tool 1"]);
}

#[test]
fn settings_say_when_a_model_searches() {
    let read = |settings: &[(&str, &str)]| {
        let sources = ConfigSources::new().defaults(settings.iter().copied());
        ToolSearch::from_config(&Config::load(sources).unwrap().config)
    };
    assert_eq!(read(&[]).unwrap(), ToolSearch::default());
    let on = read(&[("tools.search", "on"), ("tools.search_max_tools", "9")]).unwrap();
    assert_eq!(on, ToolSearch::new(ToolSearchMode::On).max_tools(9));
    let tokens = read(&[("tools.search_max_tokens", "500")]).unwrap();
    assert_eq!(tokens, ToolSearch::default().max_tokens(500));
    assert!(read(&[("tools.search", "often")]).is_err());
    let of_a_tool = read(&[("tools.search.timeout", "5s")]).unwrap();
    assert_eq!(of_a_tool, ToolSearch::default(), "a tool that is named `search`");
}
