//! Finding a tool by name.

use toolwright::{ErrorKind, Invoker, Outcome, Tool, ToolCall, ToolResult};

use crate::fixtures::{assert_ok, assert_rejected, invoker, tool_named};

async fn called(invoker: &Invoker, name: &str) -> ToolResult {
    invoker.invoke(&ToolCall::new(name, "{}")).await
}

#[tokio::test]
async fn an_exact_name_is_found_without_a_note() {
    let result = called(&invoker(tool_named("get_weather")), "get_weather").await;
    assert_ok(&result, "get_weather");
    assert_eq!(result.notes, [""; 0]);
}

#[tokio::test]
async fn a_name_alike_but_for_case_and_separators_is_found_and_noted() {
    let invoker = invoker(vec![tool_named("get_weather"), tool_named("other")]);
    for name in ["Get-Weather", "get.weather", "GET_WEATHER", "gEt-wEaThEr"] {
        let result = called(&invoker, name).await;
        assert_ok(&result, "get_weather");
        assert_eq!(result.tool, name);
        assert_eq!(result.notes, [format!("tool name `{name}` read as `get_weather`")]);
    }
}

#[tokio::test]
async fn a_refused_call_still_notes_how_its_name_was_read() {
    let result = invoker(tool_named("get_weather"))
        .invoke(&ToolCall::new("Get-Weather", r#"{"city": 1}"#))
        .await;
    assert_rejected(&result, &["/city: unknown argument"]);
    assert_eq!(result.notes, ["tool name `Get-Weather` read as `get_weather`"]);
}

#[tokio::test]
async fn a_name_alike_to_two_tools_means_neither() {
    let invoker = invoker(vec![tool_named("get_weather"), tool_named("get-weather")]);
    assert_ok(&called(&invoker, "get-weather").await, "get-weather");
    let result = called(&invoker, "Get_Weather").await;
    assert_eq!(result.outcome, Outcome::UnknownTool);
    assert!(
        result.text().contains("did you mean `get_weather` or `get-weather`?"),
        "{}",
        result.text()
    );
}

#[tokio::test]
async fn an_unknown_name_is_answered_with_the_nearest_and_all_names() {
    let result = called(
        &invoker(vec![tool_named("get_weather"), tool_named("get_time"), tool_named("add")]),
        "get_wether",
    )
    .await;
    assert_eq!(result.outcome, Outcome::UnknownTool);
    assert_eq!(result.error, Some(ErrorKind::Retry));
    assert!(result.is_error());
    let text = result.text();
    assert!(text.starts_with("there is no tool `get_wether`; did you mean `get_weather`"));
    assert!(text.ends_with("available tools: get_weather, get_time, add"), "{text}");
}

#[tokio::test]
async fn without_any_tool_the_message_lists_none() {
    let result = called(&invoker(Vec::<Tool>::new()), "anything").await;
    assert_eq!(result.text(), "there is no tool `anything`\nno tools are available");
}

#[tokio::test]
async fn among_ten_thousand_tools_the_answer_stays_short() {
    let tools: Vec<Tool> = (0..10_000).map(|n| tool_named(&format!("tool_{n}"))).collect();
    let result = called(&invoker(tools), "tool_x").await;
    assert_eq!(result.outcome, Outcome::UnknownTool);
    assert!(result.text().contains("and 9980 more"), "{}", result.text());
    assert!(result.text().len() < 1_000, "{}", result.text().len());
}

#[tokio::test]
async fn an_absurd_name_is_only_unknown() {
    let invoker = invoker(tool_named("get_weather"));
    let long = "get_weather".repeat(100_000);
    for name in ["", " ", "\0", "`\n`", "🌦", "../../etc/passwd", "İ", &long] {
        let result = called(&invoker, name).await;
        assert_eq!(result.outcome, Outcome::UnknownTool);
        assert_eq!(result.tool, name);
        assert!(result.text().len() < 1_000, "{}", result.text().len());
    }
}
