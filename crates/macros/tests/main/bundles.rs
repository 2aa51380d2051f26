//! Bundles: methods of one type as tools.

use std::sync::atomic::{AtomicU32, Ordering};

use serde_json::json;
use toolwright::{Bundle, Registry, tools};

use crate::call::{registry, text};

/// Counts what it is told to.
struct Counter {
    count: AtomicU32,
}

impl Counter {
    fn from(count: u32) -> Self {
        let count = AtomicU32::new(count);
        Self { count }
    }

    fn at_ten() -> Self {
        Self::from(10)
    }
}

#[tools(new = Self::at_ten, prefix = "Counter")]
impl Counter {
    /// Not a tool.
    const STEP: u32 = 1;

    /// Adds to the count.
    #[tool(name = "addTo")]
    fn add(&self, #[param(default = Self::STEP)] amount: u32) -> u32 {
        self.count.fetch_add(amount, Ordering::Relaxed) + amount
    }

    /// Reads the count, later.
    #[tool(read_only)]
    async fn read(&self) -> u32 {
        tokio::task::yield_now().await;
        self.count.load(Ordering::Relaxed)
    }

    /// Reads the count, on a thread of its own.
    #[toolwright::tool(blocking)]
    pub(crate) fn read_slowly(&self) -> u32 {
        self.count.load(Ordering::Relaxed)
    }

    /// Needs no counter.
    #[tool]
    fn twice(number: u32) -> u32 {
        number * 2
    }

    /// Needs no counter either, later.
    #[tool]
    async fn thrice(number: u32) -> u32 {
        number * 3
    }

    /// Is not a tool.
    fn helper(&self) -> u32 {
        self.count.load(Ordering::Relaxed)
    }
}

/// Has tools that are compiled under conditions.
#[derive(Default)]
struct Conditional;

#[tools]
impl Conditional {
    /// Is there when testing.
    #[cfg(test)]
    #[tool(name = "conditional")]
    fn when_testing(&self) -> &'static str {
        "testing"
    }

    /// Is there when not testing.
    #[cfg(not(test))]
    #[tool(name = "conditional")]
    fn when_not_testing(&self) -> Missing {
        Missing
    }

    /// Is never there.
    #[cfg(any())]
    #[tool]
    fn never(&self, missing: Missing) {}

    /// Keeps the bundle from being empty.
    #[tool]
    fn unconditional(&self) {}
}

struct Wrapper<T>(T);

#[tools(manual)]
impl Wrapper<u8> {
    /// Has its parameter filled in.
    #[tool]
    fn wrapped(&self, other: Option<u8>) -> u8 {
        self.0 + other.unwrap_or_default()
    }
}

#[tokio::test]
async fn methods_share_the_bundle() {
    let counter = Counter::from(5);
    assert_eq!(counter.helper(), 5);
    let registry = registry(counter);
    let invoker = toolwright::Invoker::new(&registry).unwrap();
    for (name, arguments, expected) in [
        ("Counter_addTo", "{}", "6"),
        ("Counter_addTo", r#"{"amount": 4}"#, "10"),
        ("Counter_read", "{}", "10"),
        ("Counter_read_slowly", "{}", "10"),
        ("Counter_twice", r#"{"number": 4}"#, "8"),
        ("Counter_thrice", r#"{"number": 4}"#, "12"),
    ] {
        let call = toolwright::ToolCall::new(name, arguments);
        assert_eq!(invoker.invoke(&call).await.text(), expected, "{name}");
    }
}

#[test]
fn tools_keep_the_order_they_were_written_in_and_the_prefix() {
    let tools = Counter::at_ten().into_items();
    let names: Vec<&str> = tools.iter().map(|tool| tool.name().as_str()).collect();
    let written =
        ["Counter_addTo", "Counter_read", "Counter_read_slowly", "Counter_twice", "Counter_thrice"];
    assert_eq!(names, written);
}

#[test]
fn a_bundle_is_named_by_its_path() {
    let tools = Counter::at_ten().into_items();
    assert_eq!(&*tools[0].spec().bundle, "main::bundles::Counter");
}

#[tokio::test]
async fn discovery_uses_the_named_constructor() {
    let registry = Registry::discover().unwrap();
    let invoker = toolwright::Invoker::new(registry.select(["Counter_read"])).unwrap();
    let call = toolwright::ToolCall::new("Counter_read", "{}");
    assert_eq!(invoker.invoke(&call).await.text(), "10");
}

#[tokio::test]
async fn a_method_that_is_not_compiled_is_no_tool() {
    let tools = registry(Conditional);
    assert!(tools.get("never").is_none());
    assert_eq!(tools.snapshot().len(), 2);
    assert_eq!(text(Conditional, "conditional", json!({})).await, "testing");
}

#[tokio::test]
async fn a_generic_type_may_be_a_bundle_when_it_is_filled_in() {
    let sent = json!({"other": 2});
    assert_eq!(text(Wrapper(3), "wrapped", sent).await, "5");
}

#[tokio::test]
async fn a_bundle_may_be_written_inside_a_function() {
    #[derive(Default)]
    struct Local;

    #[tools]
    impl Local {
        /// Lives in a function.
        #[tool]
        fn in_a_local_bundle(&self) -> u8 {
            1
        }
    }

    assert_eq!(text(Local, "in_a_local_bundle", json!({})).await, "1");
}
