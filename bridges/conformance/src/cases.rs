//! The cases of the suite: each compares a framework with the invoker alone.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use assistant_tools::{Refunds, convert_temperature, get_city_time, get_weather};
use futures::FutureExt as _;
use serde_json::{Value, json};
use test_support::aimock::Aimock;
use test_support::real;
use toolwright::schema::Dialect;
use toolwright::search::SearchGateway;
use toolwright::wire::ToolPlanner;
use toolwright::{
    ApprovalDecision, ApprovalRequest, Approver, AuditRecord, BoxFuture, Bridge, CallScope, Caller,
    Invoker, Registry, Tool, ToolCall, ToolError, ToolResult,
};

use crate::tools::{CallProbe, bridge, invoker, registry};
use crate::{CONVERSATION, CallOutcome, Framework, ListedTool};

fn names(shown: &[ListedTool]) -> Vec<&str> {
    shown.iter().map(|tool| tool.name.as_str()).collect()
}

fn sort_by_name(mut shown: Vec<ListedTool>) -> Vec<ListedTool> {
    // Some frameworks keep tools by name.
    shown.sort_by(|a, b| a.name.cmp(&b.name));
    shown
}

/// Case: the framework lists the tools as the plan for the dialect has them.
fn assert_planned<F: Framework>(dialect: Dialect) {
    let bridge = bridge().dialect(dialect);
    let shown = sort_by_name(F::listed_tools(&bridge).unwrap());
    let strict = shown.iter().any(|tool| tool.strict == Some(true));
    let planner = ToolPlanner::new(match strict {
        true => dialect,
        false => dialect.non_strict(),
    });
    let entries = bridge.export().unwrap().invoker().list(&CallScope::new()).unwrap();
    for tool in &shown {
        let entry = entries.iter().find(|entry| entry.spec().name.as_str() == tool.name);
        let entry = entry.unwrap_or_else(|| panic!("{dialect}: no tool `{}`", tool.name));
        let dialect = match tool.strict {
            Some(true) => planner.plan([entry]).tools().first().unwrap().dialect,
            _ => dialect.non_strict(),
        };
        let lowered = entry.spec().input.lower(dialect).unwrap();
        assert_eq!(tool.schema, *lowered.schema(), "{dialect}: {}", tool.name);
        let start = &entry.spec().description;
        assert!(tool.description.starts_with(start.as_str()), "{dialect}: {tool:?}");
        if let Some(output) = &tool.output {
            let ours = entry.spec().output.as_ref().map(|schema| schema.as_value());
            assert_eq!(Some(output), ours, "{dialect}: {}", tool.name);
        }
    }
    assert_eq!(shown.len(), entries.len(), "{dialect}: {:?}", names(&shown));
}

/// Case: without a dialect nothing changes.
pub async fn tools_are_shown_as_they_are<F: Framework>() {
    assert_planned::<F>(Dialect::MCP);
}

/// Case: each dialect's schemas go out, and arguments in its form come back to the tool's own.
pub async fn tools_are_lowered_for_the_model_behind_the_framework<F: Framework>() {
    for dialect in Dialect::ALL {
        assert_planned::<F>(dialect);
    }
    // There, a map is a list of pairs.
    let arguments = json!({
        "labels": [{"key": "from", "value": "Ada"}],
        "to": {"street": "Main Street", "floor": null},
    });
    let call = ToolCall::new("label", arguments.to_string());
    let heard = F::call(&bridge().dialect(Dialect::GEMINI_OPENAPI), call).await;
    let text = r#"{"from": "Ada"} to Main Street, floor any, 1 times"#;
    assert_eq!(heard.expect("a call in the dialect's form").text, text);
}

