//! The tools that every case calls, and the invoker that runs them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tokio::sync::Notify;
use toolwright::schemars;
use toolwright::{
    Bridge, Caller, Content, Invoker, Json, JsonSchema, Progress, Registry, SessionId, State,
    ToolError, tool,
};

/// How a failure is to be named.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Failure {
    Retry,
    Failed,
    Fatal,
    Panic,
}

/// Where to deliver to.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct Address {
    /// The street.
    street: String,
    /// The floor, counted from the ground.
    floor: Option<i8>,
}

/// The sum and the difference of two numbers.
#[derive(Debug, Deserialize, JsonSchema, Serialize)]
struct Both {
    /// The sum.
    sum: i64,
    /// The difference.
    difference: i64,
}

/// Adds two numbers.
#[tool(read_only)]
fn add(
    /// The first.
    a: i64,
    /// The second; one if absent.
    b: Option<i64>,
) -> i64 {
    a + b.unwrap_or(1)
}

/// Adds and subtracts.
#[tool(read_only, idempotent, open_world = false)]
fn add_and_subtract(a: i64, b: i64) -> Json<Both> {
    let (sum, difference) = (a + b, a - b);
    Json(Both { sum, difference })
}

/// Labels a parcel.
#[tool(idempotent)]
fn label(
    /// What to write, by the name of the field.
    labels: BTreeMap<String, String>,
    /// Where it goes.
    to: Address,
    /// The copies.
    #[param(default = 1)]
    copies: u8,
) -> String {
    let floor = to.floor.map_or("any".to_owned(), |floor| floor.to_string());
    format!("{labels:?} to {}, floor {floor}, {copies} times", to.street)
}

/// Draws a pixel.
#[tool(read_only)]
fn draw() -> Vec<Content> {
    let pixel = Content::image("image/png", b"\x89PNG");
    vec![Content::text("A pixel:"), pixel]
}

/// Fails.
#[tool(read_only)]
fn fail(how: Failure) -> Result<String, ToolError> {
    match how {
        Failure::Retry => Err(ToolError::retry("say it otherwise")),
        Failure::Failed => Err(ToolError::failed("the shop is closed")),
        Failure::Fatal => Err(ToolError::fatal("the shop has burnt down")),
        Failure::Panic => panic!("the shop is on fire"),
    }
}

/// Waits for what never comes.
#[tool(read_only, timeout = "20ms")]
async fn wait_in_vain() -> String {
    std::future::pending().await
}

/// Waits until it is cancelled.
#[tool(read_only)]
async fn wait(State(stage): State<CallProbe>) -> String {
    let _leaving = NotifyOnDrop(&stage.finished);
    stage.entered.notify_one();
    std::future::pending().await
}

/// Erases a file.
#[tool(destructive)]
fn erase(path: String) -> String {
    format!("erased {path}")
}

/// Answers the person.
#[tool(read_only, return_direct)]
fn answer() -> String {
    "forty-two".to_owned()
}

/// Counts, and reports progress.
#[tool(read_only)]
fn count(progress: Progress) -> String {
    progress.report(1.0, 2.0, "halfway");
    "counted".to_owned()
}

/// Returns the caller and the session.
#[tool(read_only)]
fn who(caller: Caller, session: SessionId) -> String {
    format!("{} in {session}", caller.name().unwrap_or("nobody"))
}

/// Where a call that waits is watched.
#[derive(Clone, Debug, Default)]
pub(crate) struct CallProbe {
    pub(crate) entered: Arc<Notify>,
    pub(crate) finished: Arc<Notify>,
}

/// Signals when it is dropped that a call has ended, however it ended.
struct NotifyOnDrop<'a>(&'a Notify);

impl Drop for NotifyOnDrop<'_> {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

pub(crate) fn registry() -> Registry {
    let registry = Registry::new();
    let tools = [
        add::tool(),
        add_and_subtract::tool(),
        label::tool(),
        draw::tool(),
        fail::tool(),
        wait_in_vain::tool(),
        wait::tool(),
        erase::tool(),
        answer::tool(),
        count::tool(),
        who::tool(),
    ];
    for tool in tools {
        registry.add(tool).unwrap();
    }
    registry
}

pub(crate) fn invoker(stage: &CallProbe) -> Invoker {
    let invoker = Invoker::builder(registry()).state(stage.clone());
    invoker.output_limit(10_000).build().unwrap()
}

pub(crate) fn bridge() -> Bridge {
    Bridge::new(&invoker(&CallProbe::default()))
}
