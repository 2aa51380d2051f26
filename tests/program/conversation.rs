//! The same four messages with every model: the demo, a script, and each wire protocol against a mock of its vendor.

use std::sync::Arc;

use futures::future::BoxFuture;
use test_support::aimock::Aimock;
use toolwright::chat::{
    Chat, ChatError, ChatEvent, Model, ModelErrorKind, ToolSearchMode, TurnEnd,
};
use toolwright::models::{ModelBuilder, Timeouts, Vendor};
use toolwright::testing::ScriptedModel;
use toolwright::{ApprovalDecision, ApprovalRequest, Approver, Invoker, Outcome, Registry, Secret};

use assistant_tools as _;

/// A message, the tool that is called, its result, and a part of the answer.
const CONVERSATION: [(&str, &str, &str, &str); 4] = [
    ("What time is it in Tokyo?", "get_city_time", "(JST)", "Tokyo"),
    ("And the weather there?", "get_weather", "Tokyo: Rainy, 22C / 72F, 90% humidity", "22C"),
    ("Convert that temperature to Fahrenheit", "convert_temperature", "22.0C = 71.6F", "71.6F"),
    ("Refund order A-1042, 20 euros", "issue_refund", "the call was denied: not today", "denied"),
];

/// A vendor of each protocol, and its base path at the mock.
const PROTOCOLS: [(&str, &str); 5] =
    [("openai", "/v1"), ("openai-chat", "/v1"), ("anthropic", ""), ("gemini", ""), ("ollama", "")];

/// Denies all refunds.
struct DenyingApprover;

impl Approver for DenyingApprover {
    fn decide<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, ApprovalDecision> {
        Box::pin(async move { request.deny("not today") })
    }
}

fn chat(model: impl Model) -> Chat {
    let registry = Registry::discover().unwrap();
    let tools = Invoker::new(&registry).unwrap();
    Chat::builder(&tools, model).approver(DenyingApprover).build()
}

fn vendor(vendor: &str, mock: &Aimock, path: &str) -> Arc<dyn Model> {
    model(vendor, "test-model", mock, path).build().unwrap()
}

fn model(vendor: &str, name: &str, mock: &Aimock, path: &str) -> ModelBuilder {
    let vendor = Vendor::by_name(vendor).unwrap();
    let base = format!("http://{}{path}", mock.address);
    let model = vendor.model(name).api_key(Secret::new("made-up"));
    model.base_url(base).timeouts(Timeouts::default())
}

async fn run_conversation(who: &str, model: impl Model) {
    let chat = chat(model);
    for (question, tool, result, answer) in CONVERSATION {
        let mut events = chat.message().conversation("one").user(question).stream();
        let (mut text, mut called) = (String::new(), Vec::new());
        while let Some(event) = events.next().await {
            match event.unwrap_or_else(|error| panic!("{who}: {question}: {error:?}")) {
                ChatEvent::Text { delta } => text.push_str(&delta),
                ChatEvent::Call { call } => called.push(call.name.to_string()),
                _ => {}
            }
        }
        let response = events.into_response().unwrap();
        assert_eq!(called, [tool], "{who}: {question}");
        let results = response.results();
        assert_eq!(results.len(), 1, "{who}: {results:?}");
        assert!(results[0].text().contains(result), "{who}: {results:?}");
        assert!(response.text().contains(answer), "{who}: {response:?}");
        assert_eq!(text, response.text(), "{who}: what is streamed is the answer");
        assert_eq!(response.end(), Some(&TurnEnd::Answered), "{who}");
    }
}

#[tokio::test]
async fn the_demo_model_answers_all_four() {
    run_conversation("demo", toolwright::demo::DemoModel::new()).await;
}

