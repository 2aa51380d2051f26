//! `store backup` and `store restore`.

use std::fs;
use std::path::Path;

use serde_json::json;
use toolwright_chat::random_hex;

use crate::cli::cli_error::CliError;
use crate::cli::terminal::output;
use crate::cli::terminal::status_line::with_status_line;
use crate::project::Project;
use crate::project::conversation_store::store_url;

/// Copies the configured store into a new file; `force` replaces an existing one.
pub(super) async fn back_up(
    project: &Project,
    file: &Path,
    force: bool,
    json: bool,
) -> Result<(), CliError> {
    let url = store_url(project)?;
    if force && file.exists() {
        replace(&url, file).await?;
    } else if file.exists() {
        return Err(CliError::failure(format!(
            "{} is there already: choose another name, or replace it with --force",
            file.display()
        )));
    } else {
        with_status_line("copying", toolwright_store::backup(&url, file)).await?;
    }
    let bytes = fs::metadata(file)?.len();
    if json {
        return output::print_json(&json!({ "file": file, "bytes": bytes }));
    }
    output::print_stderr(&format!("{bytes} bytes written to {}\n", file.display()));
    Ok(())
}

/// Writes the backup beside the file, and then gives it its name: the old backup stays until the new one is complete.
async fn replace(url: &str, file: &Path) -> Result<(), CliError> {
    let shown = file.display();
    let same = |store: &str| match (fs::canonicalize(store), fs::canonicalize(file)) {
        (Ok(store), Ok(file)) => store == file,
        _ => false,
    };
    let store_file = url.strip_prefix("sqlite:");
    let store_file = store_file.map(|file| file.strip_prefix("//").unwrap_or(file));
    if store_file.is_some_and(same) {
        return Err(CliError::usage(format!("{shown} is the store itself: choose another name")));
    }
    if !file.is_file() {
        return Err(CliError::failure(format!("{shown} is no file: choose another name")));
    }
    let mut new_file = file.as_os_str().to_owned();
    new_file.push(format!("-new-{}", random_hex(4)?));
    with_status_line("copying", toolwright_store::backup(url, &new_file)).await?;
    fs::rename(&new_file, file).map_err(|error| {
        // What cannot be renamed may still be there.
        let _ = fs::remove_file(&new_file);
        CliError::failure(format!("{shown}: {error}"))
    })
}

/// Copies a backup into the configured store, which must have no conversations.
pub(super) async fn restore(project: &Project, file: &Path, json: bool) -> Result<(), CliError> {
    let url = store_url(project)?;
    with_status_line("restoring", toolwright_store::restore(file, &url)).await?;
    let report = with_status_line("verifying", toolwright_store::verify(&url)).await?;
    let (conversations, entries) = (report.conversations, report.entries);
    if !report.problems.is_empty() {
        output::print_stderr("warning: the backup has problems: `store verify` shows them\n");
    }
    if json {
        return output::print_json(&json!({ "conversations": conversations, "entries": entries }));
    }
    output::print_stderr(&format!(
        "{conversations} conversations with {entries} entries restored\n"
    ));
    Ok(())
}
