//! `store backup|restore|verify|rotate-key|prune|erase`.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolwright_chat::{
    ConversationSummary, ExpiredConversations, Store, TurnStatus, load_turn_status,
    unique_node_name,
};
use toolwright_core::__internal::{unix_millis_now, whole_millis};
use toolwright_server::end_shares;

use crate::cli::args::StoreCommand;
use crate::cli::cli_error::{CliError, error_chain};
use crate::cli::commands::conversations::format_list;
use crate::cli::runtime;
use crate::cli::terminal::status_line::with_status_line;
use crate::cli::terminal::{output, sanitize};
use crate::project::Project;
use crate::project::conversation_store::ConversationStore;
use crate::project::journal_keep::{journal_keep, parse_age};

#[cfg(feature = "sqlite")]
mod backup;
mod erase;
#[cfg(any(feature = "sqlite", feature = "postgres"))]
mod verify;

pub(crate) fn execute(
    command: StoreCommand,
    json: bool,
    project: &Project,
) -> Result<ExitCode, CliError> {
    let runtime = runtime::build_runtime()?;
    runtime.block_on(run_subcommand(command, json, project))
}

async fn run_subcommand(
    command: StoreCommand,
    json: bool,
    project: &Project,
) -> Result<ExitCode, CliError> {
    match command {
        #[cfg(feature = "sqlite")]
        StoreCommand::Backup { file, force } => {
            backup::back_up(project, &file, force, json).await?;
        }
        #[cfg(feature = "sqlite")]
        StoreCommand::Restore { file } => backup::restore(project, &file, json).await?,
        #[cfg(any(feature = "sqlite", feature = "postgres"))]
        StoreCommand::Verify => return verify::verify_store(project, json).await,
        StoreCommand::RotateKey { keep } => rotate_key(project, keep, json).await?,
        StoreCommand::Prune { older_than, dry_run } => {
            prune(project, older_than.as_deref(), dry_run, json).await?;
        }
        StoreCommand::Erase { subject, dry_run, wait, receipt } => {
            let (wait, receipt) = (Duration::from_secs(wait), receipt.as_deref());
            return erase::erase_subject(project, subject, dry_run, wait, receipt).await;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Opens a store that exists and outlives its process.
pub(crate) async fn open_persistent(project: &Project) -> Result<ConversationStore, CliError> {
    let opened = ConversationStore::open_existing(project).await?;
    match opened.is_persistent() {
        true => Ok(opened),
        false => Err(CliError::usage(
            "`memory:` keeps nothing when the program ends; pass --store sqlite:FILE or postgres://…",
        )),
    }
}

async fn rotate_key(project: &Project, keep: usize, json: bool) -> Result<(), CliError> {
    let opened = open_persistent(project).await?;
    let store = opened.store();
    // The first key is made when the keys are first read.
    store.signing_keys().await?;
    store.rotate_signing_key(keep.saturating_add(1)).await?;
    let old_keys = store.signing_keys().await?.len().saturating_sub(1);
    if json {
        return output::print_json(&json!({ "old_keys": old_keys }));
    }
    output::print_stderr(&format!(
        "a new key signs from now on; old approvals stay valid, for {old_keys} old keys still verify\n"
    ));
    Ok(())
}

async fn prune(
    project: &Project,
    older_than: Option<&str>,
    dry_run: bool,
    json: bool,
) -> Result<(), CliError> {
    let age = match older_than {
        Some(text) => Some(
            parse_age(text)
                .map_err(|problem| CliError::usage(format!("--older-than: {problem}")))?,
        ),
        None => journal_keep(project.config())?,
    };
    let Some(age) = age else {
        return Err(CliError::usage(
            "how old? pass --older-than 90d, or set keep = \"90d\" in [journal]",
        ));
    };
    let time = unix_millis_now().saturating_sub(whole_millis(age));
    let opened = open_persistent(project).await?;
    let deleted = match dry_run {
        true => with_status_line("reading", list_expired(&**opened.store(), time)).await?,
        false => with_status_line("deleting", delete_expired(opened.store(), time)).await?,
    };
    match json {
        true => output::print_text(&format!("{}\n", sanitize::to_safe_json_pretty(&deleted)))?,
        false => output::print_text(&format_list(&deleted))?,
    }
    let done = if dry_run { "would be deleted" } else { "deleted" };
    output::print_stderr(&format!("{} conversations {done}\n", deleted.len()));
    Ok(())
}

async fn list_expired(store: &dyn Store, time: u64) -> Result<Vec<ConversationSummary>, CliError> {
    let mut expired = Vec::new();
    for summary in store.list_older_than(time, usize::MAX).await? {
        let name = &summary.conversation;
        if load_turn_status(store, name).await? == TurnStatus::Over
            && store.inbox(name).await?.is_empty()
        {
            expired.push(summary);
        }
    }
    Ok(expired)
}

async fn delete_expired(
    store: &Arc<dyn Store>,
    time: u64,
) -> Result<Vec<ConversationSummary>, CliError> {
    let mut expired = ExpiredConversations::new(Arc::clone(store), unique_node_name("prune"), time);
    let mut deleted = Vec::new();
    loop {
        let batch = expired.delete_batch().await?;
        if batch.is_empty() {
            return Ok(deleted);
        }
        for summary in &batch {
            let ended = end_shares(&store.shared_state(), &summary.conversation).await;
            ended.map_err(|error| CliError::failure(error_chain(&error)))?;
        }
        deleted.extend(batch);
    }
}