/// Case: a view is as good as a registry, and its names are those of the model.
pub async fn a_view_shows_its_part<F: Framework>() {
    let view = registry().select(["add", "who"]).prefix("shop");
    let bridge = Bridge::new(&Invoker::new(view).unwrap());
    assert_eq!(names(&F::listed_tools(&bridge).unwrap()), ["shop_add", "shop_who"]);
    let heard = F::call(&bridge, ToolCall::new("shop_add", r#"{"a":2}"#)).await;
    assert_eq!(heard.unwrap().text, "3");
}

/// Case: a tool is never left out in silence, not even where the provider takes no more.
pub async fn a_tool_that_does_not_fit_is_refused_by_name<F: Framework>() {
    let registry = Registry::new();
    for number in 0..200 {
        let tool = Tool::builder(format!("tool_{number}"), "Does nothing.");
        let tool = tool.run(|_, _| Ok::<_, ToolError>("nothing")).unwrap();
        registry.add(tool).unwrap();
    }
    let bridge = Bridge::new(&Invoker::new(&registry).unwrap()).dialect(Dialect::OPENAI);
    let error = F::listed_tools(&bridge).expect_err("they are too many").to_string();
    assert!(error.starts_with("`tool_128` cannot be offered: "), "{error}");
}

/// Case: through a framework, a call ends as it does without one.
pub async fn calls_end_as_they_do_without_a_framework<F: Framework>() {
    let bridge = bridge();
    let offer = bridge.export().unwrap();
    let calls = [
        ("add", r#"{"a": 2, "b": 3}"#),
        ("add", r#"{"a": 2}"#),
        ("add", r#"{"a": "2", "b": null}"#),
        ("add", r#"{"a": "two"}"#),
        ("add", r#"{"a": 2, "c": 3}"#),
        ("add", r#"{}"#),
        ("add", r#"{'a': 2,}"#),
        ("add", r#"{"a": 2"#),
        ("add", r#"[2, 3]"#),
        ("add_and_subtract", r#"{"a": 2, "b": 3}"#),
        (
            "label",
            r#"{"labels": {"für": "Zoë 🎁"}, "to": {"street": "Main Street", "floor": -1}, "copies": 2}"#,
        ),
        ("label", r#"{"labels": {}, "to": {"street": 7, "flour": 1}}"#),
        ("draw", "{}"),
        ("draw", ""),
        ("fail", r#"{"how": "retry"}"#),
        ("fail", r#"{"how": "failed"}"#),
        ("fail", r#"{"how": "fatal"}"#),
        ("fail", r#"{"how": "panic"}"#),
        ("fail", r#"{"how": "PANIC"}"#),
        ("wait_in_vain", "{}"),
        ("answer", "{}"),
        ("count", "{}"),
        ("ad", r#"{"a": 2}"#),
    ];
    for (tool, arguments) in calls {
        let call = ToolCall::new(tool, arguments);
        let directly = offer.invoke(call.clone()).await;
        match F::call(&bridge, call).await {
            Some(heard) => assert_same(&heard, &directly, &format!("{tool} {arguments}")),
            // What is no call at all in the framework's eyes never reaches a tool.
            None => assert!(directly.is_error() || !is_object(arguments), "{tool} {arguments}"),
        }
    }
}

fn is_object(text: &str) -> bool {
    serde_json::from_str::<Value>(text).is_ok_and(|value| value.is_object())
}

fn assert_same(heard: &CallOutcome, directly: &ToolResult, what: &str) {
    let expected = match (heard.media.is_empty(), heard.failed) {
        // Images that are carried need no description.
        (false, _) => directly.text(),
        (true, Some(_)) => directly.to_text(),
        (true, None) => directly.to_text_with_error_prefix(),
    };
    assert_eq!(heard.text, expected, "{what}");
    if let Some(failed) = heard.failed {
        assert_eq!(failed, directly.is_error(), "{what}");
    }
    if let Some(retry) = heard.retry {
        let wanted = directly.error == Some(toolwright::ErrorKind::Retry);
        assert_eq!(retry, wanted, "{what}");
    }
    if let Some(structured) = &heard.structured {
        let wanted = directly.structured.as_ref().map(|value| value.to_value());
        assert_eq!(Some(structured), wanted.as_ref(), "{what}");
    }
    if heard.ends_run {
        assert_eq!(directly.error, Some(toolwright::ErrorKind::Fatal), "{what}");
    }
    if heard.returns_directly {
        assert_eq!(what, "answer {}");
    }
}

/// Case: a dangerous call does not run without an approver.
pub async fn nobody_to_ask_means_no<F: Framework>() {
    let call = ToolCall::new("erase", r#"{"path": "/a"}"#);
    let heard = F::call(&bridge(), call).await.expect("a call");
    if !heard.asks_person {
        assert!(heard.text.contains("denied"), "{heard:?}");
        assert_ne!(heard.failed, Some(false), "{heard:?}");
    }
    assert!(!heard.text.contains("erased"), "{heard:?}");
}

/// An approver that allows one file to be erased.
struct RecordingApprover(Mutex<Vec<Value>>);

impl Approver for RecordingApprover {
    fn decide<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, ApprovalDecision> {
        self.0.lock().unwrap().push(request.arguments.clone());
        let decision = match request.arguments.get("path").and_then(Value::as_str) {
            Some("/a") => request.approve(),
            Some("/b") => request.edit(json!({"path": "/a"})),
            _ => request.deny("not that one"),
        };
        async { decision }.boxed()
    }
}

/// Shares who is asked with the test.
struct SharedApprover<T>(Arc<T>);

impl<T: Approver> Approver for SharedApprover<T> {
    fn decide<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, ApprovalDecision> {
        self.0.decide(request)
    }
}

/// Case: the invoker's approver is asked, and the call runs as it decided.
pub async fn an_approval_is_asked_for_and_kept_to<F: Framework>() {
    let careful = Arc::new(RecordingApprover(Mutex::default()));
    let invoker =
        invoker(&CallProbe::default()).with_approver(SharedApprover(Arc::clone(&careful)));
    let bridge = Bridge::new(&invoker);
    let mut texts = Vec::new();
    for path in ["/a", "/b", "/c"] {
        let call = ToolCall::new("erase", json!({"path": path}).to_string());
        texts.push(F::call(&bridge, call).await.expect("a call").text);
    }
    assert_eq!(texts[..2], ["erased /a", "erased /a"]);
    assert!(texts[2].ends_with("the call was denied: not that one"), "{texts:?}");
    let asked = careful.0.lock().unwrap().clone();
    assert_eq!(asked, ["/a", "/b", "/c"].map(|path| json!({"path": path})));
}

/// Case: two tools stand for all: one finds the others, one calls them, and a call is one of the tool that it names.
pub async fn many_tools_are_searched_and_called_through_two<F: Framework>() {
    let careful = Arc::new(RecordingApprover(Mutex::default()));
    let tools = invoker(&CallProbe::default());
    let asking = tools.with_approver(SharedApprover(Arc::clone(&careful)));
    let bridge = Bridge::new(&asking).gateway(SearchGateway::beyond(5));
    let shown = sort_by_name(F::listed_tools(&bridge).unwrap());
    assert_eq!(names(&shown), ["call_tool", "search_tools"]);
    let query = json!({"query": "write a label for a parcel"}).to_string();
    let found = F::call(&bridge, ToolCall::new("search_tools", query)).await.expect("a call").text;
    assert!(found.contains(r#""name":"label""#) && found.contains("input_schema"), "{found}");
    let call = |tool: &str, arguments: Value| {
        ToolCall::new("call_tool", json!({"name": tool, "arguments": arguments}).to_string())
    };
    let offer = Bridge::new(&asking).export().unwrap();
    for (tool, arguments) in [
        ("label", json!({"labels": {"from": "Ada"}, "to": {"street": "Main Street"}})),
        ("label", json!({"labels": {}, "to": {"street": 7}})),
        ("add", json!({"a": 2, "b": 3})),
        ("fail", json!({"how": "retry"})),
        ("erase", json!({"path": "/b"})),
        ("erase", json!({"path": "/c"})),
    ] {
        let directly = offer.invoke(ToolCall::new(tool, arguments.to_string())).await;
        let heard = F::call(&bridge, call(tool, arguments)).await.expect("a call");
        assert_same(&heard, &directly, tool);
    }
    let asked = careful.0.lock().unwrap().len();
    assert_eq!(asked, 4, "each call of `erase` was decided about, directly and through the two");
    let unknown = F::call(&bridge, call("erase_all", json!({}))).await.expect("a call");
    assert!(unknown.text.contains("there is no tool `erase_all`"), "{unknown:?}");
    let alone = Bridge::new(&tools).gateway(SearchGateway::new());
    let heard = F::call(&alone, call("erase", json!({"path": "/a"}))).await.expect("a call");
    assert!(heard.asks_person || heard.text.contains("denied"), "{heard:?}");
}

/// Case: a tool learns on whose behalf it runs.
pub async fn the_caller_reaches_the_tool<F: Framework>() {
    let scope = CallScope::new().caller(Caller::new("somebody")).session("here");
    let bridge = bridge().scope(scope);
    let heard = F::call(&bridge, ToolCall::new("who", "{}")).await.expect("a call");
    let caller = F::CALLER.unwrap_or("somebody");
    assert!(heard.text.starts_with(&format!("{caller} in ")), "{heard:?}");
    assert!(F::CALLER.is_some() || heard.text.ends_with(" here"), "{heard:?}");
}

/// Case: dropping the future of a call cancels it.
pub async fn a_dropped_call_is_cancelled<F: Framework>() {
    let stage = CallProbe::default();
    let bridge = Bridge::new(&invoker(&stage));
    {
        let call = F::call(&bridge, ToolCall::new("wait", "{}"));
        tokio::select! {
            heard = call => panic!("it waits for ever: {heard:?}"),
            () = stage.entered.notified() => {}
        }
    }
    let left = tokio::time::timeout(Duration::from_secs(30), stage.finished.notified());
    left.await.expect("the tool is cancelled");
}

/// Case: the framework's own tools, in a registry, do what ours did.
pub async fn tools_come_back_into_a_registry<F: Framework>() {
    let Some(tools) = F::import_tools(&bridge()) else {
        return;
    };
    let offer = bridge().export().unwrap();
    let registry = Registry::new();
    for tool in tools {
        registry.add(tool).unwrap();
    }
    let invoker = Invoker::new(&registry).unwrap();
    let calls = [
        ("add", r#"{"a": 2, "b": 3}"#),
        ("add", r#"{"a": "two"}"#),
        ("add_and_subtract", r#"{"a": 2, "b": 3}"#),
        ("fail", r#"{"how": "retry"}"#),
        ("fail", r#"{"how": "failed"}"#),
        ("nothing", "{}"),
    ];
    for (tool, arguments) in calls {
        let call = ToolCall::new(tool, arguments);
        let (ours, theirs) = (offer.invoke(call.clone()).await, invoker.invoke(&call).await);
        assert_eq!(theirs.outcome, ours.outcome, "{tool} {arguments}: {theirs:?}");
        if !ours.is_error() {
            let value = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
            assert_eq!(value(&theirs.text()), value(&ours.text()), "{tool} {arguments}");
        } else if tool == "fail" {
            assert!(theirs.text().contains(&*ours.text()), "{tool} {arguments}: {theirs:?}");
        }
    }
}

/// An approver that denies refunds.
struct DenyingApprover;

impl Approver for DenyingApprover {
    fn decide<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, ApprovalDecision> {
        async move { request.deny("not today") }.boxed()
    }
}

/// Case: the framework's own agent loop holds the conversation with the sample assistant's tools.
pub async fn the_agent_loop_answers_the_four_questions<F: Framework>() {
    let Some(mock) = Aimock::start() else {
        return;
    };
    let called = Arc::new(Mutex::new(Vec::new()));
    let book = Arc::clone(&called);
    let book = move |record: AuditRecord| book.lock().unwrap().push(record.tool.to_string());
    // Discovery would find the tools of a bridge's own tests, too.
    let found = vec![convert_temperature::tool(), get_city_time::tool(), get_weather::tool()];
    let registry = Registry::of(found).unwrap();
    registry.add(Refunds::default()).unwrap();
    let tools = CONVERSATION.map(|question| question.tool);
    let invoker = Invoker::builder(registry.select(tools)).approver(DenyingApprover).audit(book);
    let bridge = Bridge::new(&invoker.build().unwrap()).dialect(Dialect::OPENAI);
    let answers = F::run_conversation(&bridge, &format!("http://{}", mock.address)).await;
    assert_eq!(*called.lock().unwrap(), tools, "{answers:?}");
    assert_eq!(answers.len(), CONVERSATION.len(), "{answers:?}");
    for (answer, question) in answers.iter().zip(CONVERSATION) {
        assert!(answer.contains(question.answer), "{}: {answer}", question.question);
    }
    // The model received the result of the tool, if a model made the call.
    let received = mock.received();
    let last = received.last().map(|(_, body)| body.to_string());
    for question in CONVERSATION.iter().filter(|_| last.is_some()) {
        let result = last.as_deref().unwrap_or_default();
        assert!(result.contains(question.result), "{}: {result}", question.question);
    }
}

/// Case: the row of docs/other-frameworks.md is what was measured.
pub async fn the_readme_says_what_is_carried<F: Framework>() {
    let measured = readme_row::<F>().await;
    let path = real::root().join("docs/other-frameworks.md");
    let readme = std::fs::read_to_string(path).unwrap();
    let start = format!("| [{}]", F::NAME);
    let row = readme.lines().find(|line| line.starts_with(&start));
    let cells = row.and_then(|row| row.split_once(") | ")).map(|(_, cells)| cells);
    assert_eq!(
        cells,
        Some(measured.as_str()),
        "the row of `{}` in docs/other-frameworks.md",
        F::NAME
    );
}

/// Measures what a framework carries: the cells of its row, in the order of the table.
pub async fn readme_row<F: Framework>() -> String {
    let bridge = bridge();
    let shown = F::listed_tools(&bridge).unwrap();
    let hear = async |tool: &str, arguments: &str| {
        let heard = F::call(&bridge, ToolCall::new(tool, arguments)).await;
        heard.unwrap_or_else(|| panic!("no answer of `{tool}`"))
    };
    let hints =
        |tool: &ListedTool| serde_json::to_value(tool.hints).unwrap().as_object().unwrap().len();
    let hints = match shown.iter().map(hints).max() {
        Some(0) | None => "–",
        Some(1) => "read-only",
        Some(_) => "yes",
    };
    let yes = |is: bool| if is { "yes" } else { "–" };
    let strict = yes(shown.iter().any(|tool| tool.strict.is_some()));
    let structured = hear("add_and_subtract", r#"{"a": 2, "b": 3}"#).await.structured;
    let structured = if structured.is_some() { "yes" } else { "as text" };
    let media = hear("draw", "{}").await.media;
    let media = if media.is_empty() { "in words" } else { "yes" };
    let (retry, fatal) =
        (hear("fail", r#"{"how": "retry"}"#).await, hear("fail", r#"{"how": "fatal"}"#).await);
    let failures = match (retry.failed, retry.retry, fatal.ends_run) {
        (None, ..) => "in words".to_owned(),
        (Some(_), retry, ends) => {
            let more = [(retry.is_some(), "retry"), (ends, "end")];
            let more = more.iter().filter(|(is, _)| *is).map(|(_, word)| *word);
            ["marked"].into_iter().chain(more).collect::<Vec<_>>().join(", ")
        }
    };
    let approval = match hear("erase", r#"{"path": "/a"}"#).await.asks_person {
        true => "pauses",
        false => "asks",
    };
    let direct = yes(hear("answer", "{}").await.returns_directly);
    let progress = yes(!hear("count", "{}").await.progress.is_empty());
    let caller = if F::CALLER.is_some() { "theirs" } else { "ours" };
    let back = yes(F::import_tools(&bridge).is_some());
    [hints, strict, approval, structured, media, &failures, direct, progress, caller, back]
        .join(" | ")
        + " |"
}
