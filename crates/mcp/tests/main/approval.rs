//! A destructive tool runs only with the approval of the client's user.

use serde_json::{Value, json};
use test_support_mcp::client::{
    RawConnection, http_request, open_session, post, request, send, serve, stateless_request_with,
};
use test_support_mcp::tools::{kit, server, text};

fn erase() -> Value {
    json!({ "name": "erase", "arguments": { "path": "/project/x" } })
}

#[tokio::test]
async fn in_a_session_the_person_is_asked_while_the_call_waits() {
    let served = serve(&server(&kit()).build().unwrap()).await;
    for (action, expected) in [
        ("accept", "erased /project/x"),
        ("decline", "the call was denied: the person declined"),
        ("cancel", "the call was denied: the person did not decide"),
    ] {
        let session = open_session(served.addr, "2025-11-25", json!({ "elicitation": {} })).await;
        let headers = [("Mcp-Session-Id", session.as_str())];
        let mut wire = RawConnection::open(served.addr).await;
        let call = request(4, "tools/call", erase()).to_string();
        wire.send(http_request("POST", &headers, &call)).await;
        let asked = wire.until("\"requestedSchema\"").await;
        assert!(asked.contains("Erases something for good."), "{asked}");
        assert!(asked.contains("/project/x"), "{asked}");
        let answer = json!({ "jsonrpc": "2.0", "id": 1, "result": { "action": action } });
        assert_eq!(post(served.addr, &headers, &answer).await.status, 202);
        let response = wire.until("\"id\":4").await + &wire.until("}}").await;
        assert!(response.contains(expected), "{response}");
    }
}

#[tokio::test]
async fn a_client_that_cannot_ask_is_refused() {
    let served = serve(&server(&kit()).build().unwrap()).await;
    let answer =
        send(served.addr, stateless_request_with(1, "tools/call", erase(), json!({}))).await;
    let result = &answer.json()["result"];
    assert_eq!(result["isError"], true);
    assert!(text(result).contains("denied"), "{answer:?}");
}

#[tokio::test]
async fn without_sessions_the_question_ends_the_round_and_the_answer_begins_the_next() {
    let served = serve(&server(&kit()).build().unwrap()).await;
    let able = json!({ "elicitation": {} });
    let ask = |params: Value| stateless_request_with(1, "tools/call", params, able.clone());
    let response = send(served.addr, ask(erase())).await.json();
    assert_eq!(response["result"]["resultType"], "input_required");
    let question = &response["result"]["inputRequests"]["toolwright/approval"];
    assert_eq!(question["method"], "elicitation/create");
    let message = question["params"]["message"].as_str().unwrap();
    assert!(message.contains("/project/x"), "{message}");
    let with = |params: Value, state: &Value, action: &str| {
        let mut params = params;
        params["requestState"] = state.clone();
        params["inputResponses"] = json!({ "toolwright/approval": { "action": action } });
        params
    };
    let state = &response["result"]["requestState"];
    let declined = send(served.addr, ask(with(erase(), state, "decline"))).await.json();
    assert!(text(&declined["result"]).contains("declined"), "{declined}");
    // The approval of one call is not valid for another, and without the signed state it is not valid at all.
    let other = json!({ "name": "erase", "arguments": { "path": "/" } });
    let moved = send(served.addr, ask(with(other, state, "accept"))).await;
    assert_eq!(moved.code(), -32602, "{moved:?}");
    let mut forged = state.as_str().unwrap().to_owned();
    forged.replace_range(0..1, if forged.starts_with('e') { "f" } else { "e" });
    let forged = send(served.addr, ask(with(erase(), &forged.into(), "accept"))).await;
    assert_eq!(forged.code(), -32602, "{forged:?}");
    let mut unasked = erase();
    unasked["inputResponses"] = json!({ "toolwright/approval": { "action": "accept" } });
    let unasked = send(served.addr, ask(unasked)).await.json();
    assert_eq!(unasked["result"]["resultType"], "input_required");
    // It is good for one call.
    let accepted = send(served.addr, ask(with(erase(), state, "accept"))).await.json();
    assert_eq!(text(&accepted["result"]), "erased /project/x");
    let again = send(served.addr, ask(with(erase(), state, "accept"))).await.json();
    assert!(text(&again["result"]).contains("used before"), "{again}");
}
