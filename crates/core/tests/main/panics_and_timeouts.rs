//! A call always has a result: panics, timeouts, cancellation, concurrency limits.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use futures::{FutureExt as _, StreamExt as _, stream};
use tokio::sync::{mpsc as channel, oneshot};
use tokio::task::JoinHandle;
use toolwright::{
    Args, CallScope, Cancel, CancellationToken, ErrorKind, HandlerContext, Invoker, InvokerError,
    Outcome, ProjectDir, Retry, State, Tool, ToolCall, ToolResult, Updates, tool,
};

use crate::fixtures::{assert_ok, call, invoker, registry, tool_named};

/// Panics at once.
#[tool]
fn panic_at_once(_at: Option<u8>) -> String {
    panic!("the password is hunter2")
}

/// Panics later.
#[tool]
async fn panic_later() -> String {
    tokio::task::yield_now().await;
    panic!("the password is {}", "hunter2")
}

/// Panics on its thread.
#[tool(blocking)]
fn panic_on_a_thread() -> String {
    panic!("the password is hunter2")
}

/// Panics between two values.
#[tool]
fn panic_in_a_stream() -> Updates<impl futures::Stream<Item = String> + use<>> {
    let values = stream::iter(0..3).map(|n| match n {
        2 => panic!("the password is hunter2"),
        n => n.to_string(),
    });
    Updates(values)
}

#[tokio::test]
async fn a_panic_is_a_failure_with_its_message_for_the_host_only() {
    let by_hand = Tool::builder("panic_by_hand", "Panics.")
        .run(|_, _| -> String { std::panic::panic_any("the password is hunter2".to_owned()) })
        .unwrap();
    for tool in [
        panic_at_once::tool(),
        panic_later::tool(),
        panic_on_a_thread::tool(),
        panic_in_a_stream::tool(),
        by_hand,
    ] {
        let result = call(tool, "{}").await;
        assert_eq!(result.outcome, Outcome::Failed);
        assert_eq!(result.error, Some(ErrorKind::Failed));
        assert_eq!(result.text(), "the tool panicked");
        let cause = result.cause().unwrap().to_string();
        assert_eq!(cause, "panicked: the password is hunter2");
        assert!(!serde_json::to_string(&result).unwrap().contains("hunter2"));
    }
}

#[tokio::test]
async fn a_tool_that_panicked_can_be_called_again() {
    let calls = AtomicUsize::new(0);
    let tool = Tool::builder("moody", "Panics the first time.")
        .concurrency(1)
        .run(move |_, _| match calls.fetch_add(1, Ordering::SeqCst) {
            0 => panic!("moody"),
            n => n.to_string(),
        })
        .unwrap();
    assert!(call(tool.clone(), "{}").await.is_error());
    assert_ok(&call(tool, "{}").await, "1");
}

/// Sends a message when it is dropped.
struct Guard(Option<oneshot::Sender<()>>);

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(sender) = self.0.take() {
            let _ = sender.send(());
        }
    }
}

/// An async tool that never returns, with signals of its start and its drop.
fn endless() -> (Tool, channel::UnboundedReceiver<()>, oneshot::Receiver<()>) {
    let (tell_start, started) = channel::unbounded_channel();
    let (tell_drop, dropped) = oneshot::channel();
    let guard = Mutex::new(Some(Guard(Some(tell_drop))));
    let tool = Tool::builder("endless", "Never returns.")
        .timeout(Duration::from_secs(5))
        .run_async(move |_, _| {
            let guard = guard.lock().unwrap().take();
            tell_start.send(()).unwrap();
            async move {
                std::future::pending::<()>().await;
                drop(guard);
            }
        })
        .unwrap();
    (tool, started, dropped)
}

