//! Several calls of one step.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use toolwright::{CallScope, CancellationToken, Invoker, Outcome, Registry, Tool, ToolCall};

use crate::fixtures::{registry, tool_named};

/// The number of concurrent calls, and its maximum.
#[derive(Default)]
struct Inside {
    now: AtomicUsize,
    most: AtomicUsize,
}

impl Inside {
    /// Yields, so that other calls can start.
    async fn stay(&self) {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.most.fetch_max(now, Ordering::SeqCst);
        for _ in 0..20 {
            tokio::task::yield_now().await;
        }
        self.now.fetch_sub(1, Ordering::SeqCst);
    }
}

fn visiting(name: &str, read_only: bool, inside: &Arc<Inside>) -> Tool {
    let inside = Arc::clone(inside);
    Tool::builder(name, "Comes in and goes out.")
        .param::<usize>("n", "Which visit.")
        .read_only(read_only)
        .run_async(move |args, _| {
            let inside = Arc::clone(&inside);
            async move {
                inside.stay().await;
                args.get::<usize>("n")
            }
        })
        .unwrap()
}

fn calls(tools: &[&str], count: usize) -> Vec<ToolCall> {
    let name = |n: usize| tools[n % tools.len()];
    let call = |n| ToolCall::new(name(n), format!(r#"{{"n": {n}}}"#));
    (0..count).map(call).collect()
}

#[tokio::test]
async fn results_come_in_the_order_of_the_calls() {
    let inside = Arc::default();
    let invoker = Invoker::new(registry(vec![
        visiting("read", true, &inside),
        visiting("write", false, &inside),
    ]))
    .unwrap();
    let mut calls = calls(&["read", "write", "unknown", "Read"], 40);
    calls.push(ToolCall::new("write", "{"));
    let results = invoker.invoke_all(&calls).await;
    assert_eq!(results.len(), calls.len());
    for (n, (result, call)) in results.iter().zip(&calls).enumerate() {
        assert_eq!((&result.call_id, &result.tool), (&call.id, &call.name));
        match n {
            40 => assert_eq!(result.outcome, Outcome::InvalidArguments),
            n if n % 4 == 2 => assert_eq!(result.outcome, Outcome::UnknownTool),
            n => assert_eq!(result.text(), n.to_string()),
        }
    }
    assert!(invoker.invoke_all(&[]).await.is_empty());
}

#[tokio::test]
async fn reading_calls_run_together_but_only_so_many() {
    for (parallel, most) in [(3, 3), (1, 1), (0, 1), (100, 20)] {
        let inside = Arc::default();
        let invoker = Invoker::builder(registry(visiting("read", true, &inside)))
            .max_parallel(parallel)
            .build()
            .unwrap();
        let results = invoker.invoke_all(&calls(&["read"], 20)).await;
        assert!(results.iter().all(|result| !result.is_error()));
        assert_eq!(inside.most.load(Ordering::SeqCst), most);
    }
}

#[tokio::test]
async fn all_other_calls_run_one_after_the_other_in_order() {
    let inside = Arc::new(Inside::default());
    let order = Arc::new(Mutex::new(Vec::new()));
    let tool = |name: &str| {
        let (inside, order) = (Arc::clone(&inside), Arc::clone(&order));
        Tool::builder(name, "Writes.")
            .param::<usize>("n", "Which.")
            .run_async(move |args, _| {
                let (inside, order) = (Arc::clone(&inside), Arc::clone(&order));
                async move {
                    inside.stay().await;
                    order.lock().unwrap().push(args.get::<usize>("n")?);
                    Ok::<_, toolwright::ToolError>(())
                }
            })
            .unwrap()
    };
    let invoker = Invoker::new(registry(vec![tool("a"), tool("b")])).unwrap();
    invoker.invoke_all(&calls(&["a", "b"], 10)).await;
    assert_eq!(inside.most.load(Ordering::SeqCst), 1);
    assert_eq!(*order.lock().unwrap(), (0..10).collect::<Vec<_>>());
}

#[tokio::test]
async fn readers_do_not_wait_for_writers() {
    let gate = Arc::new(tokio::sync::Notify::new());
    let (waiting, opening) = (Arc::clone(&gate), gate);
    let write = Tool::builder("write", "Waits for a reader.")
        .run_async(move |_, _| {
            let gate = Arc::clone(&waiting);
            async move { gate.notified().await }
        })
        .unwrap();
    let read = Tool::builder("read", "Lets the writer go on.")
        .read_only(true)
        .run(move |_, _| opening.notify_one())
        .unwrap();
    let invoker = Invoker::new(registry(vec![write, read])).unwrap();
    let calls = [ToolCall::new("write", ""), ToolCall::new("read", "")];
    let results = invoker.invoke_all(&calls).await;
    assert!(results.iter().all(|result| result.text() == "Done"));
}

#[tokio::test]
async fn one_step_sees_one_snapshot() {
    let registry = Registry::new();
    let held = registry.clone();
    let meddle = Tool::builder("meddle", "Removes the other tool.")
        .run(move |_, _| held.remove("other").is_some().to_string())
        .unwrap();
    registry.add(vec![meddle, tool_named("other")]).unwrap();
    let invoker = Invoker::new(&registry).unwrap();
    let calls = [ToolCall::new("meddle", ""), ToolCall::new("other", "")];
    let results = invoker.invoke_all(&calls).await;
    assert_eq!(results[0].text(), "true");
    assert_eq!(results[1].text(), "other");
    let result = invoker.invoke(&calls[1]).await;
    assert_eq!(result.outcome, Outcome::UnknownTool);
}

#[tokio::test]
async fn a_cancelled_batch_runs_nothing_more() {
    let token = CancellationToken::new();
    let cancel = token.clone();
    let runs = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&runs);
    let tool = Tool::builder("stop", "Stops everything.")
        .run(move |_, _| {
            count.fetch_add(1, Ordering::SeqCst);
            cancel.cancel();
        })
        .unwrap();
    let invoker = Invoker::new(registry(tool)).unwrap();
    let calls = vec![ToolCall::new("stop", ""); 3];
    let results = invoker.invoke_all_in(&CallScope::new().cancel_on(token), &calls).await;
    let outcomes: Vec<Outcome> = results.iter().map(|result| result.outcome).collect();
    assert_eq!(outcomes, [Outcome::Ok, Outcome::Cancelled, Outcome::Cancelled]);
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}