#[tokio::test]
async fn a_script_answers_all_four() {
    let script = ScriptedModel::new()
        .calls("get_city_time", r#"{"city": "Tokyo"}"#)
        .replies("That is the time in Tokyo.")
        .calls("get_weather", r#"{"city": "Tokyo"}"#)
        .replies("It rains, at 22C.")
        .calls("convert_temperature", r#"{"value": 22, "from_unit": "C"}"#)
        .replies("That is 71.6F.")
        .calls("issue_refund", r#"{"order": "A-1042", "amount": 20}"#)
        .replies("It was denied.");
    run_conversation("script", script.clone()).await;
    assert_eq!(script.remaining(), 0);
}

#[tokio::test]
async fn every_protocol_answers_all_four_against_a_mock_of_its_vendor() {
    let Some(mock) = Aimock::start() else { return };
    for (name, path) in PROTOCOLS {
        run_conversation(name, vendor(name, &mock, path)).await;
    }
    // Two requests per message.
    assert_eq!(mock.received().len(), PROTOCOLS.len() * 8);
}

#[tokio::test]
async fn every_protocol_runs_parallel_calls_against_a_mock_of_its_vendor() {
    let Some(mock) = Aimock::start() else { return };
    for (name, path) in PROTOCOLS {
        let chat = chat(vendor(name, &mock, path));
        let asked = chat.message().user("Two cities at once").call().await;
        let response = asked.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        let results = response.results();
        let texts: Vec<_> = results.iter().map(|result| result.text()).collect();
        assert_eq!(texts.len(), 2, "{name}: {texts:?}");
        assert!(texts.iter().any(|text| text.starts_with("Paris: ")));
        assert!(texts.iter().any(|text| text.starts_with("London: ")));
        assert_eq!(response.text(), "Paris is warmer than London.", "{name}");
    }
}

/// The mock passes over the vendors' own searches and deferred tools: its models call `search_tools`, and then the tool by its
/// name.
#[tokio::test]
async fn every_protocol_searches_for_its_tools_against_a_mock_of_its_vendor() {
    let native = [
        ("openai", "gpt-5.4", "/v1", r#""type":"tool_search_output""#),
        ("anthropic", "claude-sonnet-5", "", r#""type":"tool_reference""#),
    ];
    let others = PROTOCOLS.map(|(name, path)| (name, "test-model", path, r#""call_tool""#));
    for (vendor, name, path, sent) in native.into_iter().chain(others) {
        let Some(mock) = Aimock::start() else { return };
        let model = model(vendor, name, &mock, path).native_tool_search(true).build().unwrap();
        let registry = Registry::discover().unwrap();
        let chat = Chat::builder(&Invoker::new(&registry).unwrap(), model);
        let chat = chat.tool_search(ToolSearchMode::On).build();
        let mut events = chat.message().user("Find a tool for Oslo").stream();
        let mut bodies = Vec::new();
        while let Some(event) = events.next().await {
            let event = event.unwrap_or_else(|error| panic!("{vendor} {name}: {error:?}"));
            if let ChatEvent::RequestSent { body } = event {
                bodies.push(body);
            }
        }
        let response = events.into_response().unwrap();
        let results = response.results();
        let called: Vec<&str> = results.iter().map(|result| result.tool.as_str()).collect();
        assert_eq!(called, ["search_tools", "get_weather"], "{vendor} {name}");
        assert!(results[1].text().starts_with("Oslo: "), "{vendor} {name}: {results:?}");
        assert_eq!(response.text(), "That is the weather in Oslo.");
        assert_eq!(bodies.len(), 3, "{vendor} {name}");
        assert!(bodies[2].contains(sent), "{vendor} {name}: {}", bodies[2]);
        let has_gateway = bodies[2].contains(r#""call_tool""#);
        assert_eq!(has_gateway, name == "test-model", "{vendor} {name}: {}", bodies[2]);
    }
}

#[tokio::test]
async fn what_is_streamed_in_small_pieces_is_whole_at_the_end() {
    let Some(mock) = Aimock::start() else { return };
    for (name, path) in PROTOCOLS {
        let chat = chat(vendor(name, &mock, path));
        let mut events = chat.message().user("Tell me a long story").stream();
        let mut pieces = Vec::new();
        while let Some(event) = events.next().await {
            if let ChatEvent::Text { delta } = event.unwrap() {
                pieces.push(delta);
            }
        }
        assert!(pieces.len() > 5, "{name}: {pieces:?}");
        assert!(pieces.concat().ends_with("whoever they were."), "{name}");
    }
}

#[tokio::test]
async fn an_answer_that_is_cut_off_is_an_error_and_not_an_answer() {
    let Some(mock) = Aimock::start() else { return };
    for (name, path) in PROTOCOLS {
        let chat = chat(vendor(name, &mock, path));
        let asked = chat.message().user("Stop in the middle").call().await;
        let error = asked.map(|response| response.text()).unwrap_err();
        let ChatError::Model(error) = error else { panic!("{name}: {error:?}") };
        let kinds = [ModelErrorKind::Network, ModelErrorKind::Protocol];
        assert!(kinds.contains(&error.kind), "{name}: {error:?}");
    }
}

#[tokio::test]
async fn a_vendor_that_asks_to_wait_is_asked_again() {
    for (name, path) in PROTOCOLS {
        let Some(mock) = Aimock::start() else { return };
        let chat = chat(vendor(name, &mock, path));
        let asked = chat.message().user("Be overloaded").call().await;
        let response = asked.unwrap_or_else(|error| panic!("{name}: {error:?}"));
        assert_eq!(response.text(), "Now I have time.", "{name}");
        assert_eq!(mock.received().len(), 2, "{name}");
    }
}

#[tokio::test]
async fn the_error_of_a_vendor_has_its_own_message() {
    let Some(mock) = Aimock::start() else { return };
    for (name, path) in PROTOCOLS {
        let chat = chat(vendor(name, &mock, path));
        let asked = chat.message().user("Refuse the request").call().await;
        let Err(ChatError::Model(error)) = asked else { panic!("{name}: {asked:?}") };
        assert_eq!(error.kind, ModelErrorKind::BadRequest, "{name}");
        let message = error.to_string();
        assert!(message.contains("the request has no soul"), "{name}: {message}");
    }
}

#[tokio::test]
async fn a_call_of_an_approver_is_denied_and_the_model_reads_why() {
    let Some(mock) = Aimock::start() else { return };
    let chat = chat(vendor("openai-chat", &mock, "/v1"));
    let asked = chat.message().user("Refund order A-1042").call().await;
    let results = asked.unwrap().results();
    assert_eq!(results[0].outcome, Outcome::Denied);
    let (_, body) = mock.received().pop().unwrap();
    let last = body["messages"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last["tool_call_id"], "call_refund");
    assert!(last.to_string().contains("not today"), "{last}");
}
