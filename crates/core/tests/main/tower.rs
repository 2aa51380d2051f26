//! Tower layers around calls.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use toolwright::{
    Invoker, LayerPosition, Outcome, Retry, Tool, ToolBuilder, ToolCall, ToolResult, Tower,
    TowerCall, TowerNext,
};
use tower::{BoxError, ServiceBuilder, ServiceExt as _, service_fn};

use crate::fixtures::{CallCounter, assert_ok, counting_tool, registry, tool_named};

fn look() -> ToolBuilder {
    Tool::builder("look", "Looks.").read_only(true)
}

fn call() -> ToolCall {
    ToolCall::new("look", "{}")
}

#[tokio::test]
async fn a_tower_layer_sees_the_call_and_changes_the_result() {
    let layers = ServiceBuilder::new()
        .map_request(|call: TowerCall| {
            assert_eq!(call.tool.as_str(), "look");
            call
        })
        .map_response(|result: ToolResult| ToolResult::success(format!("<{}>", result.text())));
    for place in [LayerPosition::Outer, LayerPosition::Inner] {
        let tower = Tower::new(layers.clone()).at_position(place);
        let invoker = Invoker::new(registry(tool_named("look")).all().layer(tower)).unwrap();
        let call = call();
        let result = invoker.invoke(&call).await;
        assert_ok(&result, "<look>");
        assert_eq!(result.call_id, call.id);
    }
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_a_tower_layer_times_out_is_dropped() {
    let held = Arc::new(());
    let inside = Arc::clone(&held);
    let tool = look().run_async(move |_, _| {
        let inside = Arc::clone(&inside);
        async move {
            std::future::pending::<()>().await;
            drop(inside);
        }
    });
    let layers = ServiceBuilder::new().concurrency_limit(2).timeout(Duration::from_secs(5));
    let registry = registry(tool.unwrap());
    let invoker = Invoker::new(registry.all().layer(Tower::new(layers))).unwrap();
    let began = Instant::now();
    let result = invoker.invoke(&call()).await;
    assert_eq!(result.outcome, Outcome::Failed);
    assert!(result.cause().unwrap().is::<tower::timeout::error::Elapsed>());
    assert_eq!(began.elapsed(), Duration::from_secs(5));
    assert_eq!(Arc::strong_count(&held), 2);
}

#[tokio::test]
async fn calls_share_the_state_of_a_tower_service() {
    let (gate, entered) = (Arc::new(Semaphore::new(0)), CallCounter::default());
    let (through, counted) = (Arc::clone(&gate), entered.clone());
    let tool = look().run_async(move |_, _| {
        counted.increment();
        let gate = Arc::clone(&through);
        async move { gate.acquire().await.unwrap().forget() }
    });
    let layers = ServiceBuilder::new().concurrency_limit(1);
    let registry = registry(tool.unwrap());
    let invoker = Invoker::new(registry.all().layer(Tower::new(layers))).unwrap();
    let call = call();
    let mut first = invoker.invoke(&call).boxed();
    assert!((&mut first).now_or_never().is_none());
    let mut second = invoker.invoke(&call).boxed();
    assert!((&mut second).now_or_never().is_none());
    assert_eq!(entered.get(), 1);
    gate.add_permits(2);
    assert!(!first.await.is_error());
    assert!(!second.await.is_error());
    assert_eq!(entered.get(), 2);
}

#[tokio::test]
async fn a_tower_service_may_run_the_tool_twice_or_not_at_all() {
    let (tool, runs) = counting_tool(look());
    let registry = registry(tool);
    let twice = tower::layer::layer_fn(|next: TowerNext| {
        service_fn(move |call: TowerCall| async move {
            let (one, two) = tokio::join!(next.oneshot(call.clone()), next.oneshot(call));
            let (one, two) = (one?, two?);
            Ok::<_, BoxError>(ToolResult::success(format!("{}{}", one.text(), two.text())))
        })
    });
    let invoker = Invoker::new(registry.all().layer(Tower::new(twice))).unwrap();
    assert_ok(&invoker.invoke(&call()).await, "01");
    let never = tower::layer::layer_fn(|_: TowerNext| {
        service_fn(|_: TowerCall| async { Err::<ToolResult, BoxError>("closed".into()) })
    });
    let invoker = Invoker::new(registry.all().layer(Tower::new(never))).unwrap();
    let result = invoker.invoke(&call()).await;
    assert_eq!((result.outcome, &*result.text()), (Outcome::Failed, "closed"));
    assert_eq!(runs.get(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_tower_layer_runs_within_each_retry() {
    let times = CallCounter::default();
    let counted = times.clone();
    let layers = ServiceBuilder::new().map_request(move |call: TowerCall| {
        counted.increment();
        call
    });
    let tool = look().run(|_, _| Err::<(), _>(toolwright::ToolError::failed("no")));
    let view = registry(tool.unwrap()).all();
    let view = view.layer(Tower::new(layers)).layer(Retry::new(2));
    assert!(Invoker::new(view).unwrap().invoke(&call()).await.is_error());
    assert_eq!(times.get(), 3);
}
