//! Every shape of function can be a tool, and stays a function.

use serde_json::json;
use toolwright::{Outcome, tool};

use crate::call::{call, text};

/// Adds two numbers.
#[tool]
fn add_now(a: i64, b: i64) -> i64 {
    a + b
}

/// Adds two numbers, later.
#[tool]
async fn add_later(a: i64, b: i64) -> i64 {
    tokio::task::yield_now().await;
    a + b
}

/// Names the thread it runs on.
#[tool(blocking)]
fn thread_of_its_own() -> String {
    format!("{:?}", std::thread::current().id())
}

/// Names the thread it runs on.
#[tool]
fn thread_of_the_caller() -> String {
    format!("{:?}", std::thread::current().id())
}

/// Fails badly.
#[tool]
fn panics() -> String {
    panic!("on purpose")
}

/// Takes nothing and returns nothing.
#[tool]
fn nothing() {}

/// A keyword for a name.
#[tool]
fn r#match(r#type: String, mut r#loop: u32) -> String {
    r#loop += 1;
    format!("{type} {loop}", r#type = r#type, r#loop = r#loop)
}

/// A constant function.
#[tool]
const fn seven() -> u8 {
    7
}

/// A lifetime parameter that is not used.
#[tool]
fn lifetime<'a>() -> &'static str
where
    'a: 'static,
{
    "static"
}

#[tokio::test]
async fn a_function_stays_callable() {
    assert_eq!(add_now(2, 3), 5);
    assert_eq!(add_later(2, 3).await, 5);
    assert_eq!(r#match("a".to_owned(), 1), "a 2");
    assert_eq!(seven(), 7);
}

#[tokio::test]
async fn sync_async_and_blocking_functions_all_run() {
    let numbers = json!({"a": 2, "b": 3});
    assert_eq!(text(add_now::tool(), "add_now", numbers.clone()).await, "5");
    assert_eq!(text(add_later::tool(), "add_later", numbers).await, "5");
    let here = text(thread_of_the_caller::tool(), "thread_of_the_caller", json!({})).await;
    let there = text(thread_of_its_own::tool(), "thread_of_its_own", json!({})).await;
    assert_eq!(here, thread_of_the_caller());
    assert_ne!(there, here);
}

#[tokio::test]
async fn a_panic_is_a_failed_result() {
    let result = call(panics::tool(), "panics", json!({})).await;
    assert_eq!(result.outcome, Outcome::Failed);
}

#[tokio::test]
async fn a_raw_name_is_published_without_its_mark() {
    let tool = r#match::tool();
    assert_eq!(tool.name().as_str(), "match");
    let names: Vec<_> = tool.params().into_iter().map(|param| param.name).collect();
    assert_eq!(names, ["type", "loop"]);
    let arguments = json!({"type": "a", "loop": 1});
    assert_eq!(text(tool, "match", arguments).await, "a 2");
}

#[tokio::test]
async fn functions_without_arguments_take_an_empty_object() {
    assert_eq!(text(nothing::tool(), "nothing", json!({})).await, "Done");
    assert_eq!(text(seven::tool(), "seven", json!({})).await, "7");
    assert_eq!(text(lifetime::tool(), "lifetime", json!({})).await, "static");
    let input = nothing::tool().spec().input.as_value().clone();
    assert_eq!(input["properties"], json!({}));
}

#[tokio::test]
async fn a_tool_may_be_written_inside_a_function() {
    mod inside {
        use toolwright::tool;

        /// Lives in a module of a function.
        #[tool]
        pub(super) fn in_a_local_module(word: String) -> String {
            word
        }
    }

    /// Lives in a function.
    #[tool]
    fn in_a_function(word: String) -> String {
        word
    }

    let word = json!({"word": "hi"});
    let tool = inside::in_a_local_module::tool();
    assert_eq!(text(tool, "in_a_local_module", word.clone()).await, "hi");
    assert_eq!(text(in_a_function::tool(), "in_a_function", word).await, "hi");
}
