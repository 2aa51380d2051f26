//! Lines that the user types, and text from stdin or a file.

use std::fs;
use std::io::{self, IsTerminal as _, Read as _, Write as _};
use std::path::Path;

use crate::cli::cli_error::CliError;

/// The limit of [`read_stdin`].
const MAX_STDIN_BYTES: u64 = 16 << 20;

/// Reads lines that the user types.
pub(crate) trait LineReader: Send + Sync {
    /// Shows a prompt and reads a line; `None` at the end of input. A line editor starts with the text `initial`.
    fn read_line(&self, prompt: &str, initial: &str) -> io::Result<Option<String>>;
}

/// Prompts on stderr and reads from stdin.
pub(crate) struct StdinReader;

impl LineReader for StdinReader {
    fn read_line(&self, prompt: &str, _: &str) -> io::Result<Option<String>> {
        let mut err = io::stderr().lock();
        err.write_all(prompt.as_bytes())?;
        err.flush()?;
        let mut line = String::new();
        let read = io::stdin().read_line(&mut line)?;
        Ok((read > 0).then_some(line))
    }
}

/// Returns true if the user can see a question and answer it: stdin and stderr are terminals.
pub(crate) fn can_prompt() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Returns true for `y` and `yes`.
pub(crate) fn is_yes(line: Option<&str>) -> bool {
    let line = line.map(|line| line.trim().to_lowercase());
    matches!(line.as_deref(), Some("y" | "yes"))
}

/// Discards the keys that were typed before a question was shown, so that they do not answer it.
///
/// Type-ahead is only in the terminal's queue: neither `StdinReader`, which gets one line per read from a terminal, nor the
/// line editor buffers any between reads.
pub(crate) fn discard_typeahead() {
    #[cfg(unix)]
    {
        use rustix::termios::{QueueSelector, tcflush};
        // Fails if stdin is not a terminal, which has no queue to discard.
        let _ = tcflush(io::stdin(), QueueSelector::IFlush);
    }
}

/// Reads stdin, at most 16 MiB of it.
pub(crate) fn read_stdin() -> Result<String, CliError> {
    let mut text = String::new();
    let read = io::stdin().take(MAX_STDIN_BYTES).read_to_string(&mut text);
    read.map_err(|error| CliError::usage(format!("stdin: {error}")))?;
    Ok(text)
}

/// Reads a file without a limit; `-` is stdin.
pub(crate) fn read_file_or_stdin(file: &Path) -> io::Result<String> {
    match file.as_os_str() == "-" {
        true => io::read_to_string(io::stdin()),
        false => fs::read_to_string(file),
    }
}

/// For tests: reads these lines, and records the prompts.
#[cfg(test)]
pub(crate) struct ScriptedLines {
    lines: std::sync::Mutex<std::collections::VecDeque<&'static str>>,
    prompts: std::sync::Mutex<String>,
}

#[cfg(test)]
impl ScriptedLines {
    pub(crate) fn new(lines: &[&'static str]) -> Self {
        let lines = lines.iter().copied().collect();
        Self { lines: std::sync::Mutex::new(lines), prompts: std::sync::Mutex::default() }
    }

    pub(crate) fn into_prompts(self) -> String {
        self.prompts.into_inner().unwrap()
    }
}

#[cfg(test)]
impl LineReader for ScriptedLines {
    fn read_line(&self, prompt: &str, _: &str) -> io::Result<Option<String>> {
        self.prompts.lock().unwrap().push_str(prompt);
        let line = self.lines.lock().unwrap().pop_front();
        Ok(line.map(str::to_owned))
    }
}
