//! A server that is a program and means harm: each leaves a clear error, and a process that goes on.

use std::sync::Arc;

use serde_json::json;
use toolwright_core::{Outcome, Registry};
use toolwright_mcp::{AttachError, FilePins, RemoteServer};

use super::scripted::{scripted_server, short_timeout_limits, small_limits};
use super::support::{call, names};

async fn refused(attach: RemoteServer) -> AttachError {
    let registry = Registry::new();
    let error = attach.attach(&registry).await.expect_err("refused");
    assert!(names(&registry).is_empty(), "nothing is left of it");
    error
}

#[tokio::test]
async fn a_program_that_is_not_there_is_named() {
    let error = refused(RemoteServer::command("gone", "no-such-program-anywhere", [""; 0])).await;
    assert!(
        matches!(&error, AttachError::Start { program, .. } if program == "no-such-program-anywhere"),
        "{error}"
    );
}

#[tokio::test]
async fn a_program_that_says_nothing_is_given_up() {
    let error = refused(scripted_server("evil", "mute").limits(short_timeout_limits())).await;
    assert!(matches!(error, AttachError::TimedOut { .. }), "{error}");
}

#[tokio::test]
async fn a_program_that_makes_noise_is_given_up_and_quoted() {
    let error =
        refused(scripted_server("evil", "noise").limits(short_timeout_limits())).await.to_string();
    assert!(error.contains("`this is no JSON`"), "{error}");
}

#[tokio::test]
async fn a_program_that_leaves_is_quoted_without_its_secrets() {
    let error = refused(scripted_server("evil", "leave")).await.to_string();
    assert!(error.contains("closed the connection") && error.contains("no license"), "{error}");
    assert!(!error.contains("abcdef123456"), "{error}");
}

#[tokio::test]
async fn a_line_without_an_end_is_given_up() {
    let error = refused(scripted_server("evil", "swell").limits(small_limits())).await.to_string();
    assert!(error.contains("more than 1048576 bytes"), "{error}");
}

#[tokio::test]
async fn a_result_without_an_end_is_a_failed_call_and_the_server_comes_back() {
    let registry = Registry::new();
    let attached = scripted_server("evil", "").limits(small_limits());
    let attached = attached.attach(&registry).await.unwrap();
    let result = call(&registry, "evil_flood", json!({})).await;
    assert_eq!(result.outcome, Outcome::OutcomeUnknown, "{result:?}");
    attached.wait_for_status(|status| status.is_connected).await;
    let sum = call(&registry, "evil_add", json!({"a": 2, "b": 3})).await;
    assert_eq!(sum.text(), "5", "{sum:?}");
    attached.detach().await;
}

#[tokio::test]
async fn a_program_that_ends_in_the_middle_of_a_call_is_started_again() {
    let registry = Registry::new();
    let attached = scripted_server("evil", "").attach(&registry).await.unwrap();
    let result = call(&registry, "evil_crash", json!({})).await;
    assert_eq!(result.outcome, Outcome::OutcomeUnknown, "{result:?}");
    assert!(result.text().contains("not known"), "{result:?}");
    let down =
        attached.wait_for_status(|status| !status.is_connected || status.error.is_none()).await;
    assert_eq!(names(&registry).len(), down.items.len(), "its tools stay listed");
    attached.wait_for_status(|status| status.is_connected).await;
    let sum = call(&registry, "evil_add", json!({"a": 2, "b": 3})).await;
    assert_eq!(sum.text(), "5", "{sum:?}");
    attached.detach().await;
}

#[tokio::test]
async fn noise_between_answers_is_passed_over() {
    let registry = Registry::new();
    let attached = scripted_server("evil", "").attach(&registry).await.unwrap();
    let result = call(&registry, "evil_garble", json!({})).await;
    assert_eq!(result.text(), "after the noise", "{result:?}");
    attached.detach().await;
}

#[tokio::test]
async fn a_tool_that_changes_is_hidden_until_somebody_accepts_it() {
    let folder = tempfile::tempdir().unwrap();
    let pins = Arc::new(FilePins::new(folder.path().join("toolwright.pins")));
    let registry = Registry::new();
    let attached = scripted_server("evil", "").pins(pins.clone()).attach(&registry).await.unwrap();
    call(&registry, "evil_betray", json!({})).await;
    let is_hidden = |listed: &toolwright_mcp::RemoteItem| {
        listed.remote_name == "add" && listed.hidden.is_some()
    };
    let status = attached.wait_for_status(|status| status.items.iter().any(is_hidden)).await;
    let note = status.items.iter().find_map(|listed| listed.hidden.clone()).unwrap();
    assert!(note.contains("its description changed"), "{note}");
    assert!(status.notes.contains(&note));
    assert!(registry.get("evil_add").is_none() && registry.get("evil_heard").is_some());
    let result = call(&registry, "evil_add", json!({"a": 2, "b": 3})).await;
    assert_eq!(result.outcome, Outcome::UnknownTool);

    assert!(matches!(attached.accept_change("heard").await, Err(AttachError::NotChanged { .. })));
    attached.accept_change("add").await.unwrap();
    let result = call(&registry, "evil_add", json!({"a": 2, "b": 3})).await;
    assert_eq!(result.text(), "5");
    assert!(registry.get("evil_add").unwrap().spec().description.contains("read all files"));
    attached.detach().await;

    // The pins outlive the attachment: the tool as it was first is the changed one now.
    let attached = scripted_server("evil", "").pins(pins).attach(&registry).await.unwrap();
    assert!(registry.get("evil_add").is_none());
    attached.detach().await;
}

#[tokio::test]
async fn a_server_that_says_again_and_again_that_it_has_changed_is_not_asked_as_often() {
    let registry = Registry::new();
    let attached = scripted_server("evil", "").attach(&registry).await.unwrap();
    call(&registry, "evil_gossip", json!({})).await;
    let lists = call(&registry, "evil_lists", json!({})).await;
    assert!(lists.text().parse::<u32>().unwrap() < 100, "{lists:?}");
    attached.detach().await;
}
