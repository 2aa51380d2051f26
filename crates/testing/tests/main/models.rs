//! The models for tests, tested.

use serde::Deserialize;
use toolwright::chat::{Chat, ModelErrorKind, ModelId};
use toolwright::testing::{FnModel, ModelReply, SampledCallsModel, ScriptedModel};
use toolwright::{
    Content, Invoker, JsonSchema, Outcome, Registry, Tool, ToolCall, schemars, tool, tools,
};

use crate::chat;

fn look() -> Tool {
    Tool::builder("look", "Returns a text.").read_only(true).run(|_, _| "a tree").unwrap()
}

#[tokio::test]
async fn a_script_is_played_and_records_its_requests() {
    let model = ScriptedModel::new().calls("look", "{}").replies("Seen.").replies("More.");
    assert_eq!((model.remaining(), model.requests().len()), (3, 0));
    let chat = chat(model.clone(), look());
    chat.message().user("Look!").call().await.unwrap();
    assert_eq!((model.remaining(), model.requests().len()), (1, 2));
    assert_eq!(model.requests()[0].tools.len(), 1);
    assert!(format!("{model:?}").contains("remaining: 1"));
}

#[tokio::test]
async fn a_script_that_is_over_is_an_error() {
    let chat = chat(ScriptedModel::new().replies("Only this."), Vec::<Tool>::new());
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
    let chat = chat(model, Vec::<Tool>::new());
    let error = chat.message().conversation("a").user("?").call().await.unwrap_err();
    assert_eq!(error.to_string(), "slow down");
    let response = chat.message().conversation("a").user("?").call().await.unwrap();
    assert_eq!(response.text(), "2 messages");
    assert_eq!(response.steps().next().unwrap().model.to_string(), "vendor:model");
}

#[tokio::test]
async fn an_echo_repeats_the_last_message() {
    let chat = chat(FnModel::echo(), Vec::<Tool>::new());
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
    let chat = chat(model, look());
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
        let registry = Registry::new();
        registry.add(Shapes).unwrap();
        registry.add(greet::tool()).unwrap();
        let chat = Chat::new(&Invoker::new(registry).unwrap(), SampledCallsModel::new(seed));
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
        let chat = chat(SampledCallsModel::new(seed), greet::tool());
        let response = chat.message().user("?").call().await.unwrap();
        let calls = response.steps().next().unwrap().calls().cloned();
        calls.collect::<Vec<ToolCall>>()
    };
    assert_eq!(tried(7).await, tried(7).await);
}

#[tokio::test]
async fn a_sample_without_tools_has_nothing_to_say() {
    let chat = chat(SampledCallsModel::new(1), Vec::<Tool>::new());
    let response = chat.message().user("?").call().await.unwrap();
    assert_eq!(response.text(), "");
}
