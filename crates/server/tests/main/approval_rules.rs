//! Who may approve a call: its owner, or those whom the tool's policy names, and never others who are connected.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolwright::chat::{EntryBody, MemoryStore, Model, Store, find_unsigned_decisions};
use toolwright::testing::ScriptedModel;
use toolwright::{Tool, ToolError};
use toolwright_server::{Endpoint, ServerBuilder};

use crate::approvals::paying_model;
use crate::owners::decision;
use crate::sharing::{Roles, people, with_people};
use crate::support::{
    TestServer, event_type, find_event, invoker, joined_text, serve, stored_answer,
};

/// The payments that were made, and for whom.
type Payments = Arc<Mutex<Vec<String>>>;

fn pay_tool(paid: &Payments, approvers: &str) -> Tool {
    let paid = Arc::clone(paid);
    Tool::builder("pay", "Pays somebody.")
        .destructive(true)
        .approvers(approvers.parse().unwrap())
        .param::<i64>("euros", "How much.")
        .run(move |args, context| {
            let euros: i64 = args.get("euros")?;
            let caller = context.caller().name().unwrap_or("the operator").to_owned();
            paid.lock().unwrap().push(format!("{euros} for {caller}"));
            Ok::<_, ToolError>(format!("paid {euros}"))
        })
        .unwrap()
}

fn server(
    store: &Arc<MemoryStore>,
    roles: &Roles,
    paid: &Payments,
    model: impl Model,
    approvers: &str,
) -> ServerBuilder {
    let server = ServerBuilder::new(invoker(pay_tool(paid, approvers)), model)
        .endpoint(Endpoint::new("/room/{name}").memory(true).broadcast(true).open_to_all())
        .store(Arc::clone(store) as Arc<dyn Store>, "memory")
        .node_name("one");
    with_people(server, roles)
}

const PATH: &str = "/api/conversations/till";

/// Ada's turn pauses for an approval of a call.
async fn ask(server: &TestServer, path: &str) -> Value {
    let events = server.turn_as("ada", path, "Pay Bob, it is about the surprise.").await;
    assert_eq!(event_type(events.last().unwrap()), "paused");
    find_event(&events, "asked").clone()
}

async fn approvals(server: &TestServer, who: &str) -> Vec<Value> {
    let listed = server.send_as(who, "GET", "/api/approvals", Value::Null).await;
    assert_eq!(listed.status, 200, "{listed:?}");
    listed.json().as_array().unwrap().clone()
}

