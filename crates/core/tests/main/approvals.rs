//! Approval tokens: valid for one tool, its arguments, one caller, once and for a limited time.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::{BoxFuture, join_all};
use serde_json::{Value, json};
use tokio::sync::oneshot;
use tokio::time::Instant;
use toolwright::{
    ApprovalDecision, ApprovalRequest, ApprovalSigner, ApprovalToken, Approver, CallScope, Caller,
    ErrorKind, Invoker, Outcome, Tool, ToolBuilder, ToolCall, ToolResult, UnknownArguments,
};

use crate::fixtures::{CallCounter, FnApprover, assert_ok, assert_rejected, registry};

const DELETE: &str = r#"{"path": "/a", "dry_run": false}"#;

fn delete() -> ToolBuilder {
    Tool::builder("delete", "Deletes a file.")
        .destructive(true)
        .param::<String>("path", "")
        .param::<bool>("dry_run", "")
}

/// A tool that returns its arguments, and the number of its runs.
fn echoing(tool: ToolBuilder) -> (Tool, CallCounter) {
    let runs = CallCounter::default();
    let counted = runs.clone();
    let tool = tool.run(move |args, _| {
        counted.increment();
        Value::from(args.into_map()).to_string()
    });
    (tool.unwrap(), runs)
}

/// An invoker whose approver denies every call, but issues a token for it.
struct TokenRecorder {
    invoker: Invoker,
    tokens: Arc<Mutex<Vec<ApprovalToken>>>,
    runs: CallCounter,
}

fn recorder_for(tool: ToolBuilder, approvals: ApprovalSigner) -> TokenRecorder {
    let (tool, runs) = echoing(tool);
    let tokens = Arc::new(Mutex::new(Vec::new()));
    let issued = Arc::clone(&tokens);
    let (approver, _) = FnApprover::new(move |request| {
        issued.lock().unwrap().push(request.issue_token());
        request.deny("later")
    });
    let invoker = Invoker::builder(registry(tool)).approver(approver);
    TokenRecorder { invoker: invoker.approval_signer(approvals).build().unwrap(), tokens, runs }
}

fn recorder() -> TokenRecorder {
    recorder_for(delete(), ApprovalSigner::with_key("key"))
}

impl TokenRecorder {
    /// Issues the token of a call.
    async fn issue(&self, scope: &CallScope, arguments: &str) -> ApprovalToken {
        let name = self.invoker.snapshot().unwrap();
        let name = name.iter().next().unwrap().spec().name.clone();
        let call = ToolCall::new(name.as_str(), arguments);
        let result = self.invoker.invoke_in(scope, &call).await;
        assert_eq!(result.text(), "the call was denied: later");
        self.tokens.lock().unwrap().pop().unwrap()
    }

    async fn present(
        &self,
        scope: CallScope,
        arguments: &str,
        token: &ApprovalToken,
    ) -> ToolResult {
        let scope = scope.approval_token(token.clone());
        let call = ToolCall::new("delete", arguments);
        self.invoker.invoke_in(&scope, &call).await
    }

    #[track_caller]
    fn assert_denied(&self, result: &ToolResult) {
        assert_eq!(result.outcome, Outcome::Denied, "{}", result.text());
        assert_eq!(result.error, Some(ErrorKind::Failed));
        assert_eq!(self.runs.get(), 0, "the tool ran");
    }
}

fn named(caller: &str) -> CallScope {
    CallScope::new().caller(Caller::new(caller))
}

// Valid tokens.

#[tokio::test]
async fn a_token_in_the_scope_runs_the_call_once_without_the_approver() {
    let recorder = recorder();
    let token = recorder.issue(&named("ada"), DELETE).await;
    let stored = serde_json::to_string(&token).unwrap();
    let brought: ApprovalToken = serde_json::from_str(&stored).unwrap();
    assert_eq!(brought, token);
    let reordered = r#"{"dry_run": false, "path": "/a"}"#;
    let result = recorder.present(named("ada"), reordered, &brought).await;
    assert_eq!(result.outcome, Outcome::Ok);
    assert_eq!(recorder.runs.get(), 1);
    assert!(recorder.tokens.lock().unwrap().is_empty(), "the approver was not called");
    let again = recorder.present(named("ada"), DELETE, &brought).await;
    assert_eq!(again.outcome, Outcome::Denied);
    assert_eq!(recorder.runs.get(), 1);
}

