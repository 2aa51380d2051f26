//! Layers: their order, the tools they surround, and their effects.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use toolwright::{
    ApprovalPolicy, Authorise, Cache, CallScope, Caller, CancellationToken, Invocation, Invoker,
    Layer, LayerPosition, Next, Outcome, RateLimit, Registry, Retry, Tool, ToolBuilder, ToolCall,
    ToolError, ToolResult, ToolSpec, View,
};

use crate::fixtures::{
    CallCounter, FnApprover, assert_ok, assert_rejected, counting_tool, registry, tool_named,
};

const SECOND: Duration = Duration::from_secs(1);

/// A layer made of a function.
struct Around<F>(LayerPosition, F);

fn around<F>(place: LayerPosition, layer: F) -> Around<F>
where
    F: for<'a> Fn(Invocation<'a>, Next<'a>) -> BoxFuture<'a, ToolResult> + Send + Sync + 'static,
{
    Around(place, layer)
}

impl<F> Layer for Around<F>
where
    F: for<'a> Fn(Invocation<'a>, Next<'a>) -> BoxFuture<'a, ToolResult> + Send + Sync + 'static,
{
    fn position(&self) -> LayerPosition {
        self.0
    }

    fn handle<'a>(&'a self, call: Invocation<'a>, next: Next<'a>) -> BoxFuture<'a, ToolResult> {
        (self.1)(call, next)
    }
}

const PLACES: [LayerPosition; 6] = [
    LayerPosition::Authorise,
    LayerPosition::RateLimit,
    LayerPosition::Outer,
    LayerPosition::Cache,
    LayerPosition::Retry,
    LayerPosition::Inner,
];

fn act() -> ToolBuilder {
    Tool::builder("act", "Acts.")
}

fn look() -> ToolBuilder {
    Tool::builder("look", "Looks.").read_only(true)
}

fn named_caller(name: &str) -> CallScope {
    CallScope::new().caller(Caller::new(name))
}

async fn invoke(view: View, name: &str, arguments: &str) -> ToolResult {
    let invoker = Invoker::new(view).unwrap();
    invoker.invoke(&ToolCall::new(name, arguments)).await
}

// Order.

#[tokio::test]
async fn layers_have_a_fixed_order() {
    for turn in 0..PLACES.len() {
        for backwards in [false, true] {
            let mut places = PLACES;
            places.rotate_left(turn);
            if backwards {
                places.reverse();
            }
            let entered = Arc::new(Mutex::new(Vec::new()));
            let enter = |name: String| {
                let entered = Arc::clone(&entered);
                move || entered.lock().unwrap().push(name.clone())
            };
            let tool = act().approval(ApprovalPolicy::Always);
            let run = enter("tool".to_owned());
            let tool = tool.run(move |_, _| run()).unwrap();
            let mut view = registry(tool).all();
            for place in places {
                let enter = enter(format!("{place:?}"));
                view = view.layer(around(place, move |_, next| {
                    enter();
                    next.run()
                }));
            }
            let ask = enter("approval".to_owned());
            let (approver, _) = FnApprover::new(move |request| {
                ask();
                request.approve()
            });
            let invoker = Invoker::builder(view).approver(approver).build().unwrap();
            assert!(!invoker.invoke(&ToolCall::new("act", "{}")).await.is_error());
            assert_eq!(
                *entered.lock().unwrap(),
                ["Authorise", "RateLimit", "Outer", "approval", "Cache", "Retry", "Inner", "tool"]
            );
        }
    }
}

#[tokio::test]
async fn of_two_layers_with_one_position_the_first_is_outside() {
    let noting = |word: &'static str| {
        around(LayerPosition::Inner, move |_, next| {
            Box::pin(async move {
                let mut result = next.run().await;
                result.notes.push(word.to_owned());
                result
            })
        })
    };
    let view = registry(tool_named("act")).all();
    let result = invoke(view.layer(noting("first")).layer(noting("second")), "act", "{}").await;
    assert_eq!(result.notes, ["second", "first"]);
}