#[tokio::test]
async fn a_manager_decides_without_seeing_the_conversation_and_the_call_runs_for_its_owner() {
    let (store, paid, roles) = (Arc::<MemoryStore>::default(), Payments::default(), people());
    let built = server(&store, &roles, &paid, paying_model(), "role:manager");
    let server = serve(built).await;
    let asked = ask(&server, PATH).await;
    assert_eq!(asked["approvers"], json!(["role:manager"]));
    let approve = decision(&asked, json!({ "verdict": "approve" }));
    // The owner may not, nor an admin, nor other people.
    let refused = server.send_as("ada", "POST", &format!("{PATH}/decide"), approve.clone()).await;
    assert_eq!(refused.status, 403, "{refused:?}");
    let direct = json!({ "arguments": { "euros": 1 }, "confirmed": true });
    let refused = server.send_as("ada", "POST", "/api/tools/pay", direct.clone()).await;
    assert_eq!(refused.status, 403, "{refused:?}");
    let pending = approvals(&server, "max").await;
    let id = pending[0]["id"].as_str().unwrap();
    let at = format!("/api/approvals/{id}");
    for who in ["ada", "bob", "root"] {
        assert!(approvals(&server, who).await.is_empty(), "{who}");
        let tried = server.send_as(who, "POST", &at, approve.clone()).await;
        let unknown = server.send_as(who, "POST", "/api/approvals/0", approve.clone()).await;
        assert_eq!((tried.status, tried.text()), (404, unknown.text()), "{who}");
    }
    // The manager sees the call, and nothing else of the conversation.
    assert_eq!(pending.len(), 1);
    assert_eq!(pending[0]["tool"]["name"], "pay");
    assert_eq!(pending[0]["arguments"], json!({ "euros": 100 }));
    assert_eq!(pending[0]["requested_by"], "Ada");
    assert!(!json!(pending).to_string().contains("surprise"), "{pending:?}");
    assert!(!json!(pending).to_string().contains("till"), "{pending:?}");
    let shown = server.send_as("max", "GET", PATH, Value::Null).await.json();
    assert_eq!(shown["entries"], json!([]));
    assert!(paid.lock().unwrap().is_empty());
    let decided =
        json!({ "call": pending[0]["call"], "token": pending[0]["token"], "verdict": "approve" });
    let accepted = server.send_as("max", "POST", &at, decided.clone()).await;
    assert_eq!(accepted.status, 202, "{accepted:?}");
    assert_eq!(stored_answer(&*store, "@ada/till").await, "It is done.");
    // With the rights of the one who asked.
    assert_eq!(*paid.lock().unwrap(), ["100 for ada"]);
    let again = server.send_as("max", "POST", &at, decided).await;
    assert_eq!(again.status, 404, "{again:?}");
    assert!(approvals(&server, "max").await.is_empty());
    // The journal records the approver, under the signature.
    let entries = store.load("@ada/till").await.unwrap();
    let decided = entries.iter().find(|it| matches!(it.body, EntryBody::ApprovalDecided { .. }));
    assert_eq!(decided.unwrap().principal.as_ref().unwrap().subject, "max");
    let keys = store.signing_keys().await.unwrap();
    assert!(find_unsigned_decisions(&keys, "@ada/till", &entries).is_empty());
    let mut forged = entries;
    for entry in &mut forged {
        if let Some(principal) = entry.principal.as_mut().filter(|it| it.subject == "max") {
            principal.subject = "ada".to_owned();
        }
    }
    assert_eq!(find_unsigned_decisions(&keys, "@ada/till", &forged).len(), 1);
    // A manager may run the tool directly.
    let direct = server.send_as("max", "POST", "/api/tools/pay", direct).await;
    assert_eq!(direct.status, 200, "{direct:?}");
}

#[tokio::test]
async fn a_decision_after_a_restart_counts_and_one_after_the_role_is_lost_does_not() {
    let (store, paid, roles) = (Arc::<MemoryStore>::default(), Payments::default(), people());
    let before = serve(server(&store, &roles, &paid, paying_model(), "role:manager")).await;
    ask(&before, PATH).await;
    before.end().await;
    let model = ScriptedModel::new().replies("It is done.");
    let after = serve(server(&store, &roles, &paid, model, "role:manager")).await;
    let pending = approvals(&after, "max").await;
    assert_eq!(pending.len(), 1);
    let at = format!("/api/approvals/{}", pending[0]["id"].as_str().unwrap());
    let decided =
        json!({ "call": pending[0]["call"], "token": pending[0]["token"], "verdict": "approve" });
    roles.lock().unwrap().insert("max", vec![]);
    assert!(approvals(&after, "max").await.is_empty());
    let refused = after.send_as("max", "POST", &at, decided.clone()).await;
    assert_eq!(refused.status, 404, "{refused:?}");
    assert!(paid.lock().unwrap().is_empty());
    roles.lock().unwrap().insert("max", vec!["manager"]);
    let accepted = after.send_as("max", "POST", &at, decided).await;
    assert_eq!(accepted.status, 202, "{accepted:?}");
    assert_eq!(stored_answer(&*store, "@ada/till").await, "It is done.");
    assert_eq!(*paid.lock().unwrap(), ["100 for ada"]);
}

