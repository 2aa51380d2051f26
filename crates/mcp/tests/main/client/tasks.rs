//! Calls that a server answers with a task: followed to their end, in both eras that have tasks.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::Notify;
use toolwright_core::{
    CallEvent, CallScope, CancellationToken, Invoker, MemorySharedState, Outcome, Registry,
    SharedState, ToolCall, ToolResult,
};
use toolwright_mcp::{
    ElicitHandler, ElicitInput, ElicitRequest, ElicitResponse, RemoteServer, Trust,
};

use super::http_server::{
    ReceivedRequest, ScriptedHttpServer, ScriptedResponse, text_result, tool,
};
use super::scripted::scripted_server;
use super::support::{call, call_in, scope_with_events};

/// Answers with a name.
struct Ada;

impl ElicitHandler for Ada {
    fn elicit<'a>(&'a self, question: ElicitRequest<'a>) -> BoxFuture<'a, ElicitResponse> {
        Box::pin(async move {
            match question.input {
                ElicitInput::Form(_) => ElicitResponse::Accept(json!({ "name": "Ada" })),
                _ => ElicitResponse::Decline,
            }
        })
    }
}

/// A task in a state, with more fields.
fn task(status: &str, more: Value) -> Value {
    let mut task = json!({
        "taskId": "t-1", "status": status, "createdAt": "2026-07-28T00:00:00Z",
        "lastUpdatedAt": "2026-07-28T00:00:01Z", "ttlMs": 60_000, "pollIntervalMs": 1,
    });
    for (key, value) in more.as_object().unwrap() {
        task[key] = value.clone();
    }
    task
}

fn created(asked: &ReceivedRequest) -> ScriptedResponse {
    let mut task = task("working", json!({}));
    task["resultType"] = json!("task");
    ScriptedResponse::Json(json!({ "jsonrpc": "2.0", "id": asked.message["id"], "result": task }))
}

fn methods(site: &ScriptedHttpServer) -> Vec<String> {
    let requests = site.requests();
    let methods = requests.iter().map(|asked| asked.method().to_owned());
    methods.filter(|method| method.starts_with("tasks/") || method == "tools/call").collect()
}

fn shop(site: &ScriptedHttpServer) -> RemoteServer {
    RemoteServer::url("shop", &site.url).trust(Trust::Calls)
}

#[tokio::test]
async fn a_task_is_followed_to_its_end() {
    let polls = AtomicUsize::new(0);
    let answers = Arc::new(Mutex::new(Value::Null));
    let of_server = Arc::clone(&answers);
    let site =
        ScriptedHttpServer::with_tools(json!([tool("order")]), move |asked| match asked.method() {
            "tools/call" => created(asked),
            "tasks/update" => {
                *of_server.lock().unwrap() = asked.message["params"]["inputResponses"].clone();
                asked.result(json!({}))
            }
            _ => asked.result(match polls.fetch_add(1, Ordering::SeqCst) {
                0 => task("working", json!({ "statusMessage": "half of it" })),
                1 => {
                    let form =
                        json!({ "type": "object", "properties": { "name": { "type": "string" } } });
                    let params =
                        json!({ "mode": "form", "message": "Who?", "requestedSchema": form });
                    let request = json!({ "method": "elicitation/create", "params": params });
                    task("input_required", json!({ "inputRequests": { "who": request } }))
                }
                _ => task("completed", json!({ "result": text_result("ordered") })),
            }),
        })
        .await;
    let registry = Registry::new();
    let attached = shop(&site).elicit(Arc::new(Ada)).attach(&registry).await.unwrap();
    let (scope, events) = scope_with_events();
    let result = call_in(&registry, &scope, "shop_order", json!({})).await;
    assert_eq!((result.outcome, &*result.text()), (Outcome::Ok, "ordered"), "{result:?}");
    let expected = ["tools/call", "tasks/get", "tasks/get", "tasks/update", "tasks/get"];
    assert_eq!(methods(&site), expected);
    let answer = json!({ "who": { "action": "accept", "content": { "name": "Ada" } } });
    assert_eq!(*answers.lock().unwrap(), answer);
    let messages: Vec<String> = events
        .try_iter()
        .filter_map(|event| match event {
            CallEvent::Progress { message, .. } => message,
            _ => None,
        })
        .collect();
    assert_eq!(messages, ["half of it"]);
    let declared = &site.requests()[0].message["params"]["_meta"];
    assert!(declared.to_string().contains("io.modelcontextprotocol/tasks"), "{declared}");
    attached.detach().await;
}

#[tokio::test]
async fn a_task_that_fails_or_is_cancelled_is_a_failed_result() {
    let states = json!([
        task("failed", json!({ "error": { "code": -32603, "message": "out of paper" } })),
        task("cancelled", json!({})),
    ]);
    let polls = AtomicUsize::new(0);
    let site =
        ScriptedHttpServer::with_tools(json!([tool("order")]), move |asked| match asked.method() {
            "tools/call" => created(asked),
            _ => asked.result(states[polls.fetch_add(1, Ordering::SeqCst)].clone()),
        })
        .await;
    let registry = Registry::new();
    let attached = shop(&site).attach(&registry).await.unwrap();
    let failed = call(&registry, "shop_order", json!({})).await;
    assert_eq!(failed.outcome, Outcome::Failed);
    assert!(failed.text().contains("out of paper"), "{failed:?}");
    let cancelled = call(&registry, "shop_order", json!({})).await;
    assert_eq!(cancelled.outcome, Outcome::Cancelled, "{cancelled:?}");
    attached.detach().await;
    assert!(!methods(&site).contains(&"tasks/cancel".to_owned()), "{:?}", methods(&site));
}

