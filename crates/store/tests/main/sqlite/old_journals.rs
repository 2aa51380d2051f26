//! Journals that version 0.1 wrote, before types and variants were renamed, load unchanged and resume.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use sqlx::{Connection as _, Row as _};
use tempfile::TempDir;
use toolwright::chat::{EntryBody, InboxBody, InboxItem, PrincipalRecord, Store};
use toolwright::testing::ScriptedModel;
use toolwright::{ApprovalSigner, CallScope, Invoker, Registry, ToolCall};
use toolwright_store::SqliteStore;

use super::{connect, execute, temporary_file};
use crate::fixtures::{Log, acquire, chat, encode, pay_tool};

/// `each-kind` has every kind of entry, verdict, end and item; `paused` waits for the approval of a call of `pay`; the turn of
/// `approved` has ended; that of `@ada/interrupted` was interrupted after the user's message.
pub(crate) const JOURNALS: &str = include_str!("../../fixtures/journal-0.1.sql");

async fn store_of(sql: &str) -> (TempDir, PathBuf, Arc<dyn Store>) {
    let (directory, file) = temporary_file();
    execute(&file, sql).await;
    let store = Arc::new(SqliteStore::open(&file).await.unwrap());
    (directory, file, store)
}

#[tokio::test]
async fn every_entry_is_read_and_written_again_byte_for_byte() {
    let (_directory, file, store) = store_of(JOURNALS).await;
    let mut connection = connect(&file).await;
    let names = store.list(10).await.unwrap();
    assert_eq!(names.len(), 4);
    let mut count = 0;
    for name in names {
        let query = "SELECT entry FROM entries JOIN conversations ON conversation = number
                     WHERE name = ? ORDER BY seq";
        let query = sqlx::query(query).bind(&name.conversation);
        let rows = query.fetch_all(&mut connection).await.unwrap();
        let stored: Vec<String> = rows.iter().map(|row| row.get(0)).collect();
        let entries = store.load(&name.conversation).await.unwrap();
        assert_eq!(encode(&entries), stored, "{}", name.conversation);
        count += entries.len();
    }
    assert_eq!(count, 40);
    connection.close().await.unwrap();
}

