//! What a turn opens with: prompts of the registry, and what the model should keep to.

use serde_json::json;
use toolwright::chat::testing::ScriptedModel;
use toolwright::chat::{ChatError, Message};
use toolwright::{BundleItem, Content, prompt};

use crate::support::{builder, chat, constant_tool, none};

/// Asks for a translation.
#[prompt(role = user)]
fn translate(text: String) -> &'static str {
    "Translate: ${text}"
}

/// Sets a mood.
#[prompt]
fn mood(mood: String) -> &'static str {
    "I am ${mood}."
}

fn prompts() -> Vec<BundleItem> {
    vec![
        translate::prompt().into(),
        mood::prompt().into(),
        constant_tool("look", "seen").into(),
    ]
}

fn text(content: &[Content]) -> String {
    toolwright::ToolResult::success(content.to_vec())
        .text()
        .into_owned()
}

#[tokio::test]
async fn a_named_prompt_is_said_in_its_role() {
    let model = ScriptedModel::new().replies("Ja.");
    let chat = chat(model.clone(), prompts());
    let ask = chat
        .message()
        .prompt_named("mood", json!({"mood": "cheerful"}))
        .prompt_named("translate", json!({"text": "Yes"}));
    ask.call().await.unwrap();
    match model.requests()[0].messages.as_slice() {
        [Message::Assistant(mood), Message::User(question)] => {
            assert_eq!(text(mood), "I am cheerful.");
            assert_eq!(text(question), "Translate: Yes");
        }
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_prompt_of_the_assistant_alone_is_a_turn_of_its_own() {
    let model = ScriptedModel::new()
        .calls("look", "{}")
        .replies("One.")
        .replies("Two.");
    let chat = chat(model.clone(), prompts());
    let ask = || chat.message().conversation("room");
    ask().user("First?").call().await.unwrap();
    let ask = ask().prompt_named("mood", json!({"mood": "sad"}));
    let response = ask.call().await.unwrap();
    assert_eq!(response.text(), "Two.");
    assert_eq!(response.steps().count(), 1);
    assert!(response.results().is_empty(), "they are of the turn before");
}

#[tokio::test]
async fn a_prompt_that_cannot_be_rendered_is_an_error_and_nothing_is_said() {
    let model = ScriptedModel::new();
    let chat = chat(model.clone(), prompts());
    for (name, arguments, said) in [
        ("mod", json!({}), "did you mean `mood`"),
        ("mood", json!({}), "/mood: missing"),
        ("mood", json!({"mood": "sad", "how": "very"}), "how"),
        ("mood", json!("sad"), "object"),
    ] {
        let ask = chat.message().conversation("room").user("Hello!");
        let error = ask.prompt_named(name, arguments).call().await.unwrap_err();
        assert!(matches!(error, ChatError::Prompt { .. }), "{error}");
        assert!(error.to_string().contains(said), "{error}");
    }
    assert!(model.requests().is_empty());
    let empty = chat.resume("room").call().await.unwrap_err();
    assert!(matches!(empty, ChatError::NoInput), "nothing was kept");
}

#[tokio::test]
async fn fewer_tools_are_not_fewer_prompts() {
    let model = ScriptedModel::new().replies("Ja.");
    let chat = chat(model.clone(), prompts());
    let ask = chat.message().only_tools(none());
    let ask = ask.prompt_named("translate", json!({"text": "Yes"}));
    ask.call().await.unwrap();
    assert!(model.requests()[0].tools.is_empty());
}

#[tokio::test]
async fn a_prompt_may_bring_a_prompt_of_its_own() {
    let model = ScriptedModel::new().replies("Ja.");
    let chat = chat(model.clone(), none());
    let ask = chat.message().tools(mood::prompt());
    let ask = ask.prompt_named("mood", json!({"mood": "fine"}));
    ask.call().await.unwrap();
}

#[tokio::test]
async fn what_the_model_should_keep_to_is_the_chats_unless_the_prompt_says_otherwise() {
    let model = ScriptedModel::new().replies("1").replies("2").replies("3");
    let chat = builder(model.clone(), none()).system("Be brief.").build();
    chat.message().user("?").call().await.unwrap();
    let ask = chat.message().system("Be long.").user("?");
    ask.call().await.unwrap();
    chat.message().user("?").call().await.unwrap();
    let requests = model.requests();
    let said: Vec<_> = requests.iter().map(|it| it.system.as_deref()).collect();
    assert_eq!(
        said,
        [Some("Be brief."), Some("Be long."), Some("Be brief.")]
    );
}