/// A server whose task works until `is_done`, and the notification of each of its polls.
async fn slow_site(is_done: Arc<Mutex<bool>>, polled: Arc<Notify>) -> ScriptedHttpServer {
    ScriptedHttpServer::with_tools(json!([tool("order")]), move |asked| match asked.method() {
        "tools/call" => created(asked),
        "tasks/cancel" => {
            polled.notify_one();
            asked.result(json!({}))
        }
        _ => {
            polled.notify_one();
            asked.result(match *is_done.lock().unwrap() {
                false => task("working", json!({})),
                true => task("completed", json!({ "result": text_result("ordered") })),
            })
        }
    })
    .await
}

#[tokio::test]
async fn a_call_that_is_given_up_cancels_its_task() {
    let polled = Arc::new(Notify::new());
    let site = slow_site(Arc::default(), Arc::clone(&polled)).await;
    let registry = Registry::new();
    let attached = shop(&site).attach(&registry).await.unwrap();
    let cancel = CancellationToken::new();
    let scope = CallScope::new().cancel_on(cancel.clone());
    let hanging = call_in(&registry, &scope, "shop_order", json!({}));
    let cancelling = async {
        polled.notified().await;
        cancel.cancel();
    };
    let (given_up, ()) = tokio::join!(hanging, cancelling);
    assert_eq!(given_up.outcome, Outcome::Cancelled);
    while !methods(&site).contains(&"tasks/cancel".to_owned()) {
        polled.notified().await;
    }
    attached.detach().await;
}

/// Calls as a turn does: in a session, with an id that stays the same when the call runs again.
async fn run(registry: &Registry, is_repeated: bool) -> ToolResult {
    let invoker = Invoker::new(registry).unwrap();
    let scope = CallScope::new().session("c-1").repeated(is_repeated);
    invoker.invoke_in(&scope, &ToolCall::new("shop_order", "{}").with_id("call-1")).await
}

#[tokio::test]
async fn a_task_goes_on_after_a_restart() {
    let (is_done, polled) = (Arc::new(Mutex::new(false)), Arc::new(Notify::new()));
    let site = slow_site(Arc::clone(&is_done), Arc::clone(&polled)).await;
    let state: Arc<dyn SharedState> = Arc::new(MemorySharedState::new());
    let before = Registry::new();
    let attached = shop(&site).resume_calls(Arc::clone(&state)).attach(&before).await.unwrap();
    let snapshot = before.snapshot();
    assert!(snapshot.find("shop_order").unwrap().policy().replayable);
    // The process ends in the middle of the task.
    tokio::select! {
        result = run(&before, false) => panic!("{result:?}"),
        () = polled.notified() => {}
    }
    attached.detach().await;

    *is_done.lock().unwrap() = true;
    let after = Registry::new();
    let attached = shop(&site).resume_calls(Arc::clone(&state)).attach(&after).await.unwrap();
    let result = run(&after, true).await;
    assert_eq!((result.outcome, &*result.text()), (Outcome::Ok, "ordered"), "{result:?}");
    let methods = methods(&site);
    assert_eq!(methods.iter().filter(|method| *method == "tools/call").count(), 1, "{methods:?}");
    assert!(!methods.contains(&"tasks/cancel".to_owned()), "{methods:?}");

    // Nothing is known of a call that has its result, or that was interrupted before there was a task.
    let again = run(&after, true).await;
    assert_eq!(again.outcome, Outcome::OutcomeUnknown, "{again:?}");
    attached.detach().await;
}

#[tokio::test]
async fn a_tool_that_can_only_be_a_task_is_one_in_the_revision_with_sessions() {
    let registry = Registry::new();
    let server = scripted_server("shop", "").elicit(Arc::new(Ada));
    let attached = server.attach(&registry).await.unwrap();
    let (scope, events) = scope_with_events();
    let result = call_in(&registry, &scope, "shop_errand", json!({})).await;
    let expected = r#"{"action": "accept", "content": {"name": "Ada"}}"#;
    assert_eq!((result.outcome, &*result.text()), (Outcome::Ok, expected), "{result:?}");
    let progress = events
        .try_iter()
        .any(|event| matches!(event, CallEvent::Progress { done: Some(done), .. } if done == 1.0));
    assert!(progress, "the progress of a task has the token of its call");

    let cancel = CancellationToken::new();
    let scope = CallScope::new().cancel_on(cancel.clone()).on_event(move |_| cancel.cancel());
    let given_up = call_in(&registry, &scope, "shop_journey", json!({})).await;
    assert_eq!(given_up.outcome, Outcome::Cancelled, "{given_up:?}");
    let mut heard = String::new();
    while !heard.contains("tasks/cancel") {
        heard = call(&registry, "shop_heard", json!({})).await.text().into_owned();
    }
    attached.detach().await;
}
