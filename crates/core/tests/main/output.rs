//! Results that the model receives.

use std::borrow::Cow;
use std::sync::Mutex;

use futures::stream;
use serde::Serialize;
use toolwright::{
    CallEvent, CallScope, Content, Invoker, Json, JsonSchema, Outcome, Registry, Tool, ToolCall,
    ToolError, ToolResult, Updates, tool, tool_type,
};

use crate::fixtures::{assert_ok, call, registry};

#[derive(Clone, Debug, Serialize, JsonSchema)]
struct Point {
    x: i32,
    y: i32,
}

/// Returns nothing.
#[tool]
fn nothing() {}

/// Returns text.
#[tool]
fn text() -> &'static str {
    "text"
}

/// Returns texts.
#[tool]
fn texts() -> Vec<String> {
    vec!["a".to_owned(), "b".to_owned()]
}

/// Returns a picture and words.
#[tool]
fn picture() -> Vec<Content> {
    vec![Content::text("a pixel"), Content::image("image/png", b"\x89PNG")]
}

/// Returns a value.
#[tool]
fn point() -> Point {
    Point { x: 1, y: 2 }
}

/// Returns a structured value.
#[tool]
fn structured_point() -> Result<Json<Point>, ToolError> {
    Ok(Json(Point { x: 1, y: 2 }))
}

