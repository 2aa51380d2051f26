//! Calls of a server's tools: progress, questions, cancellation, and what goes over the wire.

use std::sync::{Arc, Mutex};

use futures::future::BoxFuture;
use serde_json::{Value, json};
use toolwright_core::{
    ApprovalRequest, CallEvent, CallScope, Caller, CancellationToken, Content, Invoker,
    MemorySharedState, Outcome, Registry, ToolCall,
};
use toolwright_mcp::{
    ElicitHandler, ElicitInput, ElicitRequest, ElicitResponse, RemoteServer, Trust,
};

use super::http_server::{ScriptedHttpServer, ScriptedResponse, text_result, tool};
use super::scripted::scripted_server;
use super::support::{call, call_in, scope_with_events};

#[tokio::test]
async fn progress_is_passed_on() {
    let registry = Registry::new();
    let attached = scripted_server("shop", "").attach(&registry).await.unwrap();
    let (scope, events) = scope_with_events();
    let result = call_in(&registry, &scope, "shop_count", json!({})).await;
    assert_eq!(result.text(), "counted");
    attached.detach().await;
    let mut done: Vec<f64> = events
        .try_iter()
        .filter_map(|event| match event {
            CallEvent::Progress { done, total, .. } => total.and(done),
            _ => None,
        })
        .collect();
    // Notifications are handled side by side.
    done.sort_by(f64::total_cmp);
    assert_eq!(done, [1.0, 2.0, 3.0]);
}

#[tokio::test]
async fn a_call_that_is_given_up_is_cancelled_at_the_server() {
    let registry = Registry::new();
    let attached = scripted_server("shop", "").attach(&registry).await.unwrap();
    let cancel = CancellationToken::new();
    let scope = CallScope::new().cancel_on(cancel.clone());
    let hanging = call_in(&registry, &scope, "shop_hang", json!({}));
    let cancelling = async {
        // The server answers in order: once this is answered, the other has arrived.
        call(&registry, "shop_add", json!({"a": 1, "b": 1})).await;
        cancel.cancel();
    };
    let (given_up, ()) = tokio::join!(hanging, cancelling);
    assert_eq!(given_up.outcome, Outcome::Cancelled);
    let mut heard = String::new();
    while !heard.contains("notifications/cancelled") {
        heard = call(&registry, "shop_heard", json!({})).await.text().into_owned();
    }
    attached.detach().await;
}

#[tokio::test]
async fn a_refusal_of_the_server_is_a_failed_result() {
    let registry = Registry::new();
    let attached = scripted_server("shop", "").attach(&registry).await.unwrap();
    let result = call(&registry, "shop_refuse", json!({})).await;
    assert_eq!(result.outcome, Outcome::Failed);
    assert!(
        result.text().contains("no such tool") && !result.text().contains("hunter2"),
        "{result:?}"
    );
    attached.detach().await;
}

/// Answers with a name, and with nothing else.
struct Ada;

impl ElicitHandler for Ada {
    fn elicit<'a>(&'a self, question: ElicitRequest<'a>) -> BoxFuture<'a, ElicitResponse> {
        Box::pin(async move {
            assert_eq!((question.server, question.message), ("shop", "Who?"));
            match question.input {
                ElicitInput::Form(_) => ElicitResponse::Accept(json!({"name": "Ada"})),
                _ => ElicitResponse::Decline,
            }
        })
    }
}