#[tokio::test]
async fn a_token_does_not_contain_the_call() {
    let stored = serde_json::to_string(&recorder().issue(&named("ada"), DELETE).await).unwrap();
    for secret in ["/a", "ada", "delete", "key\""] {
        assert!(!stored.contains(secret), "{secret} in {stored}");
    }
}

#[tokio::test]
async fn those_with_the_same_key_accept_each_others_grants() {
    let (here, there) = (recorder(), recorder());
    let token = here.issue(&CallScope::new(), DELETE).await;
    let result = there.present(CallScope::new(), DELETE, &token).await;
    assert_eq!(result.outcome, Outcome::Ok);
}

#[tokio::test]
async fn of_many_grants_the_right_one_is_used_up_and_no_other() {
    let recorder = recorder();
    let mut scope = CallScope::new();
    for path in ["/b", "/a", "/a"] {
        let arguments = json!({"path": path, "dry_run": false}).to_string();
        scope = scope.approval_token(recorder.issue(&CallScope::new(), &arguments).await);
    }
    let call = ToolCall::new("delete", DELETE);
    for expected in [Outcome::Ok, Outcome::Ok, Outcome::Denied] {
        assert_eq!(recorder.invoker.invoke_in(&scope, &call).await.outcome, expected);
    }
}

