//! What every bridge does alike, measured through its framework: the same calls, results and errors as the invoker gives.
//!
//! A bridge implements how its framework lists tools, makes a call and runs a conversation ([`Framework`]), and
//! `conformance::suite!(MyFramework);` makes its tests. What a framework cannot carry is no failure: it is measured, and the
//! row of the table in docs/other-frameworks.md must agree with the result.
//!
//! Tools that a bridge's own tests define are linked with those of this crate: they need names of their own.

#![expect(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests"
)]

use std::future::Future;

use serde_json::Value;
use toolwright::{Bridge, BridgeError, Hints, Tool, ToolCall};

mod cases;
mod tools;

pub use cases::*;

/// A framework with a bridge to it.
pub trait Framework {
    /// What its row in the table of docs/other-frameworks.md begins with.
    const NAME: &'static str;

    /// The caller that the framework itself names in [`call`](Framework::call), where it can name one.
    const CALLER: Option<&'static str> = None;

    /// Exports tools as a user of the bridge does, and returns the definitions that the framework sends to a model.
    ///
    /// # Errors
    ///
    /// Those of the bridge.
    fn listed_tools(bridge: &Bridge) -> Result<Vec<ListedTool>, BridgeError>;

    /// Makes a call as the framework's loop does; nothing where the framework itself refuses it before the bridge hears of it,
    /// because no tool has that name, or the arguments are not JSON.
    fn call(bridge: &Bridge, call: ToolCall) -> impl Future<Output = Option<CallOutcome>> + Send;

    /// Asks the framework's own agent loop all the questions of [`CONVERSATION`] in one conversation, and returns the answers.
    ///
    /// `model` is the address of a provider's mock, as `http://127.0.0.1:1234`; it speaks every provider's API.
    fn run_conversation(bridge: &Bridge, model: &str) -> impl Future<Output = Vec<String>> + Send;

    /// Offers tools to the framework, and takes the framework's own objects back into a registry.
    fn import_tools(_: &Bridge) -> Option<Vec<Tool>> {
        None
    }
}

/// A tool as the framework sends it to a model, and as it describes it to its own code.
#[derive(Clone, Debug, Default)]
pub struct ListedTool {
    /// Its name.
    pub name: String,
    /// Its description.
    pub description: String,
    /// The schema of its arguments.
    pub schema: Value,
    /// What the framework knows of its effects.
    pub hints: Hints,
    /// The schema of its structured result, where the framework has a place for one.
    pub output: Option<Value>,
    /// Whether the model is held to the schema, where the framework has a place for that.
    pub strict: Option<bool>,
}

/// What a framework has heard of a result.
#[derive(Clone, Debug, Default)]
pub struct CallOutcome {
    /// The text that the model reads.
    pub text: String,
    /// The structured result, where the framework has a place for one.
    pub structured: Option<Value>,
    /// The media types of what is not text.
    pub media: Vec<String>,
    /// Whether it is marked as a failure, where the framework can mark one.
    pub failed: Option<bool>,
    /// True if the model should try again; `None` if the framework cannot express it.
    pub retry: Option<bool>,
    /// Whether the framework ends its run with it, because of a failure.
    pub ends_run: bool,
    /// Whether the framework stops and asks a person in its own way, before the tool has run.
    pub asks_person: bool,
    /// Whether the framework answers the person with it, without asking the model again.
    pub returns_directly: bool,
    /// What the framework heard of the call's progress.
    pub progress: Vec<String>,
}

/// One question of the conversation that every framework holds.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// What is asked.
    pub question: &'static str,
    /// The tool that helps.
    pub tool: &'static str,
    /// What the model calls it with.
    pub arguments: &'static str,
    /// What is in the tool's result.
    pub result: &'static str,
    /// What is in the answer.
    pub answer: &'static str,
}

/// The conversation with the sample assistant; the mocks know it from `tests/real/aimock.json`.
pub const CONVERSATION: [Question; 4] = [
    Question {
        question: "What time is it in Tokyo?",
        tool: "get_city_time",
        arguments: r#"{"city":"Tokyo"}"#,
        result: "(JST)",
        answer: "that is the time in Tokyo",
    },
    Question {
        question: "And the weather there?",
        tool: "get_weather",
        arguments: r#"{"city":"Tokyo"}"#,
        result: "Tokyo: Rainy, 22C / 72F, 90% humidity",
        answer: "raining in Tokyo",
    },
    Question {
        question: "Convert that temperature to Fahrenheit",
        tool: "convert_temperature",
        arguments: r#"{"value":22,"from_unit":"C"}"#,
        result: "22.0C = 71.6F",
        answer: "71.6F",
    },
    Question {
        question: "Refund order A-1042",
        tool: "issue_refund",
        arguments: r#"{"order":"A-1042","amount":20}"#,
        result: "the call was denied: not today",
        answer: "denied",
    },
];

/// Makes the tests of a bridge.
#[macro_export]
macro_rules! suite {
    ($framework:ty) => {
        $crate::cases!($framework);
        $crate::cases! { $framework: the_readme_says_what_is_carried }
    };
}

/// Makes the tests of another way through the same bridge, whose row in docs/other-frameworks.md is compared already.
#[macro_export]
macro_rules! cases {
    ($framework:ty) => {
        $crate::cases! { $framework:
            tools_are_shown_as_they_are,
            tools_are_lowered_for_the_model_behind_the_framework,
            a_view_shows_its_part,
            a_tool_that_does_not_fit_is_refused_by_name,
            calls_end_as_they_do_without_a_framework,
            nobody_to_ask_means_no,
            an_approval_is_asked_for_and_kept_to,
            many_tools_are_searched_and_called_through_two,
            the_caller_reaches_the_tool,
            a_dropped_call_is_cancelled,
            tools_come_back_into_a_registry,
            the_agent_loop_answers_the_four_questions,
        }
    };
    ($framework:ty: $($case:ident),* $(,)?) => {
        $(
            #[tokio::test]
            async fn $case() {
                $crate::$case::<$framework>().await;
            }
        )*
    };
}
