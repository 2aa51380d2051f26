//! `store erase`: deletes the conversations and sessions of one subject, and writes a receipt without their content.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use sha2::{Digest as _, Sha256};
use toolwright_chat::{
    Entry, HeldLease, Owner, PrincipalRecord, Store, StoreError, unique_node_name,
};

use toolwright_core::subject_key_prefix;

use super::open_persistent;
use crate::cli::cli_error::{CliError, error_chain};
use crate::cli::terminal::output;
use crate::cli::terminal::status_line::with_status_line;
use crate::project::Project;
use crate::project::data_dir::owner_only;

/// The lease while a conversation is erased.
const LEASE_DURATION: Duration = Duration::from_secs(60);

/// What was erased, without its content.
#[derive(Serialize)]
struct Receipt {
    subject: String,
    /// When the last conversation was erased.
    at: String,
    store: String,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    dry_run: bool,
    erased: Vec<ErasedConversation>,
    not_erased: Vec<RemainingConversation>,
    /// The number of sessions, counters and other shared values of the subject that were removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    shared_values: Option<u64>,
}

#[derive(Serialize)]
struct ErasedConversation {
    conversation: String,
    entries: usize,
    inbox_items: usize,
    /// Over the JSON of the entries as exports have it, each with a line feed; `None` if they could not be read.
    sha256: Option<String>,
}

#[derive(Serialize)]
struct RemainingConversation {
    conversation: String,
    /// The number of entries and inbox items that the subject caused.
    entries: usize,
    inbox_items: usize,
    reason: String,
}

/// Erases the conversations of a subject, and waits that long for each turn that runs; exit code 1 if one of them is in use.
pub(super) async fn erase_subject(
    project: &Project,
    subject: String,
    dry_run: bool,
    wait: Duration,
    receipt_file: Option<&Path>,
) -> Result<ExitCode, CliError> {
    let opened = open_persistent(project).await?;
    // Created first: what is erased without a receipt cannot be erased again to get one.
    let receipt_file = receipt_file.map(create_receipt).transpose()?;
    let store = opened.store();
    let mut receipt = Receipt {
        at: String::new(),
        store: opened.location().to_owned(),
        dry_run,
        erased: Vec::new(),
        not_erased: Vec::new(),
        shared_values: None,
        subject,
    };
    // With what was erased before, if it fails halfway.
    let outcome = with_status_line("erasing", fill_receipt(store, wait, &mut receipt)).await;
    receipt.at = jiff::Timestamp::now().to_string();
    if let Some(mut file) = receipt_file {
        file.write_all(format!("{}\n", serde_json::to_string_pretty(&receipt)?).as_bytes())?;
        file.sync_all()?;
    }
    output::print_json(&receipt)?;
    let in_use = outcome?;
    let (erased, remaining) = (receipt.erased.len(), receipt.not_erased.len() - in_use.len());
    let done = if dry_run { "would be erased" } else { "erased" };
    output::print_stderr(&format!("{erased} conversations {done}; backups are not changed\n"));
    if remaining > 0 {
        output::print_stderr(&format!(
            "{remaining} conversations of others contain messages or decisions of this subject, and are not changed: `not_erased` lists them\n"
        ));
    }
    match in_use.is_empty() {
        true => Ok(ExitCode::SUCCESS),
        false => Err(CliError::failure(format!(
            "in use: {}; stop the turn, and run it again",
            in_use.join(", ")
        ))),
    }
}

fn create_receipt(file: &Path) -> Result<std::fs::File, CliError> {
    owner_only().write(true).create_new(true).open(file).map_err(|error| {
        let file = file.display();
        CliError::failure(format!("{file}: {error}; nothing was erased, choose another name"))
    })
}

