//! `conversations list|show|export|import|delete`.

use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use toolwright_chat::{ConversationSummary, Entry, Lease, Store, StoreError};
use toolwright_core::Config;
use toolwright_core::schema::nearest;

use crate::args::ConversationsCommand;
use crate::cli_error::CliError;
use crate::config::ProjectConfig;
use crate::config::conversation_store::{ConversationStore, DefaultStore};
use crate::runtime;
use crate::terminal::approval::{LineReader as _, StdinReader, discard_typeahead};
use crate::terminal::output;
use crate::terminal::sanitize::{self, sanitize, to_single_line};

mod import;
pub(crate) mod journal_file;
mod transcript;

/// How long a conversation is held while something is done to it as a whole.
const LEASE_DURATION: Duration = Duration::from_secs(60);

/// How much of a title is shown.
const MAX_TITLE_CHARS: usize = 60;

pub(crate) fn execute(
    command: ConversationsCommand,
    json: bool,
    surroundings: &ProjectConfig,
) -> Result<ExitCode, CliError> {
    let runtime = runtime::build_runtime()?;
    runtime.block_on(run_subcommand(command, json, surroundings.config()))?;
    Ok(ExitCode::SUCCESS)
}

async fn run_subcommand(
    command: ConversationsCommand,
    json: bool,
    config: &Config,
) -> Result<(), CliError> {
    let kept = match command {
        ConversationsCommand::Import { .. } => {
            ConversationStore::open(config, DefaultStore::UserDataFile).await?
        }
        _ => ConversationStore::open_existing(config).await?,
    };
    let store = &**kept.store();
    if !kept.is_persistent() {
        let nothing = "`memory:` keeps nothing when the program ends; pass --store sqlite:FILE or postgres://…";
        if !matches!(command, ConversationsCommand::List) {
            return Err(CliError::usage(nothing));
        }
        eprintln!("{nothing}");
    }
    match command {
        ConversationsCommand::List => print_list(store, json).await,
        ConversationsCommand::Show { id } => {
            let entries = load_entries(store, &id).await?;
            match json {
                true => {
                    output::print_text(&format!("{}\n", sanitize::to_safe_json_pretty(&entries)))
                }
                false => output::print_text(&transcript::format_transcript(&id, &entries)),
            }
        }
        ConversationsCommand::Export { id, file } => {
            let entries = load_entries(store, &id).await?;
            export_conversation(&id, &entries, file.as_deref())
        }
        ConversationsCommand::Import { file, id } => import::import_file(store, &file, id).await,
        ConversationsCommand::Delete { id, yes } => delete_conversation(store, &id, yes).await,
    }
}

async fn print_list(store: &dyn Store, json: bool) -> Result<(), CliError> {
    let summaries = store.list(usize::MAX).await.map_err(store_error)?;
    if json {
        return output::print_text(&format!("{}\n", sanitize::to_safe_json_pretty(&summaries)));
    }
    if summaries.is_empty() {
        eprintln!("no conversations yet: `chat` begins one");
    }
    output::print_text(&format_list(&summaries))
}

/// Writes a line for each conversation.
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

/// Everything that was kept of a conversation; of one that nobody knows, which it may be instead.
async fn load_entries(store: &dyn Store, id: &str) -> Result<Vec<Entry>, CliError> {
    let entries = store.load(id).await.map_err(store_error)?;
    match entries.is_empty() {
        true => Err(CliError::usage(
            unknown_id_message(store, id).await.map_err(store_error)?,
        )),
        false => Ok(entries),
    }
}

/// Says that there is no such conversation, and which are like it.
pub(crate) async fn unknown_id_message(store: &dyn Store, id: &str) -> Result<String, StoreError> {
    let summaries = store.list(usize::MAX).await?;
    let known = summaries
        .iter()
        .map(|summary| summary.conversation.as_str());
    let near: Vec<String> = nearest(id, known, 3)
        .into_iter()
        .map(|near| format!("`{near}`"))
        .collect();
    let hint = match near.as_slice() {
        [] => "`conversations list` shows all there are".to_owned(),
        near => format!("did you mean {}?", near.join(", ")),
    };
    Ok(sanitize(&format!("there is no conversation `{id}`; {hint}")).into_owned())
}

fn export_conversation(id: &str, entries: &[Entry], file: Option<&Path>) -> Result<(), CliError> {
    let written = journal_file::write(id, entries).map_err(|error| CliError::from_error(&error))?;
    if let Some(file) = file {
        journal_file::write_new_file(file, &written).map_err(CliError::failure)?;
        let (count, file) = (entries.len(), file.display());
        output::print_stderr(&format!("{count} entries written to {file}\n"));
        return Ok(());
    }
    match io::stdout().is_terminal() {
        true => output::print_text(&sanitize::escape_json(written)),
        false => output::print_text(&written),
    }
}

async fn delete_conversation(store: &dyn Store, id: &str, yes: bool) -> Result<(), CliError> {
    let first = store.tail(id, None, 1).await.map_err(store_error)?;
    if first.is_empty() {
        return Err(CliError::usage(
            unknown_id_message(store, id).await.map_err(store_error)?,
        ));
    }
    if !yes && !confirm_delete(id)? {
        return Err(CliError::failure("nothing was deleted"));
    }
    let deleted = with_lease(store, id, async |lease| {
        store.delete(lease).await.map_err(store_error)
    });
    match deleted.await? {
        true => eprintln!("deleted {}", sanitize(id)),
        false => eprintln!("{} was deleted by somebody else", sanitize(id)),
    }
    Ok(())
}

/// Asks the person at the terminal; nobody there is no yes.
fn confirm_delete(id: &str) -> Result<bool, CliError> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(CliError::usage(
            "nobody is there to be asked: pass --yes to delete it",
        ));
    }
    let question = format!("Delete {}? It cannot be brought back. [y/N] ", sanitize(id));
    discard_typeahead();
    let answer = StdinReader.read_line(&question, "");
    let answer = answer.map_err(|error| CliError::from_error(&error))?;
    let answer = answer.unwrap_or_default().trim().to_lowercase();
    Ok(matches!(answer.as_str(), "y" | "yes"))
}

/// Does something to a conversation while no other process may.
async fn with_lease<T>(
    store: &dyn Store,
    id: &str,
    work: impl AsyncFnOnce(&Lease) -> Result<T, CliError>,
) -> Result<T, CliError> {
    let lease = Lease::new(id, unique_node_name());
    if !store
        .acquire(&lease, LEASE_DURATION)
        .await
        .map_err(store_error)?
    {
        return Err(store_error(StoreError::leased_elsewhere(&lease)));
    }
    let done = work(&lease).await;
    // It ends by itself, too.
    let _ = store.release(&lease).await;
    done
}

/// A name that no other process has.
pub(crate) fn unique_node_name() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let nanos = since.map_or(0, |since| since.as_nanos());
    format!("process-{}-{nanos:x}", std::process::id())
}

fn store_error(error: StoreError) -> CliError {
    CliError::from_error(&error)
}