#[tokio::test]
async fn a_question_is_put_to_whoever_answers_and_else_declined() {
    let registry = Registry::new();
    let attached = scripted_server("shop", "").attach(&registry).await.unwrap();
    let declined = call(&registry, "shop_ask", json!({})).await;
    assert_eq!(declined.text(), r#"{"action": "decline"}"#);
    attached.detach().await;

    let attached =
        scripted_server("shop", "").elicit(Arc::new(Ada)).attach(&registry).await.unwrap();
    let result = call(&registry, "shop_ask", json!({})).await;
    let result: Value = serde_json::from_str(&result.text()).unwrap();
    assert_eq!(result, json!({"action": "accept", "content": {"name": "Ada"}}));
    attached.detach().await;
}

#[tokio::test]
async fn rounds_of_questions_end() {
    let site = ScriptedHttpServer::with_tools(json!([tool("greedy"), tool("model")]), |asked| {
        let wants = match asked.message["params"]["name"].as_str() {
            Some("model") => json!({"m": {"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}}}),
            _ => json!({"f": {"method": "elicitation/create", "params": {"mode": "form", "message": "More?",
                "requestedSchema": {"type": "object", "properties": {}}}}}),
        };
        ScriptedResponse::Json(json!({"jsonrpc": "2.0", "id": asked.message["id"],
            "result": {"resultType": "input_required", "inputRequests": wants, "requestState": "x"}}))
    })
    .await;
    let registry = Registry::new();
    let attached =
        RemoteServer::url("shop", &site.url).trust(Trust::Calls).attach(&registry).await.unwrap();
    let greedy = call(&registry, "shop_greedy", json!({})).await;
    assert!(greedy.text().contains("after 10 rounds"), "{greedy:?}");
    let model = call(&registry, "shop_model", json!({})).await;
    assert!(model.is_error(), "{model:?}");
    attached.detach().await;
}

#[tokio::test]
async fn headers_and_authorization_go_with_every_request() {
    let site = ScriptedHttpServer::with_tools(json!([tool("good")]), |asked| {
        asked.result(text_result("fine"))
    })
    .await;
    let registry = Registry::new();
    let attach = RemoteServer::url("shop", &site.url)
        .header("X-Team", "blue")
        .authorization(toolwright_core::Secret::new("Basic abc"))
        .trust(Trust::Calls);
    let attached = attach.attach(&registry).await.unwrap();
    call(&registry, "shop_good", json!({})).await;
    attached.detach().await;
    let asked = site.requests();
    assert!(asked.len() >= 3, "{asked:?}");
    for asked in asked {
        assert_eq!(
            (&*asked.headers["x-team"], &*asked.headers["authorization"]),
            ("blue", "Basic abc")
        );
        assert_eq!(asked.headers["mcp-protocol-version"], "2026-07-28");
    }
}

#[tokio::test]
async fn a_question_goes_to_the_caller_and_to_nobody_if_it_is_not_known_whose_call_it_is_about() {
    let registry = Registry::new();
    let state = Arc::new(MemorySharedState::new());
    let attached = scripted_server("shop", "").resume_calls(state).attach(&registry).await.unwrap();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let by_approver = Arc::clone(&asked);
    let invoker = Invoker::builder(&registry)
        .approver(move |request: ApprovalRequest<'_>| {
            let message = request.arguments["message"].as_str().unwrap().to_owned();
            by_approver.lock().unwrap().push((request.caller.name().map(str::to_owned), message));
            request.answer(Content::text(r#"{"name": "Ada"}"#))
        })
        .build()
        .unwrap();
    let scope = |name: &str| CallScope::new().caller(Caller::new(name)).session("c");
    let ask = |name: &str| {
        let (invoker, scope) = (invoker.clone(), scope(name));
        async move { invoker.invoke_in(&scope, &ToolCall::new("shop_ask", "{}")).await }
    };
    let answered: Value = serde_json::from_str(&ask("ada").await.text()).unwrap();
    assert_eq!(answered, json!({"action": "accept", "content": {"name": "Ada"}}));
    assert_eq!(*asked.lock().unwrap(), [(Some("ada".to_owned()), "Who?".to_owned())]);

    // Over a pipe a server does not say which of two calls it asks for.
    let cancel = CancellationToken::new();
    let of_bob = scope("bob").cancel_on(cancel.clone());
    let hang = ToolCall::new("shop_hang", "{}");
    let hanging = invoker.invoke_in(&of_bob, &hang);
    let asking = async {
        // The server answers in order: once this is answered, the other has arrived.
        call(&registry, "shop_add", json!({"a": 1, "b": 1})).await;
        let declined = ask("ada").await;
        cancel.cancel();
        declined
    };
    let (_, declined) = tokio::join!(hanging, asking);
    assert_eq!(declined.text(), r#"{"action": "decline"}"#);
    assert_eq!(asked.lock().unwrap().len(), 1);
    attached.detach().await;
}
