//! Assigns a conversation to another owner: `conversations assign`.

use toolwright_chat::{
    Append, Entry, Owner, Store, TailEnd, TurnStatus, load_turn_status, sign_imported_decisions,
};
use toolwright_server::{ConversationTitles, end_shares};

use super::{unknown_id_message, with_lease};
use crate::cli::cli_error::{CliError, error_chain};
use crate::cli::terminal::sanitize::sanitize;

/// Moves a conversation to a subject, under the ID that it has: copied first, then deleted under the old name.
///
/// Repeating a command that was interrupted in between completes it. Shares and open links end, because they are the former
/// owner's; decisions are signed as imported ones, because their signatures are valid for the former name only.
pub(super) async fn assign(store: &dyn Store, from: &str, subject: &str) -> Result<(), CliError> {
    if subject.trim().is_empty() {
        return Err(CliError::usage("--to names the subject, as in `sessions list`"));
    }
    let (_, id) = Owner::split_stored_name(from);
    let to = Owner::Subject(subject.to_owned()).stored_name(id);
    if to == from {
        return Err(CliError::usage(format!("it belongs to `{}` already", sanitize(subject))));
    }
    if store.tail(from, TailEnd::Newest, 1).await?.is_empty() {
        return Err(CliError::usage(unknown_id_message(store, from).await?));
    }
    let count = with_lease(store, from, async |lease| {
        let is_over = load_turn_status(store, from).await? == TurnStatus::Over;
        if !is_over || !store.inbox(from).await?.is_empty() {
            let message =
                "its turn is not over, or a message waits: stop it, or wait, and try again";
            return Err(CliError::failure(message));
        }
        let mut entries = store.load(from).await?;
        let began = entries.first().map_or(0, |first| first.at);
        sign_imported_decisions(&store.signing_keys().await?, &to, &mut entries);
        copy(store, &entries, &to).await?;
        let titles = ConversationTitles::new(store.shared_state());
        let moved = titles.move_title(from, &to, began).await;
        moved.map_err(|error| CliError::failure(error_chain(&error)))?;
        store.delete(lease).await?;
        Ok(entries.len())
    })
    .await?;
    // It may be assigned back: they must not come back with it.
    let ended = end_shares(&store.shared_state(), from).await;
    ended.map_err(|error| CliError::failure(error_chain(&error)))?;
    eprintln!("{}: {count} entries, now of {}", sanitize(&to), sanitize(subject));
    Ok(())
}

/// Appends all entries to a new conversation, unless an interrupted command has done so.
async fn copy(store: &dyn Store, entries: &[Entry], to: &str) -> Result<(), CliError> {
    with_lease(store, to, async |lease| {
        let existing = store.load(to).await?;
        let ids = |entries: &[Entry]| -> Vec<String> {
            entries.iter().map(|entry| entry.id.clone()).collect()
        };
        if existing.is_empty() {
            return Ok(store.append(lease, Append::new(entries)).await?);
        }
        match ids(&existing) == ids(entries) {
            true => Ok(()),
            false => Err(CliError::failure(format!(
                "there is a conversation `{}` already: export this one, and import it under another name",
                sanitize(to)
            ))),
        }
    })
    .await
}
