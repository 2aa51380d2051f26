//! Pending calls, found without running them, and `map_calls`.

use std::sync::{Arc, Mutex};

use serde_json::json;
use toolwright::{
    ApprovalSigner, Authorise, CallScope, Caller, Invoker, Tool, ToolBuilder, ToolCall,
};

use crate::fixtures::{CallCounter, registry, tool_named};

fn pay() -> ToolBuilder {
    Tool::builder("pay", "Pays a bill.")
        .title("Payment")
        .destructive(true)
        .param::<i64>("amount", "How much.")
}

fn invoker() -> (Invoker, CallCounter) {
    let runs = CallCounter::default();
    let counted = runs.clone();
    let pay = pay().run(move |_, _| {
        counted.increment();
    });
    let tools = registry(vec![pay.unwrap(), tool_named("look")]);
    let invoker = Invoker::builder(tools).approval_signer(ApprovalSigner::with_key("key"));
    (invoker.build().unwrap(), runs)
}

const FIVE: &str = r#"{"amount": "5"}"#;

#[test]
fn a_call_that_needs_approval_is_shown_as_the_tool_will_receive_it() {
    let (invoker, runs) = invoker();
    let call = ToolCall::new("pay", FIVE).with_id("a");
    let pending = invoker.pending_call(&CallScope::new(), &call).unwrap();
    assert_eq!(pending.call, call);
    assert_eq!(pending.tool.display_name(), "Payment");
    assert_eq!(pending.arguments, json!({"amount": 5}));
    let request = pending.request();
    assert_eq!(*request.arguments, pending.arguments);
    assert_eq!(runs.get(), 0);
}

#[test]
fn nothing_is_pending_that_would_not_run() {
    let (invoker, _) = invoker();
    for (tool, arguments) in [
        ("look", "{}"),
        ("nobody", "{}"),
        ("pay", "{}"),
        ("pay", r#"{"amount": "a lot"}"#),
        ("pay", r#"{"amount": 5"#),
        ("pay", r#"{"amount": 5, "tip": 1}"#),
        ("pay", "null"),
    ] {
        let call = ToolCall::new(tool, arguments);
        assert!(invoker.pending_call(&CallScope::new(), &call).is_none(), "{tool} {arguments}");
    }
}

#[test]
fn nothing_is_pending_if_the_caller_may_not_see_the_tool() {
    let tools = registry(pay().run(|_, _| "paid").unwrap()).all();
    let only_ada =
        Authorise::new(|caller: &Caller, _: &toolwright::ToolSpec| caller.name() == Some("ada"));
    let invoker = Invoker::new(tools.layer(only_ada)).unwrap();
    let call = ToolCall::new("pay", FIVE);
    let scope = |name: &str| CallScope::new().caller(Caller::new(name));
    assert!(invoker.pending_call(&scope("ada"), &call).is_some());
    assert!(invoker.pending_call(&scope("bob"), &call).is_none());
    assert!(invoker.pending_call(&CallScope::new(), &call).is_none());
}

#[tokio::test]
async fn a_grant_that_is_made_of_it_serves_its_call_and_is_known_again() {
    let (invoker, runs) = invoker();
    let ada = || CallScope::new().caller(Caller::new("ada"));
    let call = ToolCall::new("pay", FIVE);
    let pending = invoker.pending_call(&ada(), &call).unwrap();
    let grant = pending.request().issue_token();
    for _ in 0..2 {
        assert_eq!(pending.request().verify_token(&grant), Ok(()), "a look uses nothing up");
    }
    let other = ToolCall::new("pay", r#"{"amount": 6}"#);
    let others = [
        invoker.pending_call(&ada(), &other).unwrap(),
        invoker.pending_call(&CallScope::new(), &call).unwrap(),
    ];
    for other in others {
        assert_eq!(other.request().verify_token(&grant), Err("the approval is for another call"));
    }
    let stranger = invoker.with_approval_signer(Arc::new(ApprovalSigner::with_key("another")));
    let pending = stranger.pending_call(&ada(), &call).unwrap();
    assert_eq!(pending.request().verify_token(&grant), Err("the approval is not one of ours"));
    let result = invoker.invoke_in(&ada().approval_token(grant), &call).await;
    assert!(!result.is_error(), "{}", result.text());
    assert_eq!(runs.get(), 1);
}

#[test]
fn a_hosted_tool_can_be_pending_too() {
    let (invoker, _) = invoker();
    for (arguments, shown) in [(r#"{"q": 1}"#, json!({"q": 1})), ("not json", json!("not json"))] {
        let call = ToolCall::new("wiki.ask", arguments);
        let pending = invoker.pending_hosted_call(&CallScope::new(), call, "Asks.");
        assert_eq!(pending.arguments, shown);
        assert_eq!(pending.tool.description, "Asks.");
        let request = pending.request();
        assert_eq!(request.verify_token(&request.issue_token()), Ok(()));
    }
}

#[tokio::test]
async fn each_call_is_done_something_with_in_the_order_of_the_step() {
    let tool = |name: &str, read_only: bool| {
        let tool = Tool::builder(name, "Does something.").read_only(read_only);
        tool.run(|_, _| "done").unwrap()
    };
    let invoker = Invoker::new(registry(vec![tool("read", true), tool("write", false)])).unwrap();
    let calls: Vec<ToolCall> = ["write", "read", "write", "nobody", "read"]
        .iter()
        .enumerate()
        .map(|(at, name)| ToolCall::new(*name, "{}").with_id(at.to_string()))
        .collect();
    let order = Mutex::new(Vec::new());
    let done = invoker
        .map_calls(&calls, async |call| {
            order.lock().unwrap().push(format!("{} begins", call.id));
            tokio::task::yield_now().await;
            order.lock().unwrap().push(format!("{} ends", call.id));
            call.id.to_string()
        })
        .await;
    assert_eq!(done, ["0", "1", "2", "3", "4"]);
    let order = order.into_inner().unwrap();
    let at = |line: &str| order.iter().position(|it| it == line).unwrap();
    assert!(at("0 ends") < at("2 begins"), "what writes is in order: {order:?}");
    assert!(at("4 begins") < at("1 ends"), "what reads is not: {order:?}");
    assert!(invoker.map_calls(&[], async |_| ()).await.is_empty());
}
