//! The inputs of a turn: prompts of the registry, and the system prompt.

use serde_json::json;
use toolwright::chat::{ChatError, Message};
use toolwright::testing::ScriptedModel;
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
    vec![translate::prompt().into(), mood::prompt().into(), constant_tool("look", "seen").into()]
}

fn text(content: &[Content]) -> String {
    toolwright::ToolResult::success(content.to_vec()).text().into_owned()
}

#[tokio::test]
async fn a_named_prompt_is_a_message_of_its_role() {
    let model = ScriptedModel::new().replies("Ja.");
    let chat = chat(model.clone(), prompts());
    let request = chat
        .message()
        .prompt_named("mood", json!({"mood": "cheerful"}))
        .prompt_named("translate", json!({"text": "Yes"}));
    request.call().await.unwrap();
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
    let model = ScriptedModel::new().calls("look", "{}").replies("One.").replies("Two.");
    let chat = chat(model.clone(), prompts());
    let request = || chat.message().conversation("room");
    request().user("First?").call().await.unwrap();
    let request = request().prompt_named("mood", json!({"mood": "sad"}));
    let response = request.call().await.unwrap();
    assert_eq!(response.text(), "Two.");
    assert_eq!(response.steps().count(), 1);
    assert!(response.results().is_empty(), "they are of the turn before");
}

#[tokio::test]
async fn a_prompt_that_cannot_be_rendered_is_an_error_and_nothing_is_stored() {
    let model = ScriptedModel::new();
    let chat = chat(model.clone(), prompts());
    for (name, arguments, message) in [
        ("mod", json!({}), "did you mean `mood`"),
        ("mood", json!({}), "/mood: missing"),
        ("mood", json!({"mood": "sad", "how": "very"}), "how"),
        ("mood", json!("sad"), "object"),
    ] {
        let request = chat.message().conversation("room").user("Hello!");
        let error = request.prompt_named(name, arguments).call().await.unwrap_err();
        assert!(matches!(error, ChatError::Prompt { .. }), "{error}");
        assert!(error.to_string().contains(message), "{error}");
    }
    assert!(model.requests().is_empty());
    let empty = chat.resume("room").call().await.unwrap_err();
    assert!(matches!(empty, ChatError::NoInput), "nothing was kept");
}

#[tokio::test]
async fn fewer_tools_are_not_fewer_prompts() {
    let model = ScriptedModel::new().replies("Ja.");
    let chat = chat(model.clone(), prompts());
    let request = chat.message().only_tools(none());
    let request = request.prompt_named("translate", json!({"text": "Yes"}));
    request.call().await.unwrap();
    assert!(model.requests()[0].tools.is_empty());
}

#[tokio::test]
async fn a_request_may_add_a_prompt_of_its_own() {
    let model = ScriptedModel::new().replies("Ja.");
    let chat = chat(model.clone(), none());
    let request = chat.message().tools(mood::prompt());
    let request = request.prompt_named("mood", json!({"mood": "fine"}));
    request.call().await.unwrap();
}

#[tokio::test]
async fn the_system_prompt_is_the_chats_unless_the_request_sets_one() {
    let model = ScriptedModel::new().replies("1").replies("2").replies("3");
    let chat = builder(model.clone(), none()).system("Be brief.").build();
    chat.message().user("?").call().await.unwrap();
    let request = chat.message().system("Be long.").user("?");
    request.call().await.unwrap();
    chat.message().user("?").call().await.unwrap();
    let requests = model.requests();
    let system: Vec<_> = requests.iter().map(|it| it.system.as_deref()).collect();
    assert_eq!(system, [Some("Be brief."), Some("Be long."), Some("Be brief.")]);
}
