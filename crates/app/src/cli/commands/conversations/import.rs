//! Imports a conversation from a file: all entries or none; no call in it is run.

use std::path::Path;

use toolwright_chat::{Append, Store, TailEnd, import_journal, sign_imported_decisions};

use super::{journal_file, with_lease};
use crate::cli::cli_error::CliError;
use crate::cli::terminal::input::read_file_or_stdin;
use crate::cli::terminal::sanitize::sanitize;

/// Imports a conversation under `id`, else under the ID in the file; `-` reads stdin.
pub(super) async fn import_file(
    store: &dyn Store,
    file: &Path,
    id: Option<String>,
) -> Result<(), CliError> {
    let name = match file.as_os_str() == "-" {
        true => "stdin".to_owned(),
        false => file.display().to_string(),
    };
    let text =
        read_file_or_stdin(file).map_err(|error| CliError::failure(format!("{name}: {error}")))?;
    let journal = journal_file::parse_journal(&text).map_err(|(line, message)| {
        CliError::failure(sanitize(&format!("{name}:{line}: {message}")).into_owned())
    })?;
    let (mut entries, repairs) = import_journal(journal.entries);
    let id = id.unwrap_or(journal.conversation);
    if id.trim().is_empty() {
        return Err(CliError::usage("it has no name: pass --as ID"));
    }
    sign_imported_decisions(&store.signing_keys().await?, &id, &mut entries);
    with_lease(store, &id, async |lease| {
        if !store.tail(&id, TailEnd::Newest, 1).await?.is_empty() {
            return Err(CliError::failure(format!(
                "there is a conversation `{}` already: pass --as ID, or delete it first",
                sanitize(&id)
            )));
        }
        Ok(store.append(lease, Append::new(&entries)).await?)
    })
    .await?;
    for repair in repairs {
        eprintln!("repaired: {}", sanitize(&repair));
    }
    eprintln!("{}: {} entries", sanitize(&id), entries.len());
    Ok(())
}