/// Calls `tool` with an approver that makes this decision.
async fn decided(
    tool: ToolBuilder,
    decide: impl Fn(ApprovalRequest<'_>) -> ApprovalDecision + Send + Sync + 'static,
) -> (ToolResult, CallCounter) {
    let (tool, runs) = echoing(tool);
    let (approver, asked) = FnApprover::new(decide);
    let invoker = Invoker::builder(registry(tool)).approver(approver);
    let call = ToolCall::new("delete", DELETE);
    let result = invoker.build().unwrap().invoke(&call).await;
    assert_eq!(asked.get(), 1);
    (result, runs)
}

#[tokio::test]
async fn an_approved_call_runs() {
    let (result, runs) = decided(delete(), |request| request.approve()).await;
    assert_ok(&result, r#"{"path":"/a","dry_run":false}"#);
    assert_eq!(runs.get(), 1);
}

#[tokio::test]
async fn an_edited_call_runs_with_the_edited_arguments() {
    let edited = json!({"path": "/b", "dry_run": true});
    let (result, runs) = decided(delete(), move |request| request.edit(edited.clone())).await;
    assert_ok(&result, r#"{"path":"/b","dry_run":true}"#);
    assert!(result.notes.is_empty(), "{:?}", result.notes);
    assert_eq!(runs.get(), 1);
}

#[tokio::test]
async fn a_denied_call_does_not_run_and_has_the_reason() {
    let (result, runs) = decided(delete(), |request| request.deny("not on a Friday")).await;
    assert_eq!(result.outcome, Outcome::Denied);
    assert_eq!(result.text(), "the call was denied: not on a Friday");
    assert_eq!(runs.get(), 0);
}

#[tokio::test]
async fn an_answered_call_does_not_run() {
    let (result, runs) = decided(delete(), |request| request.answer("I did it myself")).await;
    assert_ok(&result, "I did it myself");
    assert_eq!(result.tool.as_str(), "delete");
    assert_eq!(runs.get(), 0);
}

// Edits.

#[tokio::test]
async fn an_edit_with_invalid_arguments_is_rejected() {
    for (edited, expected) in [
        (json!({"path": "/b"}), "/dry_run: missing"),
        (json!({"path": "/b", "dry_run": "perhaps"}), "/dry_run"),
        (json!({"path": "/b", "dry_run": true, "force": true}), "force"),
        (json!("/b"), "object"),
        (json!(null), "/path: missing"),
    ] {
        let (result, runs) = decided(delete(), move |request| request.edit(edited.clone())).await;
        assert_rejected(&result, &[expected]);
        assert_eq!(runs.get(), 0);
    }
}

#[tokio::test]
async fn an_edit_may_add_arguments_that_the_tool_ignores() {
    let edited = json!({"path": "/b", "dry_run": true, "force": true});
    let tool = delete().unknown_arguments(UnknownArguments::Ignore);
    let (result, _) = decided(tool, move |request| request.edit(edited.clone())).await;
    assert_ok(&result, r#"{"path":"/b","dry_run":true}"#);
}

#[tokio::test]
async fn an_edit_leaves_bound_parameters_alone() {
    for (edited, works) in [
        (json!({"path": "/b", "dry_run": true}), true),
        (json!({"path": "/b"}), true),
        (json!({"path": "/b", "dry_run": false}), false),
        (json!({"path": "/b", "dry_run": "true"}), false),
    ] {
        let (tool, runs) = echoing(delete());
        let edit = edited.clone();
        let (approver, _) = FnApprover::new(move |request| request.edit(edit.clone()));
        let view = registry(tool).all().bind("dry_run", true);
        let invoker = Invoker::builder(view).approver(approver).build().unwrap();
        let call = ToolCall::new("delete", r#"{"path": "/a"}"#);
        let result = invoker.invoke(&call).await;
        if works {
            assert_ok(&result, r#"{"path":"/b","dry_run":true}"#);
        } else {
            assert_rejected(&result, &["dry_run"]);
        }
        assert_eq!(runs.get() == 1, works, "{edited}");
    }
}

#[tokio::test]
async fn an_edit_needs_a_token_for_its_arguments() {
    let (result, runs) = decided(delete(), |request| ApprovalDecision::Edit {
        arguments: json!({"path": "/b", "dry_run": false}),
        token: request.issue_token(),
    })
    .await;
    assert_eq!(result.outcome, Outcome::Denied);
    assert!(result.text().ends_with("the approval is for another call"));
    assert_eq!(runs.get(), 0);
}

// Attacks.

#[tokio::test]
async fn a_token_for_other_arguments_is_rejected() {
    let recorder = recorder();
    for other in [
        r#"{"path": "/a", "dry_run": true}"#,
        r#"{"path": "/b", "dry_run": false}"#,
        r#"{"path": "/a ", "dry_run": false}"#,
    ] {
        let token = recorder.issue(&CallScope::new(), other).await;
        let result = recorder.present(CallScope::new(), DELETE, &token).await;
        recorder.assert_denied(&result);
    }
}

#[tokio::test]
async fn a_token_for_another_tool_is_rejected() {
    let recorder = recorder();
    let others = [
        // Another name, another description, another schema, other hints, another bundle.
        Tool::builder("remove", "Deletes a file.")
            .destructive(true)
            .param::<String>("path", "")
            .param::<bool>("dry_run", ""),
        Tool::builder("delete", "Deletes a file, perhaps.")
            .destructive(true)
            .param::<String>("path", "")
            .param::<bool>("dry_run", ""),
        delete().param::<Option<bool>>("force", ""),
        delete().open_world(true),
        delete().bundle("files"),
        delete().title("Delete"),
        delete().output_of_type("number"),
    ];
    for other in others {
        let other = recorder_for(other, ApprovalSigner::with_key("key"));
        let token = other.issue(&CallScope::new(), DELETE).await;
        let result = recorder.present(CallScope::new(), DELETE, &token).await;
        recorder.assert_denied(&result);
    }
}

#[tokio::test]
async fn a_token_for_another_caller_is_rejected() {
    let callers = [
        CallScope::new(),
        named(""),
        named("ada"),
        named("Ada"),
        named("anonymous"),
        named("named ada"),
        named("ada\n"),
    ];
    for (at, granted) in callers.iter().enumerate() {
        let recorder = recorder();
        let token = recorder.issue(granted, DELETE).await;
        for (beside, presented) in callers.iter().enumerate() {
            if at != beside {
                let result = recorder.present(presented.clone(), DELETE, &token).await;
                recorder.assert_denied(&result);
            }
        }
        // The failed attempts have not redeemed it.
        let result = recorder.present(granted.clone(), DELETE, &token).await;
        assert_eq!(result.outcome, Outcome::Ok);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_many_calls_with_one_token_exactly_one_runs() {
    for _ in 0..20 {
        let recorder = Arc::new(recorder());
        let token = recorder.issue(&CallScope::new(), DELETE).await;
        let present = |_| {
            let (recorder, token) = (Arc::clone(&recorder), token.clone());
            tokio::spawn(async move { recorder.present(CallScope::new(), DELETE, &token).await })
        };
        let results = join_all((0..4).map(present)).await;
        let ran = |result: &&Result<ToolResult, _>| result.as_ref().unwrap().outcome == Outcome::Ok;
        assert_eq!(results.iter().filter(ran).count(), 1);
        assert_eq!(recorder.runs.get(), 1);
    }
}

#[tokio::test]
async fn an_expired_token_is_rejected() {
    let recorder = recorder_for(delete(), ApprovalSigner::with_key("key").lifetime(Duration::ZERO));
    let token = recorder.issue(&CallScope::new(), DELETE).await;
    let result = recorder.present(CallScope::new(), DELETE, &token).await;
    recorder.assert_denied(&result);
}

#[tokio::test]
async fn a_token_that_was_tampered_with_is_rejected() {
    let recorder = recorder();
    let token = recorder.issue(&CallScope::new(), DELETE).await;
    let whole = serde_json::to_value(&token).unwrap();
    let fields: Vec<&String> = whole.as_object().unwrap().keys().collect();
    assert_eq!(fields.len(), 4);
    for field in fields {
        for forged in forgeries(&whole[field]) {
            let mut edited = whole.clone();
            edited[field] = forged;
            let Ok(token) = serde_json::from_value(edited.clone()) else {
                continue;
            };
            let result = recorder.present(CallScope::new(), DELETE, &token).await;
            recorder.assert_denied(&result);
        }
    }
    assert_eq!(recorder.present(CallScope::new(), DELETE, &token).await.outcome, Outcome::Ok);
}

fn forgeries(value: &Value) -> Vec<Value> {
    let Some(text) = value.as_str() else {
        let number = value.as_u64().unwrap();
        return vec![json!(number + 1), json!(number - 1), json!(u64::MAX), json!(0)];
    };
    let (head, tail) = text.split_at(1);
    let digit = if head == "0" { "1" } else { "0" };
    vec![
        json!(""),
        json!(text.to_uppercase() + "A"),
        json!(format!("{text}0")),
        json!(format!("{text}00")),
        json!(format!("{text}\n")),
        json!(format!("{digit}{tail}")),
        json!(format!("+{tail}")),
        json!(format!("ü{}", &text[2..])),
        json!(tail),
        json!(null),
    ]
}

#[tokio::test]
async fn a_token_with_an_unknown_field_is_rejected() {
    let mut token =
        serde_json::to_value(recorder().issue(&CallScope::new(), DELETE).await).unwrap();
    token["caller"] = json!("ada");
    assert!(serde_json::from_value::<ApprovalToken>(token).is_err());
}

#[tokio::test]
async fn a_token_signed_with_another_key_is_rejected() {
    let recorder = recorder();
    for other in [
        ApprovalSigner::with_key("other key"),
        ApprovalSigner::with_key(""),
        ApprovalSigner::new().unwrap(),
    ] {
        let token = recorder_for(delete(), other).issue(&CallScope::new(), DELETE).await;
        let result = recorder.present(CallScope::new(), DELETE, &token).await;
        recorder.assert_denied(&result);
    }
}

#[tokio::test]
async fn a_blank_key_accepts_nothing() {
    for key in ["", "  "] {
        let recorder = recorder_for(delete(), ApprovalSigner::with_key(key));
        let token = recorder.issue(&CallScope::new(), DELETE).await;
        let result = recorder.present(CallScope::new(), DELETE, &token).await;
        recorder.assert_denied(&result);
    }
}

#[tokio::test]
async fn an_approver_cannot_pass_off_another_grant() {
    let foreign = recorder_for(delete(), ApprovalSigner::with_key("other key"));
    let foreign = foreign.issue(&CallScope::new(), DELETE).await;
    let (result, runs) =
        decided(delete(), move |_| ApprovalDecision::Approve(foreign.clone())).await;
    assert_eq!(result.outcome, Outcome::Denied);
    assert!(result.text().ends_with("the approval is not one of ours"));
    assert_eq!(runs.get(), 0);
}

#[tokio::test]
async fn an_approver_cannot_use_one_grant_twice() {
    let (tool, runs) = echoing(delete());
    let kept = Mutex::new(None);
    let (approver, asked) = FnApprover::new(move |request| {
        let mut kept = kept.lock().unwrap();
        ApprovalDecision::Approve(kept.get_or_insert_with(|| request.issue_token()).clone())
    });
    let invoker = Invoker::builder(registry(tool)).approver(approver);
    let invoker = invoker.build().unwrap();
    let call = ToolCall::new("delete", DELETE);
    assert_eq!(invoker.invoke(&call).await.outcome, Outcome::Ok);
    let again = invoker.invoke(&call).await;
    assert_eq!(again.outcome, Outcome::Denied);
    assert!(again.text().ends_with("the approval was used before"));
    assert_eq!((runs.get(), asked.get()), (1, 2));
}

// No decision.

/// An approver made of a function that returns a future.
struct Asks<F>(F);

impl<F> Approver for Asks<F>
where
    F: for<'a> Fn(ApprovalRequest<'a>) -> BoxFuture<'a, ApprovalDecision> + Send + Sync,
{
    fn decide<'a>(&'a self, request: ApprovalRequest<'a>) -> BoxFuture<'a, ApprovalDecision> {
        (self.0)(request)
    }
}

fn decide_with<F>(ask: F) -> (Invoker, CallCounter)
where
    F: for<'a> Fn(ApprovalRequest<'a>) -> BoxFuture<'a, ApprovalDecision> + Send + Sync + 'static,
{
    let (tool, runs) = echoing(delete());
    let approvals = ApprovalSigner::with_key("key").lifetime(Duration::from_secs(60));
    let invoker = Invoker::builder(registry(tool)).approver(Asks(ask));
    (invoker.approval_signer(approvals).build().unwrap(), runs)
}

#[tokio::test]
async fn without_an_approver_or_with_one_that_panics_the_call_is_denied() {
    let (tool, none) = echoing(delete());
    let without_approver = Invoker::new(registry(tool)).unwrap();
    let (at_once, early) = decide_with(|_| panic!("no idea"));
    let (later, late) = decide_with(|_| {
        Box::pin(async {
            tokio::task::yield_now().await;
            panic!("no idea")
        })
    });
    for (invoker, runs) in [(without_approver, none), (at_once, early), (later, late)] {
        let result = invoker.invoke(&ToolCall::new("delete", DELETE)).await;
        assert_eq!(result.outcome, Outcome::Denied);
        assert_eq!(runs.get(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn an_approver_that_times_out_has_not_approved() {
    let (invoker, runs) = decide_with(|_| Box::pin(std::future::pending()));
    let began = Instant::now();
    let result = invoker.invoke(&ToolCall::new("delete", DELETE)).await;
    assert_eq!(result.outcome, Outcome::Denied);
    assert_eq!(result.text(), "the call was denied: nobody answered in time");
    assert_eq!(began.elapsed(), Duration::from_secs(60));
    assert_eq!(runs.get(), 0);
}

#[tokio::test]
async fn an_approver_that_was_dropped_has_not_approved() {
    let (invoker, runs) = decide_with(|request| {
        Box::pin(async move {
            let (answer, answered) = oneshot::channel::<()>();
            drop(answer);
            match answered.await {
                Ok(()) => request.approve(),
                Err(gone) => request.deny(gone.to_string()),
            }
        })
    });
    let result = invoker.invoke(&ToolCall::new("delete", DELETE)).await;
    assert_eq!(result.outcome, Outcome::Denied);
    assert_eq!(runs.get(), 0);
}

#[tokio::test]
async fn a_question_is_dropped_with_the_call() {
    let open = Arc::new(());
    let held = Arc::clone(&open);
    let (invoker, runs) = decide_with(move |_| {
        let held = Arc::clone(&held);
        Box::pin(async move {
            let _held = held;
            std::future::pending().await
        })
    });
    let call = ToolCall::new("delete", DELETE);
    let mut running = invoker.invoke(&call).boxed();
    assert!((&mut running).now_or_never().is_none());
    assert_eq!(Arc::strong_count(&open), 3);
    drop(running);
    assert_eq!((Arc::strong_count(&open), runs.get()), (2, 0));
}