#[tokio::test]
async fn a_pending_approval_is_shown_and_decided() {
    let (_directory, _, store) = store_of(JOURNALS).await;
    let entries = store.load("paused").await.unwrap();
    let Some(EntryBody::ApprovalRequested { token, .. }) = entries.last().map(|last| &last.body)
    else {
        panic!("{entries:?}");
    };
    // The token is still valid for the tool, the arguments and the caller, but expires a day after it was written. So the
    // rest of this test has a new one in its place.
    let registry = Registry::new();
    registry.add(pay_tool(&Log::default())).unwrap();
    let century = Duration::from_secs(100 * 365 * 24 * 60 * 60);
    let keys = store.signing_keys().await.unwrap();
    assert_eq!(keys.len(), 1);
    let signer = ApprovalSigner::with_key(keys[0].expose()).lifetime(century);
    let invoker = Invoker::new(&registry).unwrap();
    let invoker = invoker.with_approval_signer(Arc::new(signer));
    let call = ToolCall::new("pay", r#"{"amount": 40}"#).with_id("call_0_0");
    let pending = invoker.pending_call(&CallScope::new(), &call).unwrap();
    let verified = pending.request().verify_token(token);
    assert!(matches!(verified, Ok(()) | Err("the approval has expired")), "{verified:?}");
    let token = serde_json::to_string(token).unwrap();
    let renewed = serde_json::to_string(&pending.request().issue_token()).unwrap();
    let (_directory, _, store) = store_of(&JOURNALS.replace(&token, &renewed)).await;

    let log = Log::default();
    let model = ScriptedModel::new().replies("Paid 40.");
    let chat = chat(model, vec![pay_tool(&log)], store);
    let paused = chat.resume("paused").call().await.unwrap();
    let [approval] = paused.pending_approvals() else {
        panic!("{paused:?}");
    };
    assert_eq!(approval.call, call);
    assert_eq!(approval.arguments, json!({"amount": 40}));
    let responses = vec![approval.approve()];
    let response = chat.submit_approvals("paused", responses).call().await;
    assert_eq!(response.unwrap().text(), "Paid 40.");
    assert_eq!(log.lines(), ["paid 40"]);
}

#[tokio::test]
async fn a_call_whose_approval_has_expired_is_denied_when_its_turn_resumes() {
    let expired = JOURNALS.replace("\"expires\":1794902965609", "\"expires\":1");
    let (_directory, _, store) = store_of(&expired).await;
    let log = Log::default();
    let model = ScriptedModel::new().replies("It is not paid.");
    let chat = chat(model, vec![pay_tool(&log)], store);
    let response = chat.resume("paused").call().await.unwrap();
    assert_eq!(response.text(), "It is not paid.");
    let denied = "the call was denied: nobody decided in time";
    assert_eq!(response.results()[0].text(), denied);
    assert!(log.lines().is_empty());
}

#[tokio::test]
async fn an_interrupted_turn_resumes() {
    let (_directory, _, store) = store_of(JOURNALS).await;
    let model = ScriptedModel::new().replies("Yes.");
    let chat = chat(model.clone(), Vec::new(), Arc::clone(&store));
    let entries = store.load("@ada/interrupted").await.unwrap();
    let principal = PrincipalRecord::of_last_turn(&entries).cloned();
    assert_eq!(principal, Some(PrincipalRecord::new("ada")));
    let request = chat.resume("@ada/interrupted").principal(principal);
    assert_eq!(request.call().await.unwrap().text(), "Yes.");
    assert_eq!(model.requests()[0].messages.len(), 1);
}

#[tokio::test]
async fn an_interrupted_turn_is_unattended_and_a_paused_one_is_not() {
    let (_directory, _, store) = store_of(JOURNALS).await;
    assert_eq!(store.list_unattended(9).await.unwrap(), ["@ada/interrupted"]);
    let stop = InboxItem::new("stop", 1, InboxBody::Stop);
    assert_eq!(store.push_inbox("paused", &stop, 9).await.unwrap(), Some(1));
    assert_eq!(store.list_unattended(9).await.unwrap().len(), 2);
    assert_eq!(store.lease_status("paused").await.unwrap().term, 0);
    assert_eq!(acquire(&store, "paused").await.term, 1);
}

#[tokio::test]
async fn the_status_of_the_last_turn_is_computed_from_its_entries() {
    // Else the turn rejects repetitions of the same call.
    let distinct = |journals: String, call| {
        let metadata = |digest| format!(r#""call":"{call}","tool":"pay","digest":"{digest}""#);
        journals.replace(&metadata("digest"), &metadata(call))
    };
    let journals = ["a", "b", "c", "d"].into_iter().fold(JOURNALS.to_owned(), distinct);
    // The last entry of `each-kind`, and the column `turn`: 0 is over, 1 runs, 2 is paused.
    for (last, turn) in [
        (12, 1), // A message.
        (14, 1), // A step with four calls, before any approval was requested.
        (18, 2), // Four approvals were requested.
        (19, 2), // One was decided, without a signature.
        (23, 1), // One call has started.
        (24, 2), // It has finished.
        (28, 1), // All have.
        (29, 0), // The turn has ended.
        (30, 1), // The next message.
        (39, 0),
    ] {
        let cut =
            format!("{journals} DELETE FROM entries WHERE conversation = 3 AND seq > {last};");
        let (_directory, file, _store) = store_of(&cut).await;
        let query = sqlx::query("SELECT turn FROM conversations WHERE number = 3");
        let row = query.fetch_one(&mut connect(&file).await).await.unwrap();
        assert_eq!(row.get::<i64, _>(0), turn, "{last}");
    }
}

#[tokio::test]
async fn a_damaged_entry_does_not_stop_the_migration() {
    let damage = "UPDATE entries SET entry = '{' WHERE seq = 40;";
    let (_directory, _, store) = store_of(&format!("{JOURNALS} {damage}")).await;
    assert_eq!(store.load("paused").await.unwrap().len(), 3);
    store.load("@ada/interrupted").await.unwrap_err();
}