#[tokio::test]
async fn a_manager_denies_and_the_model_reads_the_reason() {
    let (store, paid, roles) = (Arc::<MemoryStore>::default(), Payments::default(), people());
    let model = paying_model();
    let server = serve(server(&store, &roles, &paid, model.clone(), "owner, role:manager")).await;
    ask(&server, PATH).await;
    let pending = approvals(&server, "max").await;
    let at = format!("/api/approvals/{}", pending[0]["id"].as_str().unwrap());
    let denied = json!({
        "call": pending[0]["call"], "token": pending[0]["token"],
        "verdict": "deny", "reason": "too much",
    });
    assert_eq!(server.send_as("max", "POST", &at, denied).await.status, 202);
    assert_eq!(stored_answer(&*store, "@ada/till").await, "It is done.");
    assert!(paid.lock().unwrap().is_empty());
    let entries = store.load("@ada/till").await.unwrap();
    let text = serde_json::to_string(&entries).unwrap();
    assert!(text.contains("not approved: too much"), "{text}");
}

#[tokio::test]
async fn in_a_room_a_role_decides_and_those_who_are_merely_there_do_not() {
    let (store, paid, roles) = (Arc::<MemoryStore>::default(), Payments::default(), people());
    let built = server(&store, &roles, &paid, paying_model(), "role:manager, subject:eve");
    let server = serve(built).await;
    let path = "/room/till";
    let asked = ask(&server, path).await;
    for who in ["ada", "bob", "root"] {
        let approve = decision(&asked, json!({ "verdict": "approve" }));
        let refused = server.send_as(who, "POST", &format!("{path}/decide"), approve).await;
        assert_eq!(refused.status, 403, "{who}: {refused:?}");
    }
    assert_eq!(approvals(&server, "eve").await.len(), 1);
    let edit = decision(&asked, json!({ "verdict": "edit", "arguments": { "euros": 5 } }));
    let decided = server.send_as("eve", "POST", &format!("{path}/decide"), edit).await;
    assert_eq!(decided.status, 202, "{decided:?}");
    let seq = decided.json()["seq"].as_u64().unwrap();
    let events = server.events_as("ada", path, seq).await.collect_turn().await;
    assert_eq!(joined_text(&events), "It is done.");
    assert_eq!(*paid.lock().unwrap(), ["5 for ada"]);
}

#[tokio::test]
async fn in_a_shared_conversation_the_one_who_asked_approves_and_others_do_not() {
    let (store, paid, roles) = (Arc::<MemoryStore>::default(), Payments::default(), people());
    let model = ScriptedModel::new()
        .replies("Hello.")
        .calls("pay", r#"{"euros": 100}"#)
        .replies("It is done.");
    let server = serve(server(&store, &roles, &paid, model, "owner")).await;
    server.turn_as("ada", PATH, "Hello.").await;
    let link = json!({ "access": "participate" });
    let link = server.send_as("ada", "POST", &format!("{PATH}/shares"), link).await.json();
    let accepted = json!({ "token": link["token"] });
    let accepted = server.send_as("bob", "POST", "/api/shares", accepted).await.json();
    let shared = format!("/api/conversations/{}", accepted["id"].as_str().unwrap());
    let asked = ask(&server, PATH).await;
    assert_eq!(asked["approvers"], Value::Null);
    let approve = decision(&asked, json!({ "verdict": "approve" }));
    let refused = server.send_as("bob", "POST", &format!("{shared}/decide"), approve.clone()).await;
    assert_eq!(refused.status, 403, "{refused:?}");
    assert!(approvals(&server, "bob").await.is_empty());
    let decided = server.send_as("ada", "POST", &format!("{PATH}/decide"), approve).await;
    assert_eq!(decided.status, 202, "{decided:?}");
    assert_eq!(stored_answer(&*store, "@ada/till").await, "It is done.");
    assert_eq!(*paid.lock().unwrap(), ["100 for ada"]);
}
