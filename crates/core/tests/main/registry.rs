//! The registry and its snapshots.

use std::sync::Mutex;

use futures::StreamExt as _;
use toolwright::{
    Bundle, Invoker, Outcome, Registry, RegistryError, State, Tool, ToolCall, json, tool, tools,
};

use crate::fixtures::{registry, tool_named};

fn names(registry: &Registry) -> Vec<String> {
    let snapshot = registry.snapshot();
    snapshot.iter().map(|entry| entry.spec().name.to_string()).collect()
}

/// A tool of another bundle.
fn of(bundle: &str, name: &str) -> Tool {
    Tool::builder(name, "Says its bundle.").bundle(bundle).run(|_, _| "").unwrap()
}

#[test]
fn tools_keep_the_order_they_were_added_in() {
    let registry = registry(vec![tool_named("c"), tool_named("a")]);
    registry.add(tool_named("b")).unwrap();
    assert_eq!(names(&registry), ["c", "a", "b"]);
    registry.remove("a").unwrap();
    registry.add(tool_named("a")).unwrap();
    assert_eq!(names(&registry), ["c", "b", "a"]);
    assert_eq!(names(&registry), names(&registry));
}

#[test]
fn a_duplicate_tool_is_rejected_with_both_bundles() {
    let registry = registry(of("first", "get"));
    let refused = registry.add(of("second", "get")).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "two tools are named `get`: one of bundle `first`, one of bundle `second`; rename one or add a prefix"
    );
}

/// Adds a number to the state.
#[tool]
fn add_up(State(sum): State<Mutex<u32>>, number: u32) -> u32 {
    *sum.lock().unwrap() += number;
    number
}

#[test]
fn a_registry_is_made_of_bundles_of_different_types() {
    let registry = Registry::of((
        Desk { drawers: 2 },
        [tool_named("a"), tool_named("b")],
        vec![tool_named("c")],
        add_up::tool(),
    ));
    assert_eq!(names(&registry.unwrap()), ["desk_count", "desk_open", "a", "b", "c", "add_up"]);
    let twice = Registry::of([tool_named("a"), tool_named("a")]);
    assert!(matches!(twice, Err(RegistryError::Duplicate { .. })));
}

#[tokio::test]
async fn a_registry_calls_a_tool_by_name() {
    let registry = Registry::of((tool_named("a"), add_up::tool())).unwrap();
    let result = registry.call("a", json!({})).await;
    assert_eq!((result.text().as_ref(), result.tool.as_str()), ("a", "a"));
    assert_eq!(registry.call("b", "{}").await.outcome, Outcome::UnknownTool);
    let result = registry.call("add_up", json!({"number": 1})).await;
    assert_eq!(result.outcome, Outcome::Failed);
    assert!(result.text().contains("u32>`: write `.state(…)`"), "{result:?}");
    let error = Invoker::new(&registry).unwrap_err().to_string();
    assert!(error.starts_with("`add_up` cannot run here: it needs state of type"), "{error}");
    assert!(error.contains("write `.state(…)` with a value of this type"), "{error}");
}

#[test]
fn a_list_is_added_whole_or_not_at_all() {
    let registry = registry(tool_named("taken"));
    let version = registry.snapshot().version();
    for list in [
        vec![tool_named("a"), tool_named("taken"), tool_named("b")],
        vec![tool_named("a"), tool_named("a")],
    ] {
        let refused = registry.add(list).unwrap_err();
        assert!(matches!(refused, RegistryError::Duplicate { .. }));
    }
    assert_eq!(names(&registry), ["taken"]);
    assert_eq!(registry.snapshot().version(), version);
}

#[test]
fn a_removed_tool_is_returned_and_its_name_is_free() {
    let registry = registry(tool_named("a"));
    assert_eq!(registry.remove("a").unwrap().name().as_str(), "a");
    assert!(registry.remove("a").is_none());
    assert!(registry.get("a").is_none());
    registry.add(tool_named("a")).unwrap();
    assert!(registry.get("a").is_some());
    assert!(registry.get("A").is_none());
}

#[test]
fn bundles_are_named_once_in_the_order_of_their_first_tool() {
    let registry = registry(vec![of("b", "1"), of("a", "2"), of("b", "3")]);
    let bundles: Vec<String> = registry.bundles().iter().map(ToString::to_string).collect();
    assert_eq!(bundles, ["b", "a"]);
    registry.remove("2").unwrap();
    assert_eq!(registry.bundles().len(), 1);
}

