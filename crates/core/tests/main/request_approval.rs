//! Requests for approval before a call runs.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use toolwright::{
    ApprovalDecision, ApprovalPolicy, ApprovalRequest, Approver, CallScope, Caller,
    CancellationToken, ErrorKind, Invoker, Outcome, Tool, ToolCall, tool,
};

use crate::fixtures::{assert_ok, assert_rejected, call, registry};

/// Deletes files.
#[tool(destructive, title = "Delete files")]
fn delete(paths: Vec<String>, #[param(default = true)] dry_run: bool) -> String {
    format!("{paths:?} {dry_run}")
}

/// The requests that the approver received: title, arguments, caller.
type Shown = Arc<Mutex<Vec<(String, Value, Option<String>)>>>;

struct Answer {
    /// The reason for a denial; `None` approves.
    objection: Option<&'static str>,
    shown: Shown,
}

impl Approver for Answer {
    fn decide<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, ApprovalDecision> {
        self.shown.lock().unwrap().push((
            request.tool.display_name().to_owned(),
            request.arguments.clone(),
            request.caller.name().map(str::to_owned),
        ));
        Box::pin(async move {
            match self.objection {
                None => request.approve(),
                Some(reason) => request.deny(reason),
            }
        })
    }
}

fn answering(tool: Tool, objection: Option<&'static str>) -> (Invoker, Shown) {
    let shown = Shown::default();
    let approver = Answer { objection, shown: Arc::clone(&shown) };
    let invoker = Invoker::builder(registry(tool)).approver(approver);
    (invoker.build().unwrap(), shown)
}

#[tokio::test]
async fn without_an_approver_the_call_is_denied() {
    let result = call(delete::tool(), r#"{"paths": ["/a"]}"#).await;
    assert_eq!(result.outcome, Outcome::Denied);
    assert_eq!(result.error, Some(ErrorKind::Failed));
    assert!(result.text().contains("nobody to ask"), "{}", result.text());
}

#[tokio::test]
async fn the_approver_sees_the_arguments_that_will_run() {
    let (invoker, shown) = answering(delete::tool(), None);
    let scope = CallScope::new().caller(Caller::new("ada"));
    let call = ToolCall::new("delete", "{'paths': '/a',}");
    let result = invoker.invoke_in(&scope, &call).await;
    assert_ok(&result, r#"["/a"] true"#);
    assert_eq!(
        *shown.lock().unwrap(),
        [(
            "Delete files".to_owned(),
            json!({"paths": ["/a"], "dry_run": true}),
            Some("ada".to_owned())
        )]
    );
}

#[tokio::test]
async fn bound_arguments_are_shown_too() {
    let shown = Shown::default();
    let approver = Answer { objection: None, shown: Arc::clone(&shown) };
    let view = registry(delete::tool()).all().bind("dry_run", false);
    let invoker = Invoker::builder(view).approver(approver).build().unwrap();
    let call = ToolCall::new("delete", r#"{"paths": ["/a"]}"#);
    assert_ok(&invoker.invoke(&call).await, r#"["/a"] false"#);
    let arguments = shown.lock().unwrap()[0].1.clone();
    assert_eq!(arguments, json!({"paths": ["/a"], "dry_run": false}));
}

#[tokio::test]
async fn a_call_that_cannot_run_is_not_sent_to_the_approver() {
    let (invoker, shown) = answering(delete::tool(), None);
    let call = ToolCall::new("delete", r#"{"dry_run": true}"#);
    assert_rejected(&invoker.invoke(&call).await, &["/paths: missing"]);
    assert!(shown.lock().unwrap().is_empty());
}

#[tokio::test]
async fn the_reason_for_a_denial_reaches_the_model() {
    let (invoker, _) = answering(delete::tool(), Some("not on a Friday"));
    let call = ToolCall::new("delete", r#"{"paths": []}"#);
    let result = invoker.invoke(&call).await;
    assert_eq!(result.outcome, Outcome::Denied);
    assert_eq!(result.text(), "the call was denied: not on a Friday");
}

#[tokio::test]
async fn a_tool_may_override_when_approval_is_needed() {
    for (approval, destructive, asked) in [
        (ApprovalPolicy::Auto, false, false),
        (ApprovalPolicy::Auto, true, true),
        (ApprovalPolicy::Always, false, true),
        (ApprovalPolicy::Never, true, false),
    ] {
        let tool = Tool::builder("act", "Acts.")
            .approval(approval)
            .destructive(destructive)
            .run(|_, _| "acted")
            .unwrap();
        assert_eq!(tool.needs_approval(), asked);
        let expected = if asked { Outcome::Denied } else { Outcome::Ok };
        assert_eq!(call(tool, "").await.outcome, expected);
    }
}

/// Sends each request to the test, and waits for its decision.
struct Pending(mpsc::UnboundedSender<oneshot::Sender<()>>);

impl Approver for Pending {
    fn decide<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, ApprovalDecision> {
        let (answer, answered) = oneshot::channel();
        self.0.send(answer).unwrap();
        Box::pin(async move {
            answered.await.unwrap();
            request.approve()
        })
    }
}

#[tokio::test(start_paused = true)]
async fn waiting_for_approval_spends_no_timeout() {
    let tool = Tool::builder("act", "Acts.")
        .approval(ApprovalPolicy::Always)
        .timeout(Duration::from_secs(1))
        .run_async(|_, _| async {
            tokio::task::yield_now().await;
            "acted"
        })
        .unwrap();
    let (ask, mut questions) = mpsc::unbounded_channel();
    let invoker = Invoker::builder(registry(tool)).approver(Pending(ask));
    let invoker = invoker.build().unwrap();
    let call = ToolCall::new("act", "");
    let running = tokio::spawn(async move { invoker.invoke(&call).await });
    let answer = questions.recv().await.unwrap();
    tokio::time::advance(Duration::from_secs(300)).await;
    answer.send(()).unwrap();
    assert_ok(&running.await.unwrap(), "acted");
}

#[tokio::test]
async fn a_cancelled_call_does_not_wait_for_approval() {
    let (ask, mut questions) = mpsc::unbounded_channel();
    let invoker = Invoker::builder(registry(delete::tool())).approver(Pending(ask));
    let invoker = invoker.build().unwrap();
    let token = CancellationToken::new();
    let scope = CallScope::new().cancel_on(token.clone());
    let call = ToolCall::new("delete", r#"{"paths": []}"#);
    let running = tokio::spawn(async move { invoker.invoke_in(&scope, &call).await });
    let mut answer = questions.recv().await.unwrap();
    token.cancel();
    assert_eq!(running.await.unwrap().outcome, Outcome::Cancelled);
    answer.closed().await;
}

#[tokio::test]
async fn an_approver_that_panics_has_not_approved() {
    struct Panics;
    impl Approver for Panics {
        fn decide<'a>(&'a self, _: ApprovalRequest<'a>) -> BoxFuture<'a, ApprovalDecision> {
            panic!("no idea")
        }
    }
    let invoker = Invoker::builder(registry(delete::tool())).approver(Panics);
    let call = ToolCall::new("delete", r#"{"paths": []}"#);
    let result = invoker.build().unwrap().invoke(&call).await;
    assert_eq!(result.outcome, Outcome::Denied);
    assert!(!result.text().contains("no idea"));
    assert!(result.cause().unwrap().to_string().contains("no idea"));
}