/// Erases the subject's conversations and finds its traces in others; returns those that are in use.
async fn fill_receipt(
    store: &Arc<dyn Store>,
    wait: Duration,
    receipt: &mut Receipt,
) -> Result<Vec<String>, CliError> {
    let owner = Owner::Subject(receipt.subject.clone());
    if !receipt.dry_run {
        // First: who is signed out begins no conversation meanwhile.
        let prefix = subject_key_prefix(Some(&receipt.subject));
        let removed = store.shared_state().remove_prefix(&prefix).await;
        let removed = removed.map_err(|error| CliError::failure(error_chain(&error)))?;
        receipt.shared_values = Some(removed);
    }
    let mut in_use = Vec::new();
    let is_owned = |name: &String| Owner::split_stored_name(name).0 == owner;
    let names = list_names(&**store).await?;
    let (owned, others): (Vec<_>, Vec<_>) = names.into_iter().partition(is_owned);
    for conversation in owned {
        let erased = match receipt.dry_run {
            true => Some(describe(&**store, &conversation).await),
            false => erase(store, wait, &conversation).await?,
        };
        match erased {
            Some(erased) => receipt.erased.push(erased),
            None => {
                let erased = describe(&**store, &conversation).await;
                receipt.not_erased.push(RemainingConversation {
                    conversation: conversation.clone(),
                    entries: erased.entries,
                    inbox_items: erased.inbox_items,
                    reason: "it is in use by another process".to_owned(),
                });
                in_use.push(conversation);
            }
        }
    }
    for conversation in others {
        receipt.not_erased.extend(find_traces(&**store, conversation, receipt).await);
    }
    Ok(in_use)
}

/// The names of all conversations, including those that have nothing but an inbox.
async fn list_names(store: &dyn Store) -> Result<BTreeSet<String>, StoreError> {
    let listed = store.list(usize::MAX).await?.into_iter().map(|summary| summary.conversation);
    Ok(listed.chain(store.list_unattended(usize::MAX).await?).collect())
}

/// Deletes a conversation; `None` if another process holds its lease.
async fn erase(
    store: &Arc<dyn Store>,
    wait: Duration,
    conversation: &str,
) -> Result<Option<ErasedConversation>, StoreError> {
    let holder = unique_node_name("erase");
    let held =
        HeldLease::acquire_within(wait, Arc::clone(store), conversation, &holder, LEASE_DURATION);
    let Some(held) = held.await? else {
        return Ok(None);
    };
    let erase = async {
        let erased = describe(&**store, conversation).await;
        store.delete(held.lease()).await?;
        Ok::<_, StoreError>(erased)
    };
    let erased = held.run_while_renewing(erase).await;
    held.release().await;
    erased.map(Some)
}

/// Counts what a conversation has. Damaged entries have no digest, and are erased nevertheless.
async fn describe(store: &dyn Store, conversation: &str) -> ErasedConversation {
    let entries = store.load(conversation).await.ok();
    let inbox = store.inbox(conversation).await.unwrap_or_default();
    ErasedConversation {
        conversation: conversation.to_owned(),
        entries: entries.as_ref().map_or(0, Vec::len),
        inbox_items: inbox.len(),
        sha256: entries.and_then(digest),
    }
}

fn digest(entries: Vec<Entry>) -> Option<String> {
    let mut digest = Sha256::new();
    for entry in entries {
        digest.update(serde_json::to_string(&entry.without_mac()).ok()?);
        digest.update("\n");
    }
    Some(format!("{:x}", digest.finalize()))
}

/// Counts what a subject caused in a conversation of another owner; `None` if there is nothing.
async fn find_traces(
    store: &dyn Store,
    conversation: String,
    receipt: &Receipt,
) -> Option<RemainingConversation> {
    let is_subject = |principal: &Option<PrincipalRecord>| {
        principal.as_ref().is_some_and(|principal| principal.subject == receipt.subject)
    };
    let found = async {
        let entries = store.load(&conversation).await?;
        let inbox = store.inbox(&conversation).await?;
        let entries = entries.iter().filter(|entry| is_subject(&entry.principal)).count();
        let inbox_items = inbox.iter().filter(|item| is_subject(&item.principal)).count();
        Ok::<_, StoreError>((entries, inbox_items))
    };
    let (entries, inbox_items, reason) = match found.await {
        Ok((0, 0)) => return None,
        Ok((entries, inbox_items)) => {
            (entries, inbox_items, "it belongs to others, too".to_owned())
        }
        Err(error) => (0, 0, error_chain(&error)),
    };
    Some(RemainingConversation { conversation, entries, inbox_items, reason })
}
