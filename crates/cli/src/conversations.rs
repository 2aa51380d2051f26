//! `conversations list|show|export|import|delete`.

use std::io::{self, IsTerminal as _};
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use toolwright_chat::{ConversationSummary, Entry, Lease, Store, StoreError};
use toolwright_core::Config;
use toolwright_core::schema::nearest;

use crate::approve::{Lines as _, Stdin, discard_typed};
use crate::args::Conversations;
use crate::clean::{self, clean, one_line};
use crate::config::Surroundings;
use crate::failure::Failure;
use crate::store::{Kept, Otherwise};
use crate::{call, print};

mod import;
pub(crate) mod journal;
mod show;

/// How long a conversation is held while something is done to it as a whole.
const HELD: Duration = Duration::from_secs(60);

/// How much of a title is shown.
const TITLE: usize = 60;

pub(crate) fn execute(
    command: Conversations,
    json: bool,
    surroundings: &Surroundings,
) -> Result<ExitCode, Failure> {
    let runtime = call::runtime()?;
    runtime.block_on(perform(command, json, surroundings.config()))?;
    Ok(ExitCode::SUCCESS)
}

async fn perform(command: Conversations, json: bool, config: &Config) -> Result<(), Failure> {
    let kept = match command {
        Conversations::Import { .. } => Kept::open(config, Otherwise::Data).await?,
        _ => Kept::open_existing(config).await?,
    };
    let store = &**kept.store();
    if !kept.keeps() {
        let nothing = "`memory:` keeps nothing when the program ends; pass --store sqlite:FILE or postgres://…";
        if !matches!(command, Conversations::List) {
            return Err(Failure::usage(nothing));
        }
        eprintln!("{nothing}");
    }
    match command {
        Conversations::List => list(store, json).await,
        Conversations::Show { id } => {
            let entries = entries(store, &id).await?;
            match json {
                true => print::text(&format!("{}\n", clean::indented(&entries))),
                false => print::text(&show::transcript(&id, &entries)),
            }
        }
        Conversations::Export { id, file } => {
            let entries = entries(store, &id).await?;
            export(&id, &entries, file.as_deref())
        }
        Conversations::Import { file, id } => import::import(store, &file, id).await,
        Conversations::Delete { id, yes } => delete(store, &id, yes).await,
    }
}

async fn list(store: &dyn Store, json: bool) -> Result<(), Failure> {
    let summaries = store.list(usize::MAX).await.map_err(failed)?;
    if json {
        return print::text(&format!("{}\n", clean::indented(&summaries)));
    }
    if summaries.is_empty() {
        eprintln!("no conversations yet: `chat` begins one");
    }
    print::text(&listing(&summaries))
}

/// Writes a line for each conversation.
pub(crate) fn listing(summaries: &[ConversationSummary]) -> String {
    let ids = summaries.iter().map(|summary| summary.conversation.chars());
    let width = ids.map(Iterator::count).max().unwrap_or_default();
    let lines = summaries.iter().map(|summary| {
        let id = clean(&summary.conversation);
        let last = show::when(summary.last);
        let title = one_line(&summary.title, TITLE);
        format!("{id:width$}  {last}  {:>5}  {title}\n", summary.entries)
    });
    lines.collect()
}

/// Everything that was kept of a conversation; of one that nobody knows, which it may be instead.
async fn entries(store: &dyn Store, id: &str) -> Result<Vec<Entry>, Failure> {
    let entries = store.load(id).await.map_err(failed)?;
    match entries.is_empty() {
        true => Err(Failure::usage(unknown(store, id).await.map_err(failed)?)),
        false => Ok(entries),
    }
}

/// Says that there is no such conversation, and which are like it.
pub(crate) async fn unknown(store: &dyn Store, id: &str) -> Result<String, StoreError> {
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
    Ok(clean(&format!("there is no conversation `{id}`; {hint}")).into_owned())
}

fn export(id: &str, entries: &[Entry], file: Option<&Path>) -> Result<(), Failure> {
    let written = journal::write(id, entries).map_err(|error| Failure::finding(&error))?;
    if let Some(file) = file {
        journal::save(file, &written).map_err(Failure::told)?;
        let (count, file) = (entries.len(), file.display());
        print::aside(&format!("{count} entries written to {file}\n"));
        return Ok(());
    }
    match io::stdout().is_terminal() {
        true => print::text(&clean::escape(written)),
        false => print::text(&written),
    }
}

async fn delete(store: &dyn Store, id: &str, yes: bool) -> Result<(), Failure> {
    let first = store.tail(id, None, 1).await.map_err(failed)?;
    if first.is_empty() {
        return Err(Failure::usage(unknown(store, id).await.map_err(failed)?));
    }
    if !yes && !confirmed(id)? {
        return Err(Failure::told("nothing was deleted"));
    }
    let deleted = holding(store, id, async |lease| {
        store.delete(lease).await.map_err(failed)
    });
    match deleted.await? {
        true => eprintln!("deleted {}", clean(id)),
        false => eprintln!("{} was deleted by somebody else", clean(id)),
    }
    Ok(())
}

/// Asks the person at the terminal; nobody there is no yes.
fn confirmed(id: &str) -> Result<bool, Failure> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return Err(Failure::usage(
            "nobody is there to be asked: pass --yes to delete it",
        ));
    }
    let question = format!("Delete {}? It cannot be brought back. [y/N] ", clean(id));
    discard_typed();
    let answer = Stdin.line(&question, "");
    let answer = answer.map_err(|error| Failure::finding(&error))?;
    let answer = answer.unwrap_or_default().trim().to_lowercase();
    Ok(matches!(answer.as_str(), "y" | "yes"))
}

/// Does something to a conversation while no other process may.
async fn holding<T>(
    store: &dyn Store,
    id: &str,
    work: impl AsyncFnOnce(&Lease) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let lease = Lease::new(id, holder());
    if !store.acquire(&lease, HELD).await.map_err(failed)? {
        return Err(failed(StoreError::leased_elsewhere(&lease)));
    }
    let done = work(&lease).await;
    // It ends by itself, too.
    let _ = store.release(&lease).await;
    done
}

/// A name that no other process has.
pub(crate) fn holder() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    let nanos = since.map_or(0, |since| since.as_nanos());
    format!("process-{}-{nanos:x}", std::process::id())
}

fn failed(error: StoreError) -> Failure {
    Failure::finding(&error)
}