#[tokio::test]
async fn arguments_are_known_only_after_they_were_read() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let tool = act().param::<u8>("n", "").run(|_, _| "acted").unwrap();
    let mut view = registry(tool).all();
    for place in PLACES {
        let seen = Arc::clone(&seen);
        view = view.layer(around(place, move |call, next| {
            seen.lock().unwrap().push(call.arguments().cloned());
            next.run()
        }));
    }
    assert_ok(&invoke(view, "act", r#"{"n": "5"}"#).await, "acted");
    let read = Some(serde_json::json!({"n": 5}));
    let seen = seen.lock().unwrap();
    assert_eq!(seen[..3], [None, None, None]);
    assert_eq!(seen[3..], [read.clone(), read.clone(), read]);
}

#[tokio::test(start_paused = true)]
async fn a_retry_needs_no_second_approval() {
    let tool = look().approval(ApprovalPolicy::Always);
    let runs = CallCounter::default();
    let counted = runs.clone();
    let tool = tool
        .run(move |_, _| match counted.increment() {
            0 => Err(ToolError::failed("not yet")),
            _ => Ok("there"),
        })
        .unwrap();
    let (approver, asked) = FnApprover::new(|request| request.approve());
    let view = registry(tool).all().layer(Retry::new(3));
    let invoker = Invoker::builder(view).approver(approver).build().unwrap();
    assert_ok(&invoker.invoke(&ToolCall::new("look", "{}")).await, "there");
    assert_eq!((runs.get(), asked.get()), (2, 1));
}

#[tokio::test]
async fn a_cache_hit_does_not_bypass_authorisation() {
    let (tool, runs) = counting_tool(look());
    let open = Arc::new(Mutex::new(true));
    let door = Arc::clone(&open);
    let view = registry(tool)
        .all()
        .layer(Cache::new(SECOND))
        .layer(Authorise::new(move |_, _| *door.lock().unwrap()));
    let invoker = Invoker::new(view).unwrap();
    let call = ToolCall::new("look", "{}");
    assert_ok(&invoker.invoke(&call).await, "0");
    *open.lock().unwrap() = false;
    assert_eq!(invoker.invoke(&call).await.outcome, Outcome::Denied);
    assert_eq!(runs.get(), 1);
}

#[tokio::test]
async fn a_cache_hit_does_not_bypass_approval() {
    let (tool, runs) = counting_tool(look().approval(ApprovalPolicy::Always));
    let asked_before = CallCounter::default();
    let (approver, asked) = FnApprover::new(move |request| match asked_before.increment() {
        2 => request.deny("enough"),
        _ => request.approve(),
    });
    let view = registry(tool).all().layer(Cache::new(SECOND));
    let invoker = Invoker::builder(view).approver(approver).build().unwrap();
    let call = ToolCall::new("look", "{}");
    assert_ok(&invoker.invoke(&call).await, "0");
    assert_ok(&invoker.invoke(&call).await, "0");
    assert_eq!(invoker.invoke(&call).await.outcome, Outcome::Denied);
    assert_eq!((runs.get(), asked.get()), (1, 3));
}

// Retry.

/// A tool that always fails with the error of `fault`, and the number of its runs.
fn failing(
    tool: ToolBuilder,
    fault: impl Fn() -> ToolError + Send + Sync + 'static,
) -> (Tool, CallCounter) {
    let runs = CallCounter::default();
    let counted = runs.clone();
    let tool = tool.run(move |_, _| {
        counted.increment();
        Err::<String, _>(fault())
    });
    (tool.unwrap(), runs)
}

#[tokio::test(start_paused = true)]
async fn only_repeatable_tools_are_retried() {
    for (tool, expected) in [
        (act(), 1),
        (act().destructive(false), 1),
        (act().read_only(false).idempotent(false), 1),
        (act().read_only(true), 3),
        (act().idempotent(true), 3),
    ] {
        let (tool, runs) = failing(tool, || ToolError::failed("no"));
        let result = invoke(registry(tool).all().layer(Retry::new(2)), "act", "{}").await;
        assert_eq!(result.outcome, Outcome::Failed);
        assert_eq!(runs.get(), expected);
        let noted = result.notes.contains(&"tried 3 times".to_owned());
        assert_eq!(noted, expected > 1, "{:?}", result.notes);
    }
}

#[tokio::test(start_paused = true)]
async fn retry_and_fatal_errors_are_not_retried() {
    for fault in [|| ToolError::retry("other"), || ToolError::fatal("the end")] {
        let (tool, runs) = failing(look(), fault);
        let result = invoke(registry(tool).all().layer(Retry::new(5)), "look", "{}").await;
        assert_eq!(result.error, Some(fault().kind()));
        assert_eq!(runs.get(), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn invalid_arguments_are_not_tried_again() {
    let (tool, runs) = counting_tool(look().param::<u8>("n", ""));
    let began = Instant::now();
    let result = invoke(registry(tool).all().layer(Retry::new(5)), "look", "{}").await;
    assert_rejected(&result, &["/n: missing"]);
    assert_eq!((runs.get(), began.elapsed()), (0, Duration::ZERO));
}

#[tokio::test(start_paused = true)]
async fn a_panic_is_tried_again() {
    let runs = CallCounter::default();
    let tool = look().run(move |_, _| match runs.increment() {
        0 => panic!("moody"),
        _ => "fine",
    });
    let view = registry(tool.unwrap()).all().layer(Retry::new(1));
    assert_ok(&invoke(view, "look", "{}").await, "fine");
}

/// The start of each run, in seconds since the first.
#[derive(Clone, Default)]
struct Starts(Arc<Mutex<Vec<Instant>>>);

impl Starts {
    fn now(&self) {
        self.0.lock().unwrap().push(Instant::now());
    }

    fn seconds(&self) -> Vec<f64> {
        let starts = self.0.lock().unwrap();
        let since = |at: &Instant| at.duration_since(starts[0]).as_secs_f64();
        starts.iter().map(since).collect()
    }
}

#[tokio::test(start_paused = true)]
async fn a_timeout_is_tried_again_and_the_pauses_double() {
    let starts = Starts::default();
    let started = starts.clone();
    let tool = look().timeout(SECOND).run_async(move |_, _| {
        started.now();
        std::future::pending::<()>()
    });
    let retry = Retry::new(3).backoff(Duration::from_secs(2));
    let result = invoke(registry(tool.unwrap()).all().layer(retry), "look", "{}").await;
    assert_eq!(result.outcome, Outcome::TimedOut);
    assert_eq!(starts.seconds(), [0.0, 3.0, 8.0, 17.0]);
}

#[tokio::test(start_paused = true)]
async fn a_pause_is_thirty_seconds_at_most() {
    let starts = Starts::default();
    let started = starts.clone();
    let (tool, _) = failing(look(), move || {
        started.now();
        ToolError::failed("no")
    });
    let retry = Retry::new(3).backoff(Duration::from_secs(20));
    invoke(registry(tool).all().layer(retry), "look", "{}").await;
    assert_eq!(starts.seconds(), [0.0, 20.0, 50.0, 80.0]);
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_call_is_not_kept_by_a_pause() {
    let (tool, runs) = failing(look(), || ToolError::failed("no"));
    let retry = Retry::new(3).backoff(20 * SECOND);
    let invoker = Invoker::new(registry(tool).all().layer(retry)).unwrap();
    let (began, token) = (Instant::now(), CancellationToken::new());
    let scope = CallScope::new().cancel_on(token.clone());
    let call = ToolCall::new("look", "{}");
    let mut running = invoker.invoke_in(&scope, &call).boxed();
    assert!((&mut running).now_or_never().is_none());
    token.cancel();
    assert_eq!(running.await.outcome, Outcome::Cancelled);
    assert_eq!((runs.get(), began.elapsed()), (1, Duration::ZERO));
}

// Cache.

#[tokio::test]
async fn only_repeatable_tools_are_cached() {
    for (tool, expected) in [
        (act(), "1"),
        (act().read_only(false).idempotent(false), "1"),
        (act().read_only(true), "0"),
        (act().idempotent(true), "0"),
    ] {
        let (tool, _) = counting_tool(tool);
        let invoker = Invoker::new(registry(tool).all().layer(Cache::new(SECOND))).unwrap();
        let call = ToolCall::new("act", "{}");
        assert_ok(&invoker.invoke(&call).await, "0");
        assert_ok(&invoker.invoke(&call).await, expected);
    }
}

/// An invoker with a cache around `look`, and the number of runs of `look`.
fn cached(cache: Cache) -> (Invoker, CallCounter) {
    let tool = look().param::<Option<u8>>("a", "").param::<Option<u8>>("b", "");
    let (tool, runs) = counting_tool(tool);
    let invoker = Invoker::new(registry(tool).all().layer(cache)).unwrap();
    (invoker, runs)
}

#[tokio::test]
async fn a_hit_has_a_note_and_the_id_of_its_call() {
    let (invoker, _) = cached(Cache::new(SECOND));
    let first = invoker.invoke(&ToolCall::new("look", "{}")).await;
    assert!(first.notes.is_empty());
    let call = ToolCall::new("Look", "{}");
    let hit = invoker.invoke(&call).await;
    assert_eq!(hit.call_id, call.id);
    assert_eq!(hit.tool, call.name);
    assert_eq!(hit.notes, ["tool name `Look` read as `look`", "from the cache"]);
    let again = invoker.invoke(&ToolCall::new("look", "{}")).await;
    assert_eq!(again.notes, ["from the cache"]);
}

#[tokio::test]
async fn arguments_hit_by_their_values_not_by_their_text() {
    let (invoker, _) = cached(Cache::new(SECOND));
    for (arguments, expected) in [
        (r#"{"a": 1, "b": 2}"#, "0"),
        (r#"{"b":2,"a":"1"}"#, "0"),
        (r#"{"a": 2, "b": 1}"#, "1"),
        (r#"{"a": 1}"#, "2"),
    ] {
        let result = invoker.invoke(&ToolCall::new("look", arguments)).await;
        assert_ok(&result, expected);
    }
}

#[tokio::test]
async fn results_are_cached_per_caller_and_session() {
    let (invoker, _) = cached(Cache::new(SECOND));
    let scopes = [
        CallScope::new(),
        named_caller(""),
        named_caller("ada"),
        named_caller("bob"),
        named_caller("ada").session("one"),
        named_caller("ada").session("two"),
    ];
    for _ in 0..2 {
        for (at, scope) in scopes.iter().enumerate() {
            let result = invoker.invoke_in(scope, &ToolCall::new("look", "{}")).await;
            assert_ok(&result, &at.to_string());
        }
    }
}

#[tokio::test]
async fn a_changed_tool_is_not_answered_for() {
    let (tool, _) = counting_tool(look());
    let registry = registry(tool);
    let invoker = Invoker::new(registry.all().layer(Cache::new(SECOND))).unwrap();
    let call = ToolCall::new("look", "{}");
    assert_ok(&invoker.invoke(&call).await, "0");
    registry.add(tool_named("other")).unwrap();
    assert_eq!(invoker.invoke(&call).await.notes, ["from the cache"]);
    registry.remove("look").unwrap();
    let changed = Tool::builder("look", "Looks closely.").read_only(true);
    registry.add(changed.run(|_, _| "new").unwrap()).unwrap();
    assert_ok(&invoker.invoke(&call).await, "new");
}

#[tokio::test(start_paused = true)]
async fn a_result_is_kept_for_a_while_only() {
    let (invoker, _) = cached(Cache::new(SECOND));
    let call = ToolCall::new("look", "{}");
    assert_ok(&invoker.invoke(&call).await, "0");
    tokio::time::advance(SECOND / 2).await;
    assert_ok(&invoker.invoke(&call).await, "0");
    // A hit does not extend the lifetime.
    tokio::time::advance(SECOND / 2).await;
    assert_ok(&invoker.invoke(&call).await, "1");
    assert_ok(&invoker.invoke(&call).await, "1");
}

#[tokio::test]
async fn only_so_many_results_are_kept() {
    let (invoker, runs) = cached(Cache::new(SECOND).max_entries(2));
    for (a, expected) in [(1, 1), (2, 2), (1, 2), (3, 3), (2, 3), (3, 3), (1, 4)] {
        let call = ToolCall::new("look", format!(r#"{{"a": {a}}}"#));
        invoker.invoke(&call).await;
        assert_eq!(runs.get(), expected, "after {a}");
    }
}

#[tokio::test]
async fn a_failure_is_not_kept() {
    let runs = CallCounter::default();
    let tool = look().run(move |_, _| match runs.increment() {
        0 => Err(ToolError::failed("not yet")),
        n => Ok(n.to_string()),
    });
    let view = registry(tool.unwrap()).all().layer(Cache::new(SECOND));
    let invoker = Invoker::new(view).unwrap();
    let call = ToolCall::new("look", "{}");
    assert!(invoker.invoke(&call).await.is_error());
    assert_ok(&invoker.invoke(&call).await, "1");
    assert_ok(&invoker.invoke(&call).await, "1");
}

// Rate limit.

fn limited(calls: u32) -> Invoker {
    let registry = Registry::new();
    let tool = Tool::builder("one", "One.").param::<Option<u8>>("n", "");
    registry.add(counting_tool(tool).0).unwrap();
    registry.add(tool_named("two")).unwrap();
    Invoker::new(registry.all().layer(RateLimit::new(calls, 60 * SECOND))).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_call_over_the_limit_is_rejected_with_the_time_to_wait() {
    let invoker = limited(2);
    let call = ToolCall::new("one", "{}");
    assert_ok(&invoker.invoke(&call).await, "0");
    tokio::time::advance(SECOND / 2).await;
    assert_ok(&invoker.invoke(&call).await, "1");
    let refused = invoker.invoke(&call).await;
    assert_eq!(refused.outcome, Outcome::Denied);
    assert_eq!(refused.text(), "`one` was called too often: try again in 60 s");
    tokio::time::advance(50 * SECOND).await;
    let refused = invoker.invoke(&call).await;
    assert_eq!(refused.text(), "`one` was called too often: try again in 10 s");
    tokio::time::advance(SECOND * 19 / 2).await;
    assert_ok(&invoker.invoke(&call).await, "2");
}

#[tokio::test]
async fn each_caller_and_each_tool_has_a_limit_of_its_own() {
    let invoker = limited(1);
    let scopes = [CallScope::new(), named_caller(""), named_caller("ada")];
    for expected in [Outcome::Ok, Outcome::Denied] {
        for scope in &scopes {
            for tool in ["one", "two"] {
                let result = invoker.invoke_in(scope, &ToolCall::new(tool, "{}")).await;
                assert_eq!(result.outcome, expected, "{tool} {scope:?}");
            }
        }
    }
}

#[tokio::test]
async fn invalid_calls_count_too() {
    let invoker = limited(1);
    let invalid = ToolCall::new("one", r#"{"n": "many"}"#);
    assert_rejected(&invoker.invoke(&invalid).await, &["/n"]);
    let result = invoker.invoke(&ToolCall::new("one", "{}")).await;
    assert_eq!(result.outcome, Outcome::Denied);
}

#[tokio::test]
async fn a_crowd_of_callers_does_not_lift_the_limit_of_the_latest() {
    let invoker = limited(1);
    let call = ToolCall::new("two", "{}");
    for n in 0..10_001 {
        let scope = named_caller(&n.to_string());
        assert_ok(&invoker.invoke_in(&scope, &call).await, "two");
    }
    let result = invoker.invoke_in(&named_caller("10000"), &call).await;
    assert_eq!(result.outcome, Outcome::Denied);
}

// Authorise.

fn guarded() -> (Invoker, CallCounter) {
    let (tool, runs) = counting_tool(Tool::builder("secret_report", "Tells secrets."));
    let registry = registry(tool);
    registry.add(tool_named("report")).unwrap();
    let view = registry.all().layer(Authorise::new(|caller, tool| {
        caller.name() == Some("ada") || tool.name != "secret_report"
    }));
    (Invoker::new(view).unwrap(), runs)
}

#[tokio::test]
async fn a_caller_without_permission_neither_sees_nor_runs_a_tool() {
    let (invoker, runs) = guarded();
    let seen = |scope: &CallScope| -> Vec<String> {
        let tools = invoker.list(scope).unwrap();
        tools.iter().map(|it| it.spec().name.to_string()).collect()
    };
    let call = ToolCall::new("secret_report", "{}");
    let (ada, bob) = (named_caller("ada"), named_caller("bob"));
    assert_eq!(seen(&ada), ["secret_report", "report"]);
    assert_eq!(seen(&bob), ["report"]);
    assert_eq!(seen(&CallScope::new()), ["report"]);
    for scope in [&bob, &CallScope::new()] {
        let refused = invoker.invoke_in(scope, &call).await;
        assert_eq!(refused.outcome, Outcome::Denied);
    }
    assert_eq!(runs.get(), 0);
    assert_ok(&invoker.invoke_in(&ada, &call).await, "0");
}

#[tokio::test]
async fn suggestions_do_not_reveal_hidden_tools() {
    let (invoker, _) = guarded();
    let call = ToolCall::new("secret_reports", "{}");
    let result = invoker.invoke_in(&named_caller("bob"), &call).await;
    assert!(!result.text().contains("`secret_report`"), "{}", result.text());
    assert!(result.text().ends_with("available tools: report"));
    let result = invoker.invoke_in(&named_caller("ada"), &call).await;
    assert!(result.text().contains("did you mean `secret_report`"));
}

#[tokio::test]
async fn an_authority_that_panics_allows_nothing() {
    let view = registry(tool_named("act")).all();
    let view = view.layer(Authorise::new(|_, _| panic!("no idea")));
    let invoker = Invoker::new(view).unwrap();
    assert!(invoker.list(&CallScope::new()).unwrap().is_empty());
    let result = invoker.invoke(&ToolCall::new("act", "{}")).await;
    assert_eq!(result.outcome, Outcome::Failed);
    assert!(!result.text().contains("no idea"));
}

// Custom layers.

/// A layer that adds a note.
fn noting() -> impl Layer {
    around(LayerPosition::Inner, |_, next| {
        Box::pin(async move {
            let mut result = next.run().await;
            result.notes.push("layered".to_owned());
            result
        })
    })
}

#[tokio::test]
async fn a_layer_may_surround_one_tool_or_one_bundle() {
    type Accepts = fn(&ToolSpec) -> bool;
    let one: Accepts = |tool| tool.name == "a";
    let bundle: Accepts = |tool| &*tool.bundle == "pair";
    for (accepts, layered) in
        [(one, [true, false, false]), (bundle, [false, true, true]), (|_| true, [true, true, true])]
    {
        let registry = registry(tool_named("a"));
        for name in ["b", "c"] {
            let tool = Tool::builder(name, "Belongs.").bundle("pair");
            registry.add(tool.run(|_, _| "ran").unwrap()).unwrap();
        }
        let invoker = Invoker::new(registry.all().layer_where(noting(), accepts)).unwrap();
        for (name, layered) in ["a", "b", "c"].into_iter().zip(layered) {
            let result = invoker.invoke(&ToolCall::new(name, "{}")).await;
            assert_eq!(!result.notes.is_empty(), layered, "{name}");
        }
    }
}

#[tokio::test]
async fn a_layer_may_answer_without_the_tool() {
    for place in PLACES {
        let (tool, runs) = counting_tool(act());
        let layer = around(place, |_, _| Box::pin(async { ToolResult::success("instead") }));
        let result = invoke(registry(tool).all().layer(layer), "act", "{}").await;
        assert_ok(&result, "instead");
        assert_eq!(result.tool.as_str(), "act");
        assert_eq!(runs.get(), 0);
    }
}

#[tokio::test]
async fn a_layer_may_change_the_result_and_run_the_tool_twice() {
    for place in PLACES {
        let (tool, runs) = counting_tool(act());
        let layer = around(place, |_, next| {
            Box::pin(async move {
                let (one, two) = (next.run().await, next.run().await);
                ToolResult::success(format!("{} and {}", one.text(), two.text()))
            })
        });
        let result = invoke(registry(tool).all().layer(layer), "act", "{}").await;
        assert_ok(&result, "0 and 1");
        assert_eq!(runs.get(), 2);
    }
}

#[tokio::test]
async fn a_layer_that_panics_is_a_failure_with_its_message_for_the_host_only() {
    for place in PLACES {
        let at_once = around(place, |_, _| panic!("the password is hunter2"));
        let later = around(place, |_, next| {
            Box::pin(async move {
                next.run().await;
                panic!("the password is hunter2")
            })
        });
        let view = registry(tool_named("act")).all();
        for view in [view.clone().layer(at_once), view.layer(later)] {
            let result = invoke(view, "act", "{}").await;
            assert_eq!(result.outcome, Outcome::Failed);
            assert_eq!(result.text(), "something around the tool panicked");
            assert!(result.cause().unwrap().to_string().contains("hunter2"));
        }
    }
}

#[tokio::test]
async fn an_outer_layer_sees_an_inner_ones_panic_as_a_failure() {
    let view = registry(tool_named("act"))
        .all()
        .layer(around(LayerPosition::Inner, |_, _| panic!("no")))
        .layer(around(LayerPosition::Outer, |_, next| {
            Box::pin(async move {
                let result = next.run().await;
                ToolResult::success(format!("seen: {}", result.outcome))
            })
        }));
    assert_ok(&invoke(view, "act", "{}").await, "seen: failed");
}

#[tokio::test]
async fn a_layer_that_waits_for_ever_does_not_outlive_its_caller() {
    struct Spiteful;
    impl Drop for Spiteful {
        fn drop(&mut self) {
            panic!("not yet");
        }
    }
    for place in PLACES {
        let layer = around(place, |_, _| {
            let spite = Spiteful;
            Box::pin(async move {
                std::future::pending::<()>().await;
                drop(spite);
                ToolResult::success("never")
            })
        });
        let invoker = Invoker::new(registry(tool_named("act")).all().layer(layer)).unwrap();
        let token = CancellationToken::new();
        let scope = CallScope::new().cancel_on(token.clone());
        let call = ToolCall::new("act", "{}");
        let mut running = invoker.invoke_in(&scope, &call).boxed();
        assert!((&mut running).now_or_never().is_none());
        token.cancel();
        assert_eq!(running.await.outcome, Outcome::Cancelled);
        let mut dropped = invoker.invoke(&call).boxed();
        assert!((&mut dropped).now_or_never().is_none());
        drop(dropped);
    }
}

// Policies of a view.

#[tokio::test]
async fn a_view_may_require_approval() {
    let registry = registry(tool_named("one"));
    let quiet = Tool::builder("two", "Two.").approval(ApprovalPolicy::Never);
    registry.add(quiet.run(|_, _| "two").unwrap()).unwrap();
    let view = registry.all();
    let view = view.map_policy(|_, policy| policy.approval = ApprovalPolicy::Always);
    for tool in ["one", "two"] {
        let result = invoke(view.clone(), tool, "{}").await;
        assert_eq!(result.outcome, Outcome::Denied);
        assert_ok(&invoke(registry.all(), tool, "{}").await, tool);
    }
}

#[tokio::test(start_paused = true)]
async fn a_view_may_set_the_timeout() {
    let tool = act().run_async(|_, _| std::future::pending::<()>());
    let view = registry(tool.unwrap()).all();
    let view = view.map_policy(|_, policy| policy.timeout = Some(5 * SECOND));
    let result = invoke(view, "act", "{}").await;
    assert_eq!(result.text(), "timed out after 5s");
}

/// A tool that waits for a permit of the gate, and the number of its runs.
fn gated() -> (Tool, Arc<Semaphore>, CallCounter) {
    let (gate, entered) = (Arc::new(Semaphore::new(0)), CallCounter::default());
    let (through, counted) = (Arc::clone(&gate), entered.clone());
    let tool = act().run_async(move |_, _| {
        counted.increment();
        let gate = Arc::clone(&through);
        async move { gate.acquire().await.unwrap().forget() }
    });
    (tool.unwrap(), gate, entered)
}

#[tokio::test]
async fn a_view_may_set_how_many_calls_run_at_once() {
    let (tool, gate, entered) = gated();
    let registry = registry(tool);
    let view = registry.all().map_policy(|_, policy| policy.concurrency = 1);
    let (narrow, wide) = (Invoker::new(view).unwrap(), Invoker::new(&registry).unwrap());
    let call = ToolCall::new("act", "{}");
    let mut first = narrow.invoke(&call).boxed();
    assert!((&mut first).now_or_never().is_none());
    let mut second = narrow.invoke(&call).boxed();
    assert!((&mut second).now_or_never().is_none());
    assert_eq!(entered.get(), 1);
    // The permits are the view's own.
    let mut beside = wide.invoke(&call).boxed();
    assert!((&mut beside).now_or_never().is_none());
    assert_eq!(entered.get(), 2);
    // Running calls are still counted after the registry has changed.
    registry.add(tool_named("other")).unwrap();
    let mut third = narrow.invoke(&call).boxed();
    assert!((&mut third).now_or_never().is_none());
    assert_eq!(entered.get(), 2);
    gate.add_permits(4);
    for call in [first, second, beside, third] {
        assert!(!call.await.is_error());
    }
    assert_eq!(entered.get(), 4);
}

#[tokio::test]
async fn any_concurrency_limit_is_accepted() {
    for most in [0, usize::MAX] {
        let tool = act().concurrency(most).run(|_, _| "acted").unwrap();
        assert_ok(&invoke(registry(tool).all(), "act", "{}").await, "acted");
        let view = registry(tool_named("act")).all();
        let view = view.map_policy(move |_, policy| policy.concurrency = most);
        assert_ok(&invoke(view, "act", "{}").await, "act");
    }
}
