//! The form in which conversations travel: a header, then an entry per line; `docs/journal.md` describes it.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::Path;

use serde::Deserialize;
use toolwright_chat::Entry;
pub(crate) use toolwright_server::write_journal as write;

const FORMAT_NAME: &str = "journal";
const FORMAT_VERSION: u32 = 1;

/// The first line.
#[derive(Deserialize)]
struct JournalHeader {
    toolwright: String,
    version: u32,
    conversation: String,
}

/// A conversation as it was read.
pub(crate) struct ParsedJournal {
    pub(crate) conversation: String,
    pub(crate) entries: Vec<Entry>,
}

/// Writes a text to a new file that only its owner reads; an error says what to do.
pub(crate) fn write_new_file(file: &Path, text: &str) -> Result<(), String> {
    let mut open = OpenOptions::new();
    open.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        open.mode(0o600);
    }
    let written = open
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

/// Reads a conversation; an error names the line and what is wrong with it.
pub(crate) fn parse_journal(text: &str) -> Result<ParsedJournal, (usize, String)> {
    let mut lines = (1..).zip(text.lines());
    let (_, first) = lines.next().unwrap_or((1, ""));
    let header: JournalHeader = serde_json::from_str(first).map_err(|error| {
        let begin = r#"this is no conversation: the first line has to be {"toolwright":"journal","version":1,"conversation":"ID"}"#;
        (1, format!("{begin}; {}", describe_json_error(&error)))
    })?;
    if header.toolwright != FORMAT_NAME {
        let form = header.toolwright;
        return Err((1, format!("this is a `{form}`, and no `{FORMAT_NAME}`")));
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
            serde_json::from_str(line).map_err(|error| (number, describe_json_error(&error)))?;
        entries.push(entry);
    }
    match entries.is_empty() {
        true => Err((1, "nothing follows: a conversation has entries".to_owned())),
        false => Ok(ParsedJournal {
            conversation: header.conversation,
            entries,
        }),
    }
}

/// What is wrong with a line; which line it is, others say.
fn describe_json_error(error: &serde_json::Error) -> String {
    let told = error.to_string();
    let what = told.split(" at line ").next().unwrap_or_default();
    format!("{what} at column {}", error.column())
}

#[cfg(test)]
mod tests;
