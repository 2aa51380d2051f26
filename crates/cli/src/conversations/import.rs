//! A file in, a conversation out: all of it or nothing, and nothing in it runs.

use std::io::{self, Read as _};
use std::path::Path;

use toolwright_chat::{Store, import_journal};

use super::{failed, holding, journal};
use crate::clean::clean;
use crate::failure::Failure;

/// Reads a conversation from a file, or from stdin, under its own name or another.
pub(super) async fn import(
    store: &dyn Store,
    file: &Path,
    id: Option<String>,
) -> Result<(), Failure> {
    let (name, text) = text(file)?;
    let journal = journal::read(&text).map_err(|(line, what)| {
        Failure::told(clean(&format!("{name}:{line}: {what}")).into_owned())
    })?;
    let (entries, repaired) = import_journal(journal.entries);
    let id = id.unwrap_or(journal.conversation);
    if id.trim().is_empty() {
        return Err(Failure::usage("it has no name: pass --as ID"));
    }
    holding(store, &id, async |lease| {
        let there = store.tail(&id, None, 1).await.map_err(failed)?;
        if !there.is_empty() {
            return Err(Failure::told(format!(
                "there is a conversation `{}` already: pass --as ID, or delete it first",
                clean(&id)
            )));
        }
        store.append(lease, &entries).await.map_err(failed)
    })
    .await?;
    for remark in repaired {
        eprintln!("repaired: {}", clean(&remark));
    }
    eprintln!("{}: {} entries", clean(&id), entries.len());
    Ok(())
}

fn text(file: &Path) -> Result<(String, String), Failure> {
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
        Err(error) => Err(Failure::told(format!("{name}: {error}"))),
    }
}
