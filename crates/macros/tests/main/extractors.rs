//! Extractors: parameters that come from the call's context.

use std::sync::{Arc, Mutex};

use serde_json::json;
use toolwright::{
    CallContext, CallEvent, CallInfo, CallScope, Caller, Cancel, CancellationToken, HandlerContext,
    Invoker, Maybe, Outcome, Param, Progress, ProjectDir, SessionId, State, ToolCall, ToolError,
    tool,
};

use crate::call::{call, call_with, registry};

struct Shop {
    name: &'static str,
}

/// A caller with a name: a custom extractor.
struct SignInOutcome(String);

impl Param for SignInOutcome {
    fn from_call(cx: &CallContext<'_>) -> Result<Self, ToolError> {
        let name = cx.caller().name();
        let name = name.ok_or_else(|| ToolError::failed("sign in first"))?;
        Ok(Self(name.to_owned()))
    }
}

/// Names the shop.
#[tool]
fn shop_name(State(shop): State<Shop>, greeting: String) -> String {
    format!("{greeting} {}", shop.name)
}

/// Names the shop, if there is one.
#[tool]
async fn maybe_shop(Maybe(shop): Maybe<State<Shop>>) -> String {
    shop.map_or("no shop", |shop| shop.name).to_owned()
}

/// Says who calls, where and how.
#[tool(blocking)]
fn who(caller: Caller, session: SessionId, info: CallInfo, context: HandlerContext) -> String {
    assert_eq!(context.session(), &session);
    format!("{:?} {session} {} {}", caller.name(), info.id, info.tool)
}

/// Greets whoever has signed in.
#[tool]
fn greet_signed_in(SignInOutcome(name): SignInOutcome) -> String {
    format!("Hello, {name}!")
}

/// Says how far it is.
#[tool]
fn half_way(progress: Progress) {
    progress.report(1.0, 2.0, "half way");
}

/// Waits until nobody waits for it.
#[tool]
async fn wait_for_cancellation(cancel: Cancel) -> bool {
    cancel.cancelled().await;
    cancel.is_cancelled()
}

/// Names the project.
#[tool]
fn project_name(ProjectDir(path): ProjectDir) -> String {
    path.display().to_string()
}

#[test]
fn extractors_are_hidden_from_the_model() {
    let shop: Vec<_> = shop_name::tool().params();
    assert_eq!(shop.len(), 1);
    assert_eq!(shop[0].name, "greeting");
    assert!(who::tool().params().is_empty());
}

#[tokio::test]
async fn an_extractor_cannot_be_sent() {
    let arguments = json!({"caller": "ada"});
    let result = call(who::tool(), "who", arguments).await;
    assert_eq!(result.outcome, Outcome::InvalidArguments);
}

#[tokio::test]
async fn state_may_be_destructured() {
    let tool = shop_name::tool();
    let state = Shop { name: "Corner" };
    let arguments = json!({"greeting": "At the"});
    let result = call_with(tool, |it| it.state(state), "shop_name", arguments).await;
    assert_eq!(result.text(), "At the Corner");
}

#[test]
fn missing_state_is_an_error_of_the_invokers_builder() {
    let missing = Invoker::new(registry(shop_name::tool())).unwrap_err();
    assert!(missing.to_string().contains("`shop_name`"), "{missing}");
    assert!(missing.to_string().contains("Shop"), "{missing}");
}

#[tokio::test]
async fn an_extractor_may_be_missing() {
    let without = call(maybe_shop::tool(), "maybe_shop", json!({})).await;
    assert_eq!(without.text(), "no shop");
    let state = Shop { name: "Corner" };
    let with = call_with(maybe_shop::tool(), |it| it.state(state), "maybe_shop", json!({}));
    assert_eq!(with.await.text(), "Corner");
}

#[tokio::test]
async fn caller_session_and_call_come_from_the_scope() {
    let invoker = Invoker::new(registry(who::tool())).unwrap();
    let scope = CallScope::new().caller(Caller::new("ada")).session("talk-7");
    let call = ToolCall::new("who", "{}").with_id("call-1");
    let result = invoker.invoke_in(&scope, &call).await;
    assert_eq!(result.text(), r#"Some("ada") talk-7 call-1 who"#);
}

#[tokio::test]
async fn an_extractor_of_ones_own_may_refuse() {
    let invoker = Invoker::new(registry(greet_signed_in::tool())).unwrap();
    let call = ToolCall::new("greet_signed_in", "{}");
    let refused = invoker.invoke(&call).await;
    assert_eq!(refused.text(), "sign in first");
    let scope = CallScope::new().caller(Caller::new("ada"));
    let greeted = invoker.invoke_in(&scope, &call).await;
    assert_eq!(greeted.text(), "Hello, ada!");
}

#[tokio::test]
async fn progress_reaches_the_listener() {
    let heard: Arc<Mutex<Vec<CallEvent>>> = Arc::default();
    let keep = Arc::clone(&heard);
    let scope = CallScope::new().on_event(move |event| keep.lock().unwrap().push(event));
    let invoker = Invoker::new(registry(half_way::tool())).unwrap();
    invoker.invoke_in(&scope, &ToolCall::new("half_way", "{}")).await;
    let heard = heard.lock().unwrap();
    assert!(
        matches!(&heard[..], [CallEvent::Progress { done: Some(1.0), message: Some(message), .. }] if message == "half way"),
        "{heard:?}"
    );
}

#[tokio::test]
async fn a_tool_is_notified_of_its_cancellation() {
    let token = CancellationToken::new();
    let scope = CallScope::new().cancel_on(token.clone());
    let invoker = Invoker::new(registry(wait_for_cancellation::tool())).unwrap();
    let call = ToolCall::new("wait_for_cancellation", "{}");
    let waiting = invoker.invoke_in(&scope, &call);
    let (result, ()) = futures::future::join(waiting, async { token.cancel() }).await;
    // The tool or the invoker may be cancelled first; both are correct.
    let heard = result.text() == "true";
    assert!(heard || result.outcome == Outcome::Cancelled, "{result:?}");
}

#[tokio::test]
async fn the_project_directory_is_the_invokers() {
    let tool = project_name::tool();
    let result = call_with(tool, |it| it.project_dir("/srv/shop"), "project_name", json!({}));
    assert_eq!(result.await.text(), "/srv/shop");
}
