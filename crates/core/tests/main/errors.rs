//! The parts of an error for the model and for the host.

use std::fmt;

use toolwright::{
    ErrorKind, ErrorPolicy, Outcome, Registry, Tool, ToolCall, ToolError, ToolResult, tool,
};

use crate::fixtures::{call, invoker};

/// An error with a source for the host only.
#[derive(Debug)]
struct Lost(std::io::Error);

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the order is lost")
    }
}

impl std::error::Error for Lost {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

/// Fails with the given kind of error.
#[tool]
fn fail(how: String) -> Result<String, ToolError> {
    Err(match how.as_str() {
        "retry" => ToolError::retry("order numbers start at 1"),
        "failed" => ToolError::failed("the shop is closed"),
        "fatal" => ToolError::fatal("the disk is full"),
        "lost" => Lost(std::io::Error::other("at 10.0.0.7")).into(),
        "secret" => "login with password=hunter2 and sk-abcdefgh12345678 failed".into(),
        _ => return Ok(how),
    })
}

async fn failed(how: &str) -> ToolResult {
    call(fail::tool(), &format!(r#"{{"how": "{how}"}}"#)).await
}

#[tokio::test]
async fn each_kind_of_error_reaches_the_turn() {
    for (how, kind, text) in [
        ("retry", ErrorKind::Retry, "order numbers start at 1"),
        ("failed", ErrorKind::Failed, "the shop is closed"),
        ("fatal", ErrorKind::Fatal, "the disk is full"),
        ("lost", ErrorKind::Failed, "the order is lost"),
    ] {
        let result = failed(how).await;
        assert_eq!(result.outcome, Outcome::Failed);
        assert_eq!(result.error, Some(kind));
        assert_eq!(result.text(), text);
    }
    let result = failed("not").await;
    assert_eq!((result.outcome, result.error), (Outcome::Ok, None));
}

#[tokio::test]
async fn the_model_never_reads_the_source_of_an_error_but_the_host_does() {
    let result = failed("lost").await;
    assert_eq!(result.text(), "the order is lost");
    let source = result.cause().unwrap().source().unwrap();
    assert_eq!(source.to_string(), "at 10.0.0.7");
    let sent = serde_json::to_string(&result).unwrap();
    assert!(!sent.contains("10.0.0.7"), "{sent}");
}

#[tokio::test]
async fn error_messages_are_redacted_for_the_model_and_whole_for_the_host() {
    let result = failed("secret").await;
    assert_eq!(result.text(), "login with password=*** and *** failed");
    assert!(result.cause().unwrap().to_string().contains("hunter2"));
}

#[tokio::test]
async fn a_generic_error_hides_the_message_but_keeps_it_for_the_host() {
    /// Fails without a word.
    #[tool(errors = generic)]
    fn discreet(how: String) -> Result<String, ToolError> {
        fail(how)
    }
    for (how, expected) in [
        ("lost", "the order is lost"),
        ("failed", "the shop is closed"),
        ("retry", "order numbers start at 1"),
    ] {
        let result = call(discreet::tool(), &format!(r#"{{"how": "{how}"}}"#)).await;
        assert_eq!(result.text(), "the tool failed");
        assert_eq!(result.cause().unwrap().to_string(), expected);
    }
    let result = call(discreet::tool(), r#"{"how": "retry"}"#).await;
    assert_eq!(result.error, Some(ErrorKind::Retry));
    let result = call(discreet::tool(), r#"{"how": "fine"}"#).await;
    assert_eq!(result.text(), "fine");
}

#[tokio::test]
async fn a_failure_returned_as_a_result_can_be_generic_too() {
    let tool = Tool::builder("print", "Prints.")
        .errors(ErrorPolicy::Generic)
        .run(|_, _| ToolResult::failure("printer 10.0.0.7 is out of paper"))
        .unwrap();
    let result = call(tool, "{}").await;
    assert_eq!(result.text(), "the tool failed");
    assert!(result.cause().unwrap().to_string().contains("10.0.0.7"));
}

#[tokio::test]
async fn question_mark_accepts_any_error() {
    /// Parses a number.
    #[tool]
    fn parse(text: String) -> Result<i32, ToolError> {
        if text.is_empty() {
            Err("nothing to parse".to_owned())?;
        }
        Ok(text.parse::<i32>()?)
    }
    let result = call(parse::tool(), r#"{"text": "x"}"#).await;
    assert_eq!(result.text(), "invalid digit found in string");
    let result = call(parse::tool(), r#"{"text": ""}"#).await;
    assert_eq!(result.text(), "nothing to parse");
}

#[tokio::test]
async fn a_result_is_returned_as_it_is_under_the_calls_own_id() {
    let tool =
        Tool::builder("print", "Prints.").run(|_, _| ToolResult::failure("out of paper")).unwrap();
    let call = ToolCall::new("print", "{}").with_id("call_x");
    let result = invoker(tool).invoke(&call).await;
    assert_eq!((result.call_id.as_str(), result.tool.as_str()), ("call_x", "print"));
    assert_eq!(result.outcome, Outcome::Failed);
}

#[tokio::test]
async fn a_registry_that_became_inconsistent_fails_calls_instead_of_panicking() {
    let registry = Registry::new();
    registry.add(crate::fixtures::tool_named("a")).unwrap();
    let invoker = toolwright::Invoker::new(registry.all().rename("b", "a")).unwrap();
    registry.add(crate::fixtures::tool_named("b")).unwrap();
    let result = invoker.invoke(&ToolCall::new("a", "{}")).await;
    assert_eq!(result.outcome, Outcome::Failed);
    assert!(result.text().contains("two tools are named `a`"));
    assert_eq!(invoker.invoke_all(&[ToolCall::new("a", "{}")]).await.len(), 1);
    registry.remove("b").unwrap();
    let result = invoker.invoke(&ToolCall::new("a", "{}")).await;
    assert_eq!(result.text(), "a");
}

#[test]
fn a_result_survives_its_journey_over_a_wire() {
    let result = ToolResult::success("five").with_structured(serde_json::json!({"n": 5}));
    let text = serde_json::to_string(&result).unwrap();
    let read: ToolResult = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_string(&read).unwrap(), text);
    let value = serde_json::to_value(&result).unwrap();
    assert_eq!(value["structuredContent"]["n"], 5);
    assert_eq!(value["isError"], false);
    assert!(serde_json::from_value::<ToolResult>(value).is_ok());
}
