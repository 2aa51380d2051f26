//! One audit record per call, however it ends, without arguments and results.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt as _;
use toolwright::{
    ApprovalPolicy, AuditRecord, Authorise, Cache, CallScope, Caller, CancellationToken, Invoker,
    Outcome, RateLimit, Tool, ToolBuilder, ToolCall, ToolError, View,
};

use crate::fixtures::{registry, tool_named};

type Records = Arc<Mutex<Vec<AuditRecord>>>;

fn audited(view: impl Into<View>) -> (Invoker, Records) {
    let records = Records::default();
    let kept = Arc::clone(&records);
    let keep = move |record| kept.lock().unwrap().push(record);
    let invoker = Invoker::builder(view).audit(keep).build().unwrap();
    (invoker, records)
}

fn act() -> ToolBuilder {
    Tool::builder("act", "Acts.")
}

/// Calls `act`, and asserts that there is one record with this outcome.
async fn assert_recorded(view: impl Into<View>, arguments: &str, expected: Outcome) {
    let (invoker, records) = audited(view);
    let call = ToolCall::new("act", arguments);
    let result = invoker.invoke(&call).await;
    assert_eq!(result.outcome, expected, "{}", result.text());
    let records = records.lock().unwrap();
    assert_eq!(records.len(), 1, "{expected}");
    assert_eq!(records[0].outcome, expected);
    assert_eq!(records[0].call, call.id);
    assert_eq!(records[0].tool, call.name);
}

#[tokio::test]
async fn a_call_that_succeeds_is_recorded() {
    let later = act().run_async(|_, _| async {
        tokio::task::yield_now().await;
        "acted"
    });
    let blocking = act().run_blocking(|_, _| "acted").unwrap();
    for tool in [tool_named("act"), later.unwrap(), blocking] {
        assert_recorded(registry(tool), "{}", Outcome::Ok).await;
    }
}

#[tokio::test]
async fn a_call_that_fails_is_recorded() {
    for error in [ToolError::failed("no"), ToolError::retry("no"), ToolError::fatal("no")] {
        let tool = act().run(move |_, _| Err::<(), _>(error.clone())).unwrap();
        assert_recorded(registry(tool), "{}", Outcome::Failed).await;
    }
}

#[tokio::test]
async fn a_panic_is_recorded() {
    let at_once = act().run(|_, _| -> String { panic!("no") }).unwrap();
    let later = act().run_async(|_, _| async {
        tokio::task::yield_now().await;
        if true {
            panic!("no");
        }
    });
    let blocking = act().run_blocking(|_, _| -> String { panic!("no") });
    for tool in [at_once, later.unwrap(), blocking.unwrap()] {
        assert_recorded(registry(tool), "{}", Outcome::Failed).await;
    }
}

#[tokio::test]
async fn a_layer_that_panics_is_recorded() {
    let view = registry(tool_named("act")).all();
    let view = view.layer(Authorise::new(|_, _| panic!("no")));
    assert_recorded(view, "{}", Outcome::Failed).await;
}

#[tokio::test]
async fn an_unknown_tool_is_recorded() {
    assert_recorded(registry(tool_named("other")), "{}", Outcome::UnknownTool).await;
}

#[tokio::test]
async fn invalid_arguments_are_recorded() {
    let tool = act().param::<u8>("n", "").run(|_, _| "acted").unwrap();
    for arguments in ["{}", r#"{"n": "many"}"#, r#"{"n": "#] {
        let view = registry(tool.clone());
        assert_recorded(view, arguments, Outcome::InvalidArguments).await;
    }
}

#[tokio::test]
async fn a_denied_call_is_recorded() {
    let tool = act().approval(ApprovalPolicy::Always).run(|_, _| "acted");
    assert_recorded(registry(tool.unwrap()), "{}", Outcome::Denied).await;
    let view = registry(tool_named("act")).all();
    let view = view.layer(Authorise::new(|_, _| false));
    assert_recorded(view, "{}", Outcome::Denied).await;
    let view = registry(tool_named("act")).all();
    let view = view.layer(RateLimit::new(0, Duration::from_secs(1)));
    assert_recorded(view, "{}", Outcome::Denied).await;
}