#[tokio::test]
async fn each_return_type_is_encoded() {
    assert_ok(&call(nothing::tool(), "").await, "Done");
    assert_ok(&call(text::tool(), "").await, "text");
    let result = call(texts::tool(), "").await;
    assert_eq!(result.content, [Content::text("a"), Content::text("b")]);
    let result = call(picture::tool(), "").await;
    assert_eq!(result.content, picture());
    assert_ok(&call(point::tool(), "").await, r#"{"x":1,"y":2}"#);
    let result = call(structured_point::tool(), "").await;
    assert_ok(&result, r#"{"x":1,"y":2}"#);
    assert_eq!(result.structured.unwrap().as_str(), r#"{"x":1,"y":2}"#);
}

/// Calls a tool that returns the value.
async fn returned<T: Serialize + Clone + Send + Sync + 'static>(value: T) -> ToolResult {
    let tool = Tool::builder("give", "Returns a value.");
    let give = tool.run(move |_, _| Ok::<_, ToolError>(value.clone()));
    call(give.unwrap(), "").await
}

#[tokio::test]
async fn text_and_content_are_encoded_as_they_are_in_every_container() {
    let text = || "a".to_owned();
    assert_ok(&returned(Some(text())).await, "a");
    assert_ok(&returned(Some("a")).await, "a");
    assert_ok(&returned(Some(Cow::Borrowed("a"))).await, "a");
    assert_ok(&returned(text().into_boxed_str()).await, "a");
    assert_ok(&returned(Some(text().into_boxed_str())).await, "a");
    assert_ok(&returned(Some(())).await, "Done");
    let image = Content::image("image/png", b"\x89PNG");
    let one = returned(Some(image.clone())).await.content;
    assert_eq!(one, std::slice::from_ref(&image));
    let items = vec![Content::text("a"), image];
    assert_eq!(returned(Some(items.clone())).await.content, items);
    for texts in [
        returned(Some(vec![text(), text()])).await,
        returned(vec![Cow::Borrowed("a"), text().into()]).await,
        returned(vec![text().into_boxed_str(), text().into()]).await,
    ] {
        assert_eq!(texts.content, [Content::text("a"), Content::text("a")]);
    }
}

#[tool_type]
#[derive(Clone)]
struct Book {
    title: String,
}

#[tokio::test]
async fn a_closure_may_return_what_a_function_may() {
    async fn returned<R: toolwright::IntoToolOutput + 'static>(
        value: impl Fn() -> R + Send + Sync + 'static,
    ) -> String {
        let tool = Tool::builder("make", "Makes it.").run(move |_, _| value()).unwrap();
        Registry::of(tool).unwrap().call("make", "{}").await.text().into_owned()
    }
    let book = || Book { title: "Emma".to_owned() };
    let point = || Point { x: 1, y: 2 };
    assert_eq!(returned(book).await, r#"{"title":"Emma"}"#);
    assert_eq!(returned(move || vec![point()]).await, r#"[{"x":1,"y":2}]"#);
    assert_eq!(returned(move || vec![book()]).await, r#"[{"title":"Emma"}]"#);
    assert_eq!(returned(move || Some(book())).await, r#"{"title":"Emma"}"#);
    assert_eq!(returned(|| None::<Point>).await, "null");
    assert_eq!(returned(|| ()).await, "Done");
    assert_eq!(returned(|| Some("text".to_owned())).await, "text");
    assert_eq!(returned(move || [("a", point())]).await, r#"[["a",{"x":1,"y":2}]]"#);
    assert_eq!(returned(move || Ok::<_, String>(point())).await, r#"{"x":1,"y":2}"#);
    assert_eq!(returned(|| Err::<Book, _>("none left".to_owned())).await, "none left");
    assert_eq!(returned(|| vec!["a".into(), Content::from("b".to_owned())]).await, "a\nb");
}

#[tokio::test]
async fn a_value_that_is_not_there_is_null_whatever_its_type() {
    assert_ok(&returned(None::<String>).await, "null");
    assert_ok(&returned(None::<Content>).await, "null");
    assert_ok(&returned(None::<Point>).await, "null");
    assert_ok(&returned(None::<()>).await, "null");
    // A list keeps its order.
    let sparse = vec![Some("a".to_owned()), None];
    assert_ok(&returned(sparse).await, r#"["a",null]"#);
}

#[test]
fn only_structured_values_publish_an_output_schema() {
    assert!(point::tool().spec().output.is_none());
    let tool = structured_point::tool();
    let output = tool.spec().output.as_ref().unwrap();
    let named = output.as_value().to_string();
    assert!(named.contains(r#""x""#), "{named}");
}

/// Counts down.
#[tool]
fn count_down(from: u32) -> Updates<impl futures::Stream<Item = String> + use<>> {
    Updates(stream::iter((0..=from).rev().map(|n| n.to_string())))
}

#[tokio::test]
async fn updates_reach_the_listener_and_the_last_one_is_the_result() {
    let seen = std::sync::Arc::new(Mutex::new(Vec::new()));
    let heard = std::sync::Arc::clone(&seen);
    let scope = CallScope::new().on_event(move |event| {
        if let CallEvent::Update { call_id, result } = event {
            assert_eq!((&result.call_id, result.tool.as_str()), (&call_id, "count_down"));
            heard.lock().unwrap().push(format!("{call_id}: {}", result.text()));
        }
    });
    let call = ToolCall::new("count_down", r#"{"from": 2}"#).with_id("c");
    let invoker = Invoker::new(registry(count_down::tool())).unwrap();
    assert_ok(&invoker.invoke_in(&scope, &call).await, "0");
    assert_eq!(*seen.lock().unwrap(), ["c: 2", "c: 1"]);
    assert_ok(&invoker.invoke(&call).await, "0");
}

#[tokio::test]
async fn a_stream_without_a_value_is_a_failure() {
    let tool = Tool::builder("silent", "Says nothing.")
        .run(|_, _| Updates(stream::empty::<String>()))
        .unwrap();
    let result = call(tool, "").await;
    assert_eq!(result.outcome, Outcome::Failed);
}

async fn limited(limit: usize, tool: Tool) -> ToolResult {
    let call = ToolCall::new(tool.name(), "{}");
    let invoker = Invoker::builder(registry(tool)).output_limit(limit);
    invoker.build().unwrap().invoke(&call).await
}

/// A tool that returns these items.
fn returning(items: Vec<Content>) -> Tool {
    Tool::builder("large", "Returns much.").run(move |_, _| items.clone()).unwrap()
}

#[tokio::test]
async fn a_hundred_megabytes_of_text_are_truncated_and_kept() {
    let whole = "é".repeat(50_000_000);
    let tool = Tool::builder("large", "Returns much.").run(move |_, _| whole.clone()).unwrap();
    let result = call(tool, "{}").await;
    assert_eq!(result.outcome, Outcome::Ok);
    let [preview, note] = result.content.as_slice() else {
        panic!("{} items", result.content.len());
    };
    assert_eq!(preview.len(), 100_000);
    assert!(matches!(note, Content::Text { text } if text.contains("100000000 bytes")));
    assert_eq!(result.notes.len(), 1);
    assert_eq!(result.untruncated.unwrap().content[0].len(), 100_000_000);
}

#[tokio::test]
async fn text_is_cut_between_characters() {
    let result = limited(10, returning(vec![Content::text("ééééééé")])).await;
    assert_eq!(result.content[0], Content::text("ééééé"));
    let result = limited(11, returning(vec![Content::text("ééééééé")])).await;
    assert_eq!(result.content[0], Content::text("ééééé"));
    let result = limited(14, returning(vec![Content::text("ééééééé")])).await;
    assert_eq!(result.content, [Content::text("ééééééé")]);
    assert!(result.untruncated.is_none() && result.notes.is_empty());
}

#[tokio::test]
async fn a_picture_is_sent_whole_or_not_at_all() {
    let picture = Content::image("image/png", &[0; 300]);
    let words = Content::text("words");
    let result = limited(100, returning(vec![picture.clone(), words.clone()])).await;
    let [first, note] = result.content.as_slice() else {
        panic!("{:?}", result.content);
    };
    assert_eq!(first, &words);
    assert!(matches!(note, Content::Text { text } if text.starts_with("[cut:")));
    assert_eq!(result.untruncated.unwrap().content, [picture, words]);
}

#[tokio::test]
async fn many_small_items_are_cut_to_a_few() {
    let items = vec![Content::text("0123456789"); 100_000];
    let result = limited(25, returning(items)).await;
    let lengths: Vec<usize> = result.content.iter().map(Content::len).take(3).collect();
    assert_eq!(lengths, [10, 10, 5]);
    assert_eq!(result.content.len(), 4);
}

#[tokio::test]
async fn a_huge_structured_value_is_kept_but_not_sent() {
    let tool = Tool::builder("large", "Returns much.").run(|_, _| Json(vec![7; 1_000])).unwrap();
    let result = limited(100, tool).await;
    assert!(result.structured.is_none());
    assert_eq!(result.content[0].len(), 100);
    let full = result.untruncated.unwrap();
    assert_eq!(full.structured.as_ref().unwrap().as_str().len(), 2_001);
    assert_eq!(full.content[0].len(), 2_001);
}

#[tokio::test]
async fn a_large_failure_is_cut_too() {
    let tool = Tool::builder("large", "Fails at length.")
        .run(|_, _| Err::<String, _>(ToolError::failed("x".repeat(1_000))))
        .unwrap();
    let result = limited(100, tool).await;
    assert_eq!(result.outcome, Outcome::Failed);
    assert_eq!(result.content[0].len(), 100);
}

#[tokio::test]
async fn a_declared_output_gets_structured_content() {
    let tool = |json_type: &str, value: &'static str| {
        Tool::builder("answer", "Answers.")
            .output_of_type(json_type)
            .run(move |_, _| value)
            .unwrap()
    };
    for (json_type, text, structured) in [
        ("number", "5", Some("5")),
        ("object", r#"{"a":1}"#, Some(r#"{"a":1}"#)),
        ("number", "five", None),
        ("string", "5", None),
    ] {
        let result = call(tool(json_type, text), "").await;
        assert_ok(&result, text);
        let got = result.structured.as_ref().map(|it| it.as_str());
        assert_eq!(got, structured, "{json_type} {text}");
    }
}

#[tokio::test]
async fn structured_content_matches_the_output_schema() {
    let number = Tool::builder("answer", "Answers.").output::<String>().run(|_, _| "5").unwrap();
    let result = call(number, "").await;
    assert_eq!(result.structured.unwrap().as_str(), r#""5""#);
    let list = Tool::builder("answer", "Answers.")
        .output::<Vec<String>>()
        .run(|_, _| vec!["5".to_owned()])
        .unwrap();
    let result = call(list, "").await;
    assert_ok(&result, "5");
    assert_eq!(result.structured.unwrap().as_str(), r#"["5"]"#);
}

#[tokio::test]
async fn a_registry_encodes_a_type_by_the_encoder_of_highest_priority() {
    let registry = Registry::new();
    registry.add(point::tool()).unwrap();
    let invoker = Invoker::new(&registry).unwrap();
    let result = |invoker: Invoker| async move {
        let result = invoker.invoke(&ToolCall::new("point", "")).await;
        result.text().into_owned()
    };
    assert_eq!(result(invoker.clone()).await, r#"{"x":1,"y":2}"#);
    registry.add_encoder(5, |it: &Point| ToolResult::success(format!("five {}", it.x)));
    assert_eq!(result(invoker.clone()).await, "five 1");
    registry.add_encoder(1, |_: &Point| ToolResult::success("one"));
    registry.add_encoder(9, |_: &String| ToolResult::success("another type"));
    assert_eq!(result(invoker.clone()).await, "five 1");
    registry.add_encoder(5, |_: &Point| ToolResult::success("later five"));
    assert_eq!(result(invoker.clone()).await, "later five");
    registry.add_encoder(6, |_: &Point| ToolResult::failure("six"));
    assert_eq!(result(invoker).await, "six");
}

#[tokio::test]
async fn updates_are_encoded_by_the_registry_too() {
    let tool = Tool::builder("walk", "Walks.")
        .run(|_, _| Updates(stream::iter([Point { x: 0, y: 0 }, Point { x: 3, y: 4 }])))
        .unwrap();
    let registry = registry(tool);
    registry.add_encoder(0, |it: &Point| ToolResult::success(format!("{}/{}", it.x, it.y)));
    let invoker = Invoker::new(&registry).unwrap();
    assert_ok(&invoker.invoke(&ToolCall::new("walk", "")).await, "3/4");
}
