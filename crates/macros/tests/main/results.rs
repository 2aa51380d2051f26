//! Return types of tools.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex};

use futures::stream::{self, Stream};
use serde::Serialize;
use serde_json::{Value, json};
use toolwright::{
    CallEvent, CallScope, Content, ErrorKind, Invoker, Json, JsonSchema, Outcome, ToolCall,
    ToolError, ToolResult, Updates, tools,
};

use crate::call::{call, registry};

#[derive(Serialize, JsonSchema)]
struct Weather {
    /// In degrees Celsius.
    degrees: i32,
    sky: &'static str,
}

const FINE: Weather = Weather { degrees: 20, sky: "clear" };

/// A custom error type.
#[derive(Debug)]
struct NoSuchCity(String);

impl fmt::Display for NoSuchCity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no city is called {}", self.0)
    }
}

impl Error for NoSuchCity {}

/// An error that, like `anyhow::Error`, does not implement `Error` but converts into a boxed one.
struct Report(String);

impl From<Report> for Box<dyn Error + Send + Sync> {
    fn from(report: Report) -> Self {
        report.0.into()
    }
}

struct Results;

#[tools(manual)]
impl Results {
    /// Text.
    #[tool]
    fn string() -> String {
        "text".to_owned()
    }

    /// Text.
    #[tool]
    fn static_str() -> &'static str {
        "text"
    }

    /// Nothing.
    #[tool]
    async fn unit() {}

    /// A picture.
    #[tool]
    fn content() -> Content {
        Content::image("image/png", b"png")
    }

    /// A picture and its caption.
    #[tool]
    fn contents() -> Vec<Content> {
        vec![Content::text("a pixel"), Content::image("image/png", b"png")]
    }

    /// Lines.
    #[tool]
    fn strings() -> Vec<String> {
        vec!["one".to_owned(), "two".to_owned()]
    }

    /// A structured result.
    #[tool]
    fn json() -> Json<Weather> {
        Json(FINE)
    }

    /// A structured result, if all goes well.
    #[tool]
    async fn json_or_error() -> Result<Json<Weather>, NoSuchCity> {
        Ok(Json(FINE))
    }

    /// A number.
    #[tool]
    fn number() -> f64 {
        1.5
    }

    /// A map.
    #[tool]
    fn map() -> BTreeMap<&'static str, u32> {
        BTreeMap::from([("one", 1), ("two", 2)])
    }

    /// A plain value.
    #[tool]
    fn value() -> Weather {
        FINE
    }

    /// A result as it is.
    #[tool]
    fn as_it_is() -> ToolResult {
        ToolResult::failure("out of paper")
    }

    /// Fails with text.
    #[tool]
    fn text_error() -> Result<String, String> {
        Err("no luck".to_owned())
    }

    /// Fails with a boxed error.
    #[tool]
    fn boxed_error() -> Result<(), Box<dyn Error + Send + Sync>> {
        Err("no luck")?
    }

    /// Fails with a report.
    #[tool]
    fn report() -> Result<(), Report> {
        Err(Report("no luck".to_owned()))
    }

    /// Fails with an error of its own.
    #[tool]
    async fn own_error(city: String) -> Result<String, NoSuchCity> {
        Err(NoSuchCity(city))
    }

    /// Asks for another try.
    #[tool]
    fn tool_error() -> Result<(), ToolError> {
        Err(ToolError::retry("in lower case, please"))
    }

    /// Uses `?` on what it likes.
    #[tool]
    fn question_mark(number: String) -> Result<u32, ToolError> {
        Ok(number.parse::<u32>()?)
    }

    /// An alias of `Result`.
    #[tool]
    fn alias() -> std::io::Result<String> {
        Err(std::io::Error::other("no luck"))
    }

    /// Counts down.
    #[tool]
    fn updates(&self, from: u32) -> Updates<impl Stream<Item = String> + use<>> {
        Updates(stream::iter((0..=from).rev().map(|n| n.to_string())))
    }

    /// Warms up.
    #[tool]
    async fn json_updates() -> Result<Updates<impl Stream<Item = Json<Weather>>>, ToolError> {
        let warmer = |degrees| Json(Weather { degrees, ..FINE });
        Ok(Updates(stream::iter([18, 19, 20].map(warmer))))
    }
}

async fn result(name: &str) -> ToolResult {
    call(Results, name, json!({})).await
}