#[tokio::test(start_paused = true)]
async fn an_async_tool_that_never_returns_times_out_and_is_dropped() {
    let (tool, _started, dropped) = endless();
    let result = call(tool, "{}").await;
    assert_eq!(result.outcome, Outcome::TimedOut);
    assert_eq!(result.error, Some(ErrorKind::Failed));
    assert_eq!(result.text(), "timed out after 5s");
    dropped.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_panics_on_drop_does_not_affect_the_caller() {
    struct Spiteful;
    impl Drop for Spiteful {
        fn drop(&mut self) {
            panic!("not yet");
        }
    }
    let forever = |spite: Spiteful| async move {
        std::future::pending::<()>().await;
        drop(spite);
        "never".to_owned()
    };
    let alone =
        Tool::builder("alone", "Never returns.").run_async(move |_, _| forever(Spiteful)).unwrap();
    let streamed = Tool::builder("streamed", "Never returns.")
        .run(move |_, _| Updates(stream::once(forever(Spiteful))))
        .unwrap();
    for tool in [alone, streamed] {
        assert_eq!(call(tool, "{}").await.outcome, Outcome::TimedOut);
    }
}

#[tokio::test(start_paused = true)]
async fn the_invokers_timeout_holds_where_the_tool_names_none() {
    /// Never returns.
    #[tool]
    async fn stuck() {
        std::future::pending().await
    }
    let stuck = stuck::tool();
    let invoker = Invoker::builder(registry(stuck)).timeout(Some(Duration::from_millis(1_500)));
    let result = invoker.build().unwrap().invoke(&ToolCall::new("stuck", "")).await;
    assert_eq!(result.text(), "timed out after 1.5s");
}

#[tokio::test(start_paused = true)]
async fn without_a_timeout_a_tool_has_no_limit() {
    let (open, opened) = oneshot::channel::<()>();
    let opened = opened.shared();
    let tool = Tool::builder("slow", "Takes an hour.")
        .run_async(move |_, _| {
            let opened = opened.clone();
            async move { opened.await.is_ok().to_string() }
        })
        .unwrap();
    let invoker = Invoker::builder(registry(tool)).timeout(None).build().unwrap();
    let running = spawned(&invoker, "slow");
    tokio::time::advance(Duration::from_secs(3_600)).await;
    open.send(()).unwrap();
    assert_ok(&running.await.unwrap(), "true");
}

fn spawned(invoker: &Invoker, name: &str) -> JoinHandle<ToolResult> {
    let (invoker, call) = (invoker.clone(), ToolCall::new(name, "{}"));
    tokio::spawn(async move { invoker.invoke(&call).await })
}

#[tokio::test]
async fn dropping_the_callers_future_drops_an_async_tool() {
    let (tool, mut started, dropped) = endless();
    let running = spawned(&invoker(tool), "endless");
    started.recv().await.unwrap();
    running.abort();
    dropped.await.unwrap();
}

#[tokio::test]
async fn an_external_token_cancels_an_async_tool() {
    let (tool, mut started, dropped) = endless();
    let token = CancellationToken::new();
    let (invoker, scope) = (invoker(tool), CallScope::new().cancel_on(token.clone()));
    let running =
        tokio::spawn(
            async move { invoker.invoke_in(&scope, &ToolCall::new("endless", "{}")).await },
        );
    started.recv().await.unwrap();
    token.cancel();
    let result = running.await.unwrap();
    assert_eq!(result.outcome, Outcome::Cancelled);
    dropped.await.unwrap();
}

#[tokio::test]
async fn a_call_that_was_cancelled_before_never_starts() {
    let token = CancellationToken::new();
    token.cancel();
    let (tool, mut started, _dropped) = endless();
    let result = invoker(tool)
        .invoke_in(&CallScope::new().cancel_on(token), &ToolCall::new("endless", "{}"))
        .await;
    assert_eq!(result.outcome, Outcome::Cancelled);
    assert!(started.try_recv().is_err());
}

/// A blocking tool that runs until the test releases it.
struct Dig {
    tool: Tool,
    started: channel::UnboundedReceiver<()>,
    release: mpsc::Sender<()>,
    most: Arc<AtomicUsize>,
}

impl Dig {
    fn new() -> Self {
        let (tell_start, started) = channel::unbounded_channel();
        let (release, released) = mpsc::channel();
        let (released, now) = (Mutex::new(released), AtomicUsize::new(0));
        let most = Arc::new(AtomicUsize::new(0));
        let highest = Arc::clone(&most);
        let tool = Tool::builder("dig", "Digs until told to stop.")
            .concurrency(1)
            .timeout(Duration::from_secs(10))
            .run_blocking(move |_, _| {
                highest.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                tell_start.send(()).unwrap();
                released.lock().unwrap().recv().unwrap();
                now.fetch_sub(1, Ordering::SeqCst);
                "dug"
            })
            .unwrap();
        Self { tool, started, release, most }
    }
}

#[tokio::test(start_paused = true)]
async fn a_blocking_tool_that_overruns_keeps_its_permit_until_it_ends() {
    let mut dig = Dig::new();
    let invoker = invoker(dig.tool.clone());
    let first = spawned(&invoker, "dig");
    dig.started.recv().await.unwrap();
    tokio::time::advance(Duration::from_secs(11)).await;
    let result = first.await.unwrap();
    assert_eq!(result.outcome, Outcome::TimedOut);
    assert!(result.text().contains("may still be running"));

    let second = spawned(&invoker, "dig");
    tokio::task::yield_now().await;
    tokio::time::advance(Duration::from_secs(11)).await;
    assert_eq!(second.await.unwrap().outcome, Outcome::TimedOut);
    assert!(dig.started.try_recv().is_err(), "the second call never ran");

    let third = spawned(&invoker, "dig");
    dig.release.send(()).unwrap();
    dig.started.recv().await.unwrap();
    dig.release.send(()).unwrap();
    assert_ok(&third.await.unwrap(), "dug");
    assert_eq!(dig.most.load(Ordering::SeqCst), 1);
}

/// A blocking tool that runs until it is cancelled, with signals of its start and its end.
fn attentive() -> (Tool, channel::UnboundedReceiver<()>, oneshot::Receiver<()>) {
    let (tell_start, started) = channel::unbounded_channel();
    let (tell_end, noticed) = oneshot::channel();
    let tell_end = Mutex::new(Some(tell_end));
    let tool = Tool::builder("attentive", "Works until it is cancelled.")
        .timeout(Duration::from_secs(5))
        .run_blocking(move |_: Args, cx: HandlerContext| {
            tell_start.send(()).unwrap();
            while !cx.cancel().is_cancelled() {
                std::thread::yield_now();
            }
            tell_end.lock().unwrap().take().unwrap().send(()).unwrap();
        })
        .unwrap();
    (tool, started, noticed)
}

#[tokio::test(start_paused = true)]
async fn a_blocking_tool_is_cancelled_by_its_timeout() {
    let (tool, mut started, noticed) = attentive();
    let running = spawned(&invoker(tool), "attentive");
    started.recv().await.unwrap();
    tokio::time::advance(Duration::from_secs(6)).await;
    assert_eq!(running.await.unwrap().outcome, Outcome::TimedOut);
    noticed.await.unwrap();
}

#[tokio::test]
async fn a_blocking_tool_is_cancelled_when_the_call_is_dropped() {
    let (tool, mut started, noticed) = attentive();
    let running = spawned(&invoker(tool), "attentive");
    started.recv().await.unwrap();
    running.abort();
    noticed.await.unwrap();
}

#[tokio::test]
async fn a_blocking_tool_is_cancelled_by_the_scope() {
    let (tool, mut started, noticed) = attentive();
    let token = CancellationToken::new();
    let (invoker, scope) = (invoker(tool), CallScope::new().cancel_on(token.clone()));
    let running =
        tokio::spawn(
            async move { invoker.invoke_in(&scope, &ToolCall::new("attentive", "{}")).await },
        );
    started.recv().await.unwrap();
    token.cancel();
    assert_eq!(running.await.unwrap().outcome, Outcome::Cancelled);
    noticed.await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_retry_is_not_cancelled_by_the_timeout_before() {
    let tries = AtomicUsize::new(0);
    let tool = Tool::builder("slow", "Is slow the first time.")
        .read_only(true)
        .timeout(Duration::from_secs(5))
        .run_async(move |_, cx: HandlerContext| {
            let first = tries.fetch_add(1, Ordering::SeqCst) == 0;
            async move {
                if first {
                    std::future::pending::<()>().await;
                }
                cx.cancel().is_cancelled()
            }
        })
        .unwrap();
    let invoker = Invoker::new(registry(tool).all().layer(Retry::new(1))).unwrap();
    let result = invoker.invoke(&ToolCall::new("slow", "{}")).await;
    assert_ok(&result, "false");
}

#[tokio::test]
async fn a_tool_that_returned_is_not_cancelled() {
    let kept = Arc::new(Mutex::new(None));
    let keep = Arc::clone(&kept);
    let tool = Tool::builder("keep", "Keeps what tells it.")
        .run(move |_, cx: HandlerContext| *keep.lock().unwrap() = Some(cx.cancel().clone()))
        .unwrap();
    assert_ok(&call(tool, "{}").await, "Done");
    let cancel: Cancel = kept.lock().unwrap().take().unwrap();
    assert!(!cancel.is_cancelled());
}

#[test]
fn a_blocking_tool_that_was_dropped_before_it_got_a_thread_never_runs() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .max_blocking_threads(1)
        .enable_time()
        .build()
        .unwrap();
    let ran = Arc::new(AtomicBool::new(false));
    let late = Arc::clone(&ran);
    let tool = Tool::builder("late", "Comes too late.")
        .run_blocking(move |_, _| late.store(true, Ordering::SeqCst))
        .unwrap();
    runtime.block_on(async {
        let (release, released) = mpsc::channel::<()>();
        let (tell_start, started) = oneshot::channel();
        let hog = tokio::task::spawn_blocking(move || {
            tell_start.send(()).unwrap();
            released.recv().unwrap();
        });
        started.await.unwrap();
        let invoker = invoker(tool);
        let call = ToolCall::new("late", "{}");
        assert!(invoker.invoke(&call).now_or_never().is_none());
        release.send(()).unwrap();
        hog.await.unwrap();
        tokio::task::spawn_blocking(|| ()).await.unwrap();
    });
    assert!(!ran.load(Ordering::SeqCst));
}

#[tokio::test]
async fn only_so_many_calls_of_one_tool_run_at_once() {
    let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let highest = Arc::clone(&most);
    let tool = Tool::builder("busy", "Is busy.")
        .concurrency(3)
        .run_async(move |_, _| {
            let (now, most) = (Arc::clone(&now), Arc::clone(&most));
            async move {
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                for _ in 0..10 {
                    tokio::task::yield_now().await;
                }
                now.fetch_sub(1, Ordering::SeqCst);
            }
        })
        .unwrap();
    let invoker = invoker(tool);
    let running: Vec<_> = (0..12).map(|_| spawned(&invoker, "busy")).collect();
    for call in running {
        assert_ok(&call.await.unwrap(), "Done");
    }
    assert_eq!(highest.load(Ordering::SeqCst), 3);
}

#[derive(Debug)]
struct Shop(&'static str);

/// Names the shop.
#[tool]
fn shop_name(State(shop): State<Shop>) -> &'static str {
    shop.0
}

/// Names the directory.
#[tool]
fn directory(ProjectDir(directory): ProjectDir) -> String {
    directory.display().to_string()
}

#[tokio::test]
async fn an_invoker_is_not_built_without_the_state_of_its_tools() {
    let registry = registry(vec![tool_named("other"), shop_name::tool()]);
    let missing = Invoker::new(&registry).unwrap_err();
    assert!(
        matches!(&missing, InvokerError::MissingDependency { tool, .. } if tool == "shop_name")
    );
    let message = missing.to_string();
    for part in ["`shop_name`", "Shop`", ".state("] {
        assert!(message.contains(part), "{message}");
    }
    let built = Invoker::builder(&registry).state(Shop("corner")).build();
    let result = built.unwrap().invoke(&ToolCall::new("shop_name", "")).await;
    assert_ok(&result, "corner");
    let others = Invoker::new(registry.select(["other"]));
    assert!(others.is_ok(), "what is not in the view needs nothing");
}

#[tokio::test]
async fn a_project_directory_is_required_by_name_too() {
    let registry = registry(directory::tool());
    let message = Invoker::new(&registry).unwrap_err().to_string();
    assert!(message.contains("`directory`") && message.contains("--project-dir"));
    let built = Invoker::builder(&registry).project_dir("/work").build();
    let result = built.unwrap().invoke(&ToolCall::new("directory", "")).await;
    assert_ok(&result, "/work");
}

#[tokio::test]
async fn a_tool_that_was_added_later_and_lacks_its_state_ends_the_turn() {
    let registry = registry(tool_named("other"));
    let invoker = Invoker::new(&registry).unwrap();
    registry.add(shop_name::tool()).unwrap();
    let result = invoker.invoke(&ToolCall::new("shop_name", "")).await;
    assert_eq!(result.error, Some(ErrorKind::Fatal));
}

#[test]
fn the_future_of_a_call_can_change_threads() {
    fn sent<T: Send>(_: T) {}
    let invoker = invoker(tool_named("any"));
    let call = ToolCall::new("any", "");
    sent(invoker.invoke(&call));
    sent(invoker.invoke_in(&CallScope::new(), &call));
    sent(invoker.invoke_all(std::slice::from_ref(&call)));
}

#[test]
fn a_plain_call_needs_no_runtime() {
    let invoker = invoker(tool_named("any"));
    let call = ToolCall::new("any", "{}");
    let result = invoker.invoke(&call).now_or_never().unwrap();
    assert_ok(&result, "any");
}
