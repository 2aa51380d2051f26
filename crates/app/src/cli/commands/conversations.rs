//! `conversations list|show|export|import|assign|delete`.

use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use toolwright_chat::{
    ConversationSummary, Entry, Lease, Store, StoreError, TailEnd, load_path, unique_node_name,
};
use toolwright_core::schema::nearest;
use toolwright_server::{ConversationTitles, end_shares, write_journal};

use crate::cli::args::ConversationsCommand;
use crate::cli::cli_error::{CliError, error_chain};
use crate::cli::runtime;
use crate::cli::terminal::input::{
    LineReader as _, StdinReader, can_prompt, discard_typeahead, is_yes,
};
use crate::cli::terminal::output;
use crate::cli::terminal::sanitize::{self, sanitize, to_single_line};
use crate::project::Project;
use crate::project::conversation_store::{ConversationStore, DefaultStore};

mod assign;
mod import;
pub(crate) mod journal_file;
mod transcript;

/// The lease while a conversation is imported or deleted.
const LEASE_DURATION: Duration = Duration::from_secs(60);

/// Longer titles are truncated in the list.
const MAX_TITLE_CHARS: usize = 60;

pub(crate) fn execute(
    command: ConversationsCommand,
    json: bool,
    project: &Project,
) -> Result<ExitCode, CliError> {
    let runtime = runtime::build_runtime()?;
    runtime.block_on(run_subcommand(command, json, project))?;
    Ok(ExitCode::SUCCESS)
}

async fn run_subcommand(
    command: ConversationsCommand,
    json: bool,
    project: &Project,
) -> Result<(), CliError> {
    let opened = match command {
        ConversationsCommand::Import { .. } => {
            ConversationStore::open(project, DefaultStore::UserDataFile).await?
        }
        _ => ConversationStore::open_existing(project).await?,
    };
    let store = &**opened.store();
    if !opened.is_persistent() {
        let message = "`memory:` keeps nothing when the program ends; pass --store sqlite:FILE or postgres://…";
        if !matches!(command, ConversationsCommand::List) {
            return Err(CliError::usage(message));
        }
        eprintln!("{message}");
    }
    match command {
        ConversationsCommand::List => print_list(store, json).await,
        ConversationsCommand::Show { id } => {
            let entries = load_entries(store, &id, None).await?;
            match json {
                true => {
                    let entries: Vec<Entry> = entries.into_iter().map(Entry::without_mac).collect();
                    output::print_text(&format!("{}\n", sanitize::to_safe_json_pretty(&entries)))
                }
                false => output::print_text(&transcript::format_transcript(&id, &entries)),
            }
        }
        ConversationsCommand::Export { id, file, branch } => {
            let entries = load_entries(store, &id, branch.as_deref()).await?;
            export_conversation(&id, &entries, file.as_deref())
        }
        ConversationsCommand::Import { file, id } => import::import_file(store, &file, id).await,
        ConversationsCommand::Assign { id, to } => assign::assign(store, &id, &to).await,
        ConversationsCommand::Delete { id, yes } => delete_conversation(store, &id, yes).await,
    }
}

async fn print_list(store: &dyn Store, json: bool) -> Result<(), CliError> {
    let mut summaries = store.list(usize::MAX).await?;
    let titles = ConversationTitles::new(store.shared_state());
    if let Err(error) = titles.apply_to_all(&mut summaries).await {
        eprintln!("the titles that were set cannot be read: {}", error_chain(&error));
    }
    if json {
        return output::print_text(&format!("{}\n", sanitize::to_safe_json_pretty(&summaries)));
    }
    if summaries.is_empty() {
        eprintln!("no conversations yet: `chat` begins one");
    }
    output::print_text(&format_list(&summaries))
}

/// One line per conversation: ID, last change, number of entries, title.
pub(crate) fn format_list(summaries: &[ConversationSummary]) -> String {
    let ids = summaries.iter().map(|summary| summary.conversation.chars());
    let width = ids.map(Iterator::count).max().unwrap_or_default();
    let lines = summaries.iter().map(|summary| {
        let id = sanitize(&summary.conversation);
        let last = transcript::format_timestamp(summary.last);
        let title = to_single_line(&summary.title, MAX_TITLE_CHARS);
        format!("{id:width$}  {last}  {:>5}  {title}\n", summary.entries)
    });
    lines.collect()
}

