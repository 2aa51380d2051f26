//! The error policy of a failed tool: set by the tool, the view, the settings or the chat.

use toolwright::chat::Chat;
use toolwright::testing::ScriptedModel;
use toolwright::{Config, ConfigSources, ErrorPolicy, Invoker, Tool, View};

use crate::support::{ended, last_result_texts, registry};

fn failing(errors: Option<ErrorPolicy>) -> Tool {
    let tool = Tool::builder("act", "Acts.");
    let tool = match errors {
        Some(errors) => tool.errors(errors),
        None => tool,
    };
    tool.run(|_, _| Err::<String, _>("no such table: users")).unwrap()
}

fn model() -> ScriptedModel {
    ScriptedModel::new().calls("act", "{}").replies("Oh.")
}

/// What the model reads, or how the turn ends.
async fn reads(invoker: &Invoker, chat_says: Option<ErrorPolicy>) -> String {
    let model = model();
    let chat = Chat::builder(invoker, model.clone());
    let chat = match chat_says {
        Some(errors) => chat.error_policy(errors),
        None => chat,
    };
    let result = chat.build().message().user("Go!").call().await;
    match result {
        Ok(_) => last_result_texts(&model).concat(),
        Err(error) => format!("ended: {}", ended(Err(error)).0),
    }
}

const MESSAGE: &str = "no such table: users";
const GENERIC: &str = "the tool failed";
const END: &str = "ended: no such table: users";

const CASES: [(ErrorPolicy, &str); 3] =
    [(ErrorPolicy::Message, MESSAGE), (ErrorPolicy::Generic, GENERIC), (ErrorPolicy::End, END)];

fn invoker(tools: impl Into<View>) -> Invoker {
    Invoker::new(tools).unwrap()
}

#[tokio::test]
async fn a_tool_sets_its_error_policy() {
    assert_eq!(reads(&invoker(registry(failing(None))), None).await, MESSAGE);
    for (errors, read) in CASES {
        let tools = registry(failing(Some(errors)));
        assert_eq!(reads(&invoker(tools), None).await, read);
    }
}

#[tokio::test]
async fn a_view_sets_it_for_its_tools() {
    for (errors, read) in CASES {
        let view = registry(failing(Some(ErrorPolicy::Generic))).all();
        let view = view.map_policy(move |_, policy| policy.errors = errors);
        assert_eq!(reads(&invoker(view), None).await, read);
    }
}

fn with_settings(errors: &str) -> Invoker {
    let sources = ConfigSources::new().defaults([("tools.act.errors", errors)]);
    let config = Config::load(sources).unwrap().config;
    let invoker = Invoker::builder(registry(failing(None))).config(config);
    invoker.build().unwrap()
}

#[tokio::test]
async fn settings_set_it_for_a_tool() {
    for (errors, read) in [("message", MESSAGE), ("generic", GENERIC), ("end", END)] {
        assert_eq!(reads(&with_settings(errors), None).await, read);
    }
}

#[tokio::test]
async fn a_chat_sets_it_whatever_the_others_set() {
    for setting in ["message", "generic", "end"] {
        for (errors, read) in CASES {
            assert_eq!(reads(&with_settings(setting), Some(errors)).await, read);
        }
    }
}

#[tokio::test]
async fn the_policy_is_for_failures_and_not_for_what_never_ran() {
    let model = ScriptedModel::new()
        .calls("act", r#"{"surprise": 1}"#)
        .calls("nobody", "{}")
        .replies("Oh.");
    let chat = Chat::builder(&invoker(registry(failing(None))), model)
        .error_policy(ErrorPolicy::End)
        .build();
    let response = chat.message().user("Go!").call().await.unwrap();
    assert_eq!(response.text(), "Oh.");
}