fn endless() -> Tool {
    act().timeout(Duration::from_secs(1)).run_async(|_, _| std::future::pending::<()>()).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_call_that_times_out_is_recorded() {
    assert_recorded(registry(endless()), "{}", Outcome::TimedOut).await;
}

#[tokio::test]
async fn a_cancelled_call_is_recorded() {
    let (invoker, records) = audited(registry(endless()));
    let token = CancellationToken::new();
    let scope = CallScope::new().cancel_on(token.clone());
    let call = ToolCall::new("act", "{}");
    let mut running = invoker.invoke_in(&scope, &call).boxed();
    assert!((&mut running).now_or_never().is_none());
    assert!(records.lock().unwrap().is_empty());
    token.cancel();
    assert_eq!(running.await.outcome, Outcome::Cancelled);
    let again = invoker.invoke_in(&scope, &call).await;
    assert_eq!(again.outcome, Outcome::Cancelled);
    let records = records.lock().unwrap();
    assert_eq!(records.len(), 2);
    assert!(records.iter().all(|it| it.outcome == Outcome::Cancelled));
}

#[tokio::test]
async fn a_dropped_call_is_recorded_as_cancelled() {
    let (invoker, records) = audited(registry(endless()));
    let call = ToolCall::new("act", "{}");
    let mut running = invoker.invoke(&call).boxed();
    assert!((&mut running).now_or_never().is_none());
    drop(running);
    let records = records.lock().unwrap();
    assert_eq!(records.len(), 1);
    assert_eq!(records[0].outcome, Outcome::Cancelled);
}

#[tokio::test]
async fn a_hit_of_the_cache_is_recorded_like_any_call() {
    let tool = act().read_only(true).run(|_, _| "acted").unwrap();
    let view = registry(tool).all().layer(Cache::new(Duration::from_secs(1)));
    let (invoker, records) = audited(view);
    let calls = [ToolCall::new("act", "{}"), ToolCall::new("act", "{}")];
    for call in &calls {
        invoker.invoke(call).await;
    }
    let records = records.lock().unwrap();
    let recorded: Vec<_> = records.iter().map(|it| it.call.clone()).collect();
    assert_eq!(recorded, calls.map(|call| call.id));
    assert!(records.iter().all(|it| it.outcome == Outcome::Ok));
}

#[tokio::test]
async fn each_call_of_a_batch_is_recorded() {
    let (invoker, records) = audited(registry(tool_named("act")));
    let calls = ["act", "nothing", "act"].map(|name| ToolCall::new(name, "{}"));
    invoker.invoke_all(&calls).await;
    assert_eq!(records.lock().unwrap().len(), 3);
}

#[tokio::test]
async fn a_record_has_the_caller_and_the_session() {
    let (invoker, records) = audited(registry(tool_named("act")));
    let ada = CallScope::new().caller(Caller::new("ada")).session("seven");
    let call = ToolCall::new("act", "{}");
    invoker.invoke_in(&ada, &call).await;
    invoker.invoke(&call).await;
    let records = records.lock().unwrap();
    assert_eq!(records[0].caller.as_deref(), Some("ada"));
    assert_eq!(records[0].session, Some("seven".into()));
    assert_eq!(records[1].caller, None);
    assert_eq!(records[1].session, None);
}

#[tokio::test]
async fn a_record_has_a_digest_of_the_arguments() {
    let tool = act()
        .param::<String>("password", "")
        .run(|args, _| match args.get::<String>("password")?.as_str() {
            "wrong" => Err(ToolError::failed("hunter2 was expected")),
            password => Ok(format!("welcome, {password}")),
        })
        .unwrap();
    let (invoker, records) = audited(registry(tool));
    for arguments in [
        r#"{"password": "hunter2"}"#,
        r#"{"password": "hunter2"}"#,
        r#"{"password": "hunter3"}"#,
        r#"{"password": "wrong"}"#,
        r#"{"passwort": "hunter2"}"#,
    ] {
        invoker.invoke(&ToolCall::new("act", arguments)).await;
    }
    let records = records.lock().unwrap();
    assert_eq!(records.len(), 5);
    assert_eq!(records[0].arguments, records[1].arguments);
    assert_ne!(records[0].arguments, records[2].arguments);
    assert_eq!(records[0].arguments.len(), 64);
    let text = serde_json::to_string(&*records).unwrap();
    for expected in ["hunter", "passwor", "welcome", "expected"] {
        assert!(!text.contains(expected), "{expected} in {text}");
    }
}

#[tokio::test]
async fn a_sink_that_panics_does_not_affect_the_call() {
    let invoker = Invoker::builder(registry(tool_named("act"))).audit(|_| panic!("disk full"));
    let invoker = invoker.build().unwrap();
    let result = invoker.invoke(&ToolCall::new("act", "{}")).await;
    assert_eq!(result.outcome, Outcome::Ok);
}
