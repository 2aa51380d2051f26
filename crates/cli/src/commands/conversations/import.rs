//! A file in, a conversation out: all of it or nothing, and nothing in it runs.

use std::io::{self, Read as _};
use std::path::Path;

use toolwright_chat::{Store, import_journal};

use super::{journal_file, store_error, with_lease};
use crate::cli_error::CliError;
use crate::terminal::sanitize::sanitize;

/// Reads a conversation from a file, or from stdin, under its own name or another.
pub(super) async fn import_file(
    store: &dyn Store,
    file: &Path,
    id: Option<String>,
) -> Result<(), CliError> {
    let (name, text) = read_input(file)?;
    let journal = journal_file::parse_journal(&text).map_err(|(line, what)| {
        CliError::failure(sanitize(&format!("{name}:{line}: {what}")).into_owned())
    })?;
    let (entries, repaired) = import_journal(journal.entries);
    let id = id.unwrap_or(journal.conversation);
    if id.trim().is_empty() {
        return Err(CliError::usage("it has no name: pass --as ID"));
    }
    with_lease(store, &id, async |lease| {
        let there = store.tail(&id, None, 1).await.map_err(store_error)?;
        if !there.is_empty() {
            return Err(CliError::failure(format!(
                "there is a conversation `{}` already: pass --as ID, or delete it first",
                sanitize(&id)
            )));
        }
        store.append(lease, &entries).await.map_err(store_error)
    })
    .await?;
    for remark in repaired {
        eprintln!("repaired: {}", sanitize(&remark));
    }
    eprintln!("{}: {} entries", sanitize(&id), entries.len());
    Ok(())
}

fn read_input(file: &Path) -> Result<(String, String), CliError> {
    let mut text = String::new();
    let (name, read) = match file.as_os_str() == "-" {
        true => (
            "stdin".to_owned(),
            io::stdin().lock().read_to_string(&mut text).map(drop),
        ),
        false => {
            let read = std::fs::read_to_string(file);
            (file.display().to_string(), read.map(|whole| text = whole))
        }
    };
    match read {
        Ok(()) => Ok((name, text)),
        Err(error) => Err(CliError::failure(format!("{name}: {error}"))),
    }
}
