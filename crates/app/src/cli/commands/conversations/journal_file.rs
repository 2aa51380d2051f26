//! The file format of exported conversations: a header line, then one entry per line. See `docs/journal.md`.

use std::io::{self, Write as _};
use std::path::Path;

use serde::Deserialize;
use toolwright_chat::Entry;

use crate::project::data_dir::owner_only;

const FORMAT_NAME: &str = "journal";
const FORMAT_VERSION: u32 = 1;

/// The first line of the file.
#[derive(Deserialize)]
struct JournalHeader {
    toolwright: String,
    version: u32,
    conversation: String,
}

pub(crate) struct ParsedJournal {
    pub(crate) conversation: String,
    pub(crate) entries: Vec<Entry>,
}

/// Writes text to a new file that only its owner can read; the error suggests what to do.
pub(crate) fn write_new_file(file: &Path, text: &str) -> Result<(), String> {
    let written = owner_only()
        .write(true)
        .create_new(true)
        .open(file)
        .and_then(|mut opened| opened.write_all(text.as_bytes()));
    let file = file.display();
    written.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            format!("{file} is there already: choose another name, or remove it first")
        }
        _ => format!("{file}: {error}"),
    })
}

/// Parses a file; the error is a line number, from 1, and a message.
pub(crate) fn parse_journal(text: &str) -> Result<ParsedJournal, (usize, String)> {
    let mut lines = (1..).zip(text.lines());
    let (_, first) = lines.next().unwrap_or((1, ""));
    let header: JournalHeader = serde_json::from_str(first).map_err(|error| {
        let expected = r#"this is no conversation: the first line has to be {"toolwright":"journal","version":1,"conversation":"ID"}"#;
        (1, format!("{expected}; {}", describe_json_error(&error)))
    })?;
    if header.toolwright != FORMAT_NAME {
        let format = header.toolwright;
        return Err((1, format!("this is a `{format}`, and no `{FORMAT_NAME}`")));
    }
    if header.version != FORMAT_VERSION {
        let version = header.version;
        let message = format!(
            "it is written in version {version} of the form, and this program reads version {FORMAT_VERSION}"
        );
        return Err((1, message));
    }
    let mut entries = Vec::new();
    for (number, line) in lines {
        let entry: Entry =
            Entry::from_json(line).map_err(|error| (number, describe_json_error(&error)))?;
        entries.push(entry);
    }
    match entries.is_empty() {
        true => Err((1, "nothing follows: a conversation has entries".to_owned())),
        false => Ok(ParsedJournal { conversation: header.conversation, entries }),
    }
}

/// The message with the column only: the line in it is always 1, because each line is parsed alone.
fn describe_json_error(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let message = message.split(" at line ").next().unwrap_or_default();
    format!("{message} at column {}", error.column())
}

#[cfg(test)]
mod tests;
