//! The models for tests, tested.

use serde::Deserialize;
use toolwright::chat::testing::{FnModel, ModelReply, SampleModel, ScriptedModel};
use toolwright::chat::{ModelErrorKind, ModelId};
use toolwright::{Content, JsonSchema, Outcome, Tool, ToolCall, schemars, tool, tools};

use crate::support::{chat, constant_tool, none};

#[tokio::test]
async fn a_script_is_played_and_records_its_requests() {
    let model = ScriptedModel::new().calls("look", "{}").replies("Seen.").replies("More.");
    assert_eq!((model.remaining(), model.requests().len()), (3, 0));
    let chat = chat(model.clone(), constant_tool("look", "a tree"));
    chat.message().user("Look!").call().await.unwrap();
    assert_eq!((model.remaining(), model.requests().len()), (1, 2));
    assert_eq!(model.requests()[0].tools.len(), 1);
    assert!(format!("{model:?}").contains("remaining: 1"));
}

#[tokio::test]
async fn a_script_that_is_over_is_an_error() {
    let chat = chat(ScriptedModel::new().replies("Only this."), none());
    chat.message().user("?").call().await.unwrap();
    let error = chat.message().user("?").call().await.unwrap_err();
    assert_eq!(error.to_string(), "the script is over, and the model is asked once more");
}

#[tokio::test]
async fn a_script_can_fail_and_have_a_name() {
    let model = ScriptedModel::new()
        .with_id(ModelId::new("vendor", "model"))
        .fails(ModelErrorKind::RateLimit, "slow down")
        .replies_with(|request| format!("{} messages", request.messages.len()));
    let chat = chat(model, none());
    let error = chat.message().conversation("a").user("?").call().await.unwrap_err();
    assert_eq!(error.to_string(), "slow down");
    let response = chat.message().conversation("a").user("?").call().await.unwrap();
    assert_eq!(response.text(), "2 messages");
    assert_eq!(response.steps().next().unwrap().model.to_string(), "vendor:model");
}

#[tokio::test]
async fn an_echo_repeats_the_last_message() {
    let chat = chat(FnModel::echo(), none());
    let content = vec![Content::text("Hello,"), Content::text("world!")];
    let response = chat.message().user(content).call().await.unwrap();
    assert_eq!(response.text(), "Hello,\nworld!");
    let response = chat.message().user("A").assistant("B").call().await.unwrap();
    assert_eq!(response.text(), "B");
}

#[tokio::test]
async fn a_function_answers_results_too() {
    let model = FnModel::new(|request| match request.messages.len() {
        1 => ModelReply::call(ToolCall::new("look", "{}")),
        _ => ModelReply::text("It is over."),
    });
    let chat = chat(model, constant_tool("look", "a tree"));
    let response = chat.message().user("Look!").call().await.unwrap();
    assert_eq!(response.text(), "It is over.");
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Size {
    Small,
    Custom { width: u8, height: Option<f64> },
}

#[derive(Default)]
struct Shapes;

#[tools]
impl Shapes {
    /// Draws a box.
    #[tool]
    fn draw(&self, size: Size, colours: Vec<String>, #[param(default = 3)] times: u8) -> usize {
        let drawn = match size {
            Size::Small => 1,
            Size::Custom { width, height } => usize::from(width) + usize::from(height.is_some()),
        };
        drawn + colours.len() + usize::from(times)
    }

    /// Takes nothing.
    #[tool]
    fn rest(&self) {}
}

/// Greets a person.
#[tool(read_only)]
fn greet(name: String, loud: Option<bool>) -> String {
    match loud {
        Some(true) => name.to_uppercase(),
        _ => name,
    }
}

#[tokio::test]
async fn a_sample_calls_every_tool_with_what_its_schema_admits() {
    for seed in 0..20 {
        let registry = crate::support::registry(Shapes);
        registry.add(greet::tool()).unwrap();
        let invoker = toolwright::Invoker::new(registry).unwrap();
        let chat = toolwright::chat::Chat::new(SampleModel::new(seed), &invoker);
        let response = chat.message().user("Try them!").call().await.unwrap();
        assert_eq!(response.text(), "3 tools called, 0 failed.");
        for result in response.results() {
            assert_eq!(result.outcome, Outcome::Ok, "{seed}: {}", result.text());
        }
    }
}

#[tokio::test]
async fn a_sample_is_the_same_for_the_same_seed() {
    let tried = async |seed| {
        let chat = chat(SampleModel::new(seed), greet::tool());
        let response = chat.message().user("?").call().await.unwrap();
        let calls = response.steps().next().unwrap().calls().cloned();
        calls.collect::<Vec<ToolCall>>()
    };
    assert_eq!(tried(7).await, tried(7).await);
}

#[tokio::test]
async fn a_sample_without_tools_has_nothing_to_say() {
    let chat = chat(SampleModel::new(1), Vec::<Tool>::new());
    let response = chat.message().user("?").call().await.unwrap();
    assert_eq!(response.text(), "");
}