struct Desk {
    drawers: u8,
}

#[tools(manual, prefix = "desk")]
impl Desk {
    /// Counts the drawers.
    #[tool(read_only)]
    fn count(&self) -> u8 {
        self.drawers
    }

    /// Opens a drawer.
    #[tool]
    async fn open(&self, number: u8) -> Result<String, String> {
        match number <= self.drawers {
            true => Ok(format!("drawer {number}")),
            false => Err("no such drawer".to_owned()),
        }
    }
}

#[tokio::test]
async fn the_tools_of_a_bundle_share_it() {
    let registry = registry(Desk { drawers: 3 });
    assert_eq!(names(&registry), ["desk_count", "desk_open"]);
    let bundle = &registry.bundles()[0];
    assert!(bundle.ends_with("::Desk"), "{bundle}");
    let invoker = Invoker::new(&registry).unwrap();
    let result = invoker.invoke(&ToolCall::new("desk_count", "")).await;
    assert_eq!(result.text(), "3");
    let result = invoker.invoke(&ToolCall::new("desk_open", r#"{"number": 4}"#)).await;
    assert_eq!(result.text(), "no such drawer");
    assert_eq!(Desk { drawers: 1 }.into_items().len(), 2);
}

#[test]
fn a_snapshot_never_changes() {
    let registry = registry(vec![tool_named("a"), tool_named("b")]);
    let before = registry.snapshot();
    registry.remove("a").unwrap();
    registry.add(tool_named("c")).unwrap();
    assert_eq!((before.len(), before.get("a").is_some()), (2, true));
    assert!(before.get("c").is_none());
    let after = registry.snapshot();
    assert!(after.version() > before.version());
    assert_eq!(names(&registry), ["b", "c"]);
}

#[test]
fn a_version_identifies_one_content() {
    let registry = registry(tool_named("a"));
    let version = registry.snapshot().version();
    assert!(registry.remove("nobody").is_none());
    registry.add(Vec::<Tool>::new()).unwrap();
    registry.add(tool_named("a")).unwrap_err();
    assert_eq!(registry.snapshot().version(), version);
    registry.add(tool_named("b")).unwrap();
    assert_eq!(registry.snapshot().version(), version + 1);
    registry.remove("b").unwrap();
    assert_eq!(registry.snapshot().version(), version + 2);
}

#[tokio::test]
async fn changes_are_streamed_until_the_registry_is_gone() {
    let registry = registry(tool_named("a"));
    let mut changes = Box::pin(registry.changes());
    registry.add(tool_named("b")).unwrap();
    assert_eq!(changes.next().await, Some(2));
    registry.remove("nobody");
    registry.add(tool_named("b")).unwrap_err();
    registry.remove("b").unwrap();
    assert_eq!(changes.next().await, Some(3));
    registry.add(tool_named("c")).unwrap();
    registry.add(tool_named("d")).unwrap();
    assert_eq!(changes.next().await, Some(5), "a run of changes is one");
    let clone = registry.clone();
    drop(registry);
    clone.add(tool_named("e")).unwrap();
    assert_eq!(changes.next().await, Some(6));
    drop(clone);
    assert_eq!(changes.next().await, None);
}

#[test]
fn ten_thousand_tools_are_no_trouble() {
    let registry = Registry::new();
    for n in 0..10_000 {
        registry.add(tool_named(&format!("tool_{n}"))).unwrap();
    }
    let snapshot = registry.snapshot();
    assert_eq!(snapshot.len(), 10_000);
    assert_eq!(snapshot.version(), 10_000);
    assert!(snapshot.get("tool_9999").is_some());
    assert_eq!(registry.bundles().len(), 1);
    let numbered = |(n, entry): (usize, &toolwright::RegisteredTool)| {
        entry.spec().name == format!("tool_{n}").as_str()
    };
    assert!(snapshot.iter().enumerate().all(numbered));
}

#[test]
fn tools_are_added_from_many_threads_at_once() {
    let registry = Registry::new();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let registry = &registry;
            scope.spawn(move || {
                for n in 0..100 {
                    registry.add(tool_named(&format!("tool_{thread}_{n}"))).unwrap();
                    assert!(registry.snapshot().len() > n);
                }
            });
        }
    });
    assert_eq!(registry.snapshot().len(), 400);
    assert_eq!(registry.snapshot().version(), 400);
}