#[tokio::test]
async fn text_is_content_as_it_is() {
    assert_eq!(result("string").await.content, [Content::text("text")]);
    assert_eq!(result("static_str").await.content, [Content::text("text")]);
    let lines = [Content::text("one"), Content::text("two")];
    assert_eq!(result("strings").await.content, lines);
}

#[tokio::test]
async fn content_is_content_as_it_is() {
    let picture = Content::image("image/png", b"png");
    let both = [Content::text("a pixel"), picture];
    assert_eq!(result("content").await.content, both[1..]);
    assert_eq!(result("contents").await.content, both);
}

#[tokio::test]
async fn nothing_is_done() {
    assert_eq!(result("unit").await.text(), "Done");
}

#[tokio::test]
async fn any_other_value_is_json_text() {
    assert_eq!(result("number").await.text(), "1.5");
    assert_eq!(result("map").await.text(), r#"{"one":1,"two":2}"#);
    let weather = result("value").await;
    assert_eq!(weather.text(), r#"{"degrees":20,"sky":"clear"}"#);
    assert_eq!(weather.structured, None);
}

#[tokio::test]
async fn json_is_structured_and_text_and_published() {
    for name in ["json", "json_or_error"] {
        let weather = result(name).await;
        let value = json!({"degrees": 20, "sky": "clear"});
        assert_eq!(weather.structured.as_ref().unwrap().to_value(), value);
        assert_eq!(weather.text(), r#"{"degrees":20,"sky":"clear"}"#);
        let schema = output(name).unwrap();
        assert!(schema.to_string().contains("In degrees Celsius."), "{schema}");
    }
}

#[test]
fn only_json_publishes_an_output_schema() {
    for name in ["string", "number", "value", "as_it_is", "updates", "text_error"] {
        assert_eq!(output(name), None, "{name}");
    }
    assert!(output("json_updates").is_some());
}

fn output(name: &str) -> Option<Value> {
    let tool = registry(Results).get(name).unwrap();
    let output = tool.spec().output.as_ref();
    output.map(|schema| schema.as_value().clone())
}

#[tokio::test]
async fn a_tool_result_is_taken_as_it_is() {
    let failed = result("as_it_is").await;
    assert_eq!(failed.outcome, Outcome::Failed);
    assert_eq!(failed.text(), "out of paper");
    assert_eq!(failed.tool.as_str(), "as_it_is");
}

#[tokio::test]
async fn every_error_becomes_a_failed_result() {
    for name in ["text_error", "boxed_error", "report", "alias"] {
        let failed = result(name).await;
        assert_eq!(failed.error, Some(ErrorKind::Failed), "{name}");
        assert_eq!(failed.text(), "no luck", "{name}");
    }
    let own = call(Results, "own_error", json!({"city": "Atlantis"})).await;
    assert_eq!(own.text(), "no city is called Atlantis");
    assert!(own.cause().unwrap().is::<NoSuchCity>());
}

#[tokio::test]
async fn a_tool_error_keeps_its_kind() {
    let retry = result("tool_error").await;
    assert_eq!(retry.error, Some(ErrorKind::Retry));
    let parsed = call(Results, "question_mark", json!({"number": "x"})).await;
    assert_eq!(parsed.text(), "invalid digit found in string");
}

#[tokio::test]
async fn the_last_update_is_the_result_and_the_others_are_events() {
    let (heard, last) = listen("updates", json!({"from": 2})).await;
    assert_eq!(last.text(), "0");
    assert_eq!(heard, ["2", "1"]);
    let (heard, last) = listen("json_updates", json!({})).await;
    assert_eq!(heard.len(), 2);
    assert_eq!(last.structured.unwrap().to_value()["degrees"], 20);
}

/// Calls a tool, and returns the text of each update and the result.
async fn listen(name: &str, arguments: Value) -> (Vec<String>, ToolResult) {
    let heard: Arc<Mutex<Vec<String>>> = Arc::default();
    let keep = Arc::clone(&heard);
    let scope = CallScope::new().on_event(move |event| {
        if let CallEvent::Update { result, .. } = event {
            keep.lock().unwrap().push(result.text().into_owned());
        }
    });
    let invoker = Invoker::new(registry(Results)).unwrap();
    let call = ToolCall::new(name, arguments.to_string());
    let last = invoker.invoke_in(&scope, &call).await;
    let heard = heard.lock().unwrap().clone();
    (heard, last)
}