/// The entries of a conversation up to the newest, or the one that `end` names, without those of other branches; a usage error
/// if there are none, with similar IDs if the conversation does not exist.
async fn load_entries(
    store: &dyn Store,
    id: &str,
    end: Option<&str>,
) -> Result<Vec<Entry>, CliError> {
    let entries = load_path(store, id, end).await?;
    if !entries.is_empty() {
        return Ok(entries);
    }
    let message = match end {
        Some(end) if !store.tail(id, TailEnd::Newest, 1).await?.is_empty() => {
            sanitize(&format!("conversation `{id}` has no entry `{end}`")).into_owned()
        }
        _ => unknown_id_message(store, id).await?,
    };
    Err(CliError::usage(message))
}

/// The message that there is no such conversation, with up to three similar IDs.
pub(crate) async fn unknown_id_message(store: &dyn Store, id: &str) -> Result<String, StoreError> {
    let summaries = store.list(usize::MAX).await?;
    let known = summaries.iter().map(|summary| summary.conversation.as_str());
    let similar: Vec<String> =
        nearest(id, known, 3).into_iter().map(|id| format!("`{id}`")).collect();
    let hint = match similar.is_empty() {
        true => "`conversations list` shows all there are".to_owned(),
        false => format!("did you mean {}?", similar.join(", ")),
    };
    Ok(sanitize(&format!("there is no conversation `{id}`; {hint}")).into_owned())
}

fn export_conversation(id: &str, entries: &[Entry], file: Option<&Path>) -> Result<(), CliError> {
    let text = write_journal(id, entries)?;
    if let Some(file) = file {
        journal_file::write_new_file(file, &text).map_err(CliError::failure)?;
        let (count, file) = (entries.len(), file.display());
        output::print_stderr(&format!("{count} entries written to {file}\n"));
        return Ok(());
    }
    match io::stdout().is_terminal() {
        true => output::print_text(&sanitize::escape_json(text)),
        false => output::print_text(&text),
    }
}

async fn delete_conversation(store: &dyn Store, id: &str, yes: bool) -> Result<(), CliError> {
    if store.tail(id, TailEnd::Newest, 1).await?.is_empty() {
        return Err(CliError::usage(unknown_id_message(store, id).await?));
    }
    if !yes && !confirm_delete(id)? {
        return Err(CliError::failure("nothing was deleted"));
    }
    let deleted = with_lease(store, id, async |lease| Ok(store.delete(lease).await?));
    match deleted.await? {
        true => {
            let ended = end_shares(&store.shared_state(), id).await;
            ended.map_err(|error| CliError::failure(error_chain(&error)))?;
            eprintln!("deleted {}", sanitize(id));
        }
        false => eprintln!("{} was deleted by somebody else", sanitize(id)),
    }
    Ok(())
}

/// Asks the user at the terminal; a usage error if there is none.
fn confirm_delete(id: &str) -> Result<bool, CliError> {
    if !can_prompt() {
        return Err(CliError::usage("nobody is there to be asked: pass --yes to delete it"));
    }
    let question = format!("Delete {}? It cannot be brought back. [y/N] ", sanitize(id));
    discard_typeahead();
    let answer = StdinReader.read_line(&question, "")?;
    Ok(is_yes(answer.as_deref()))
}

/// Runs `work` with the lease of a conversation; fails if another process holds it.
async fn with_lease<T>(
    store: &dyn Store,
    id: &str,
    work: impl AsyncFnOnce(&Lease) -> Result<T, CliError>,
) -> Result<T, CliError> {
    let lease = store.acquire(id, &unique_node_name("process"), LEASE_DURATION).await?;
    let lease = lease.ok_or_else(|| StoreError::leased_elsewhere(id))?;
    let output = work(&lease).await;
    // If this fails, the lease expires.
    let _ = store.release(&lease).await;
    output
}
