//! The input of a session: a line editor with history on a terminal, else plain lines.

use std::fs::DirBuilder;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use rustyline::error::ReadlineError;
use rustyline::history::DefaultHistory;
use rustyline::{Cmd, Config, Editor, ExternalPrinter as _, KeyCode, KeyEvent, Modifiers};

use super::line_helper::{LineHelper, read_multiline, strip_continuations};
use crate::cli::commands::chat::interrupt::InterruptHandler;
use crate::cli::runtime::lock;
use crate::cli::terminal::input::{LineReader, StdinReader};
use crate::cli::terminal::output;
use crate::cli::terminal::sanitize::sanitize;
use crate::project::data_dir::owner_only;

const PROMPT_MARKER: &str = "> ";

/// A line, or the reason why there is none.
pub(crate) enum InputEvent {
    Text(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D, or the end of the input.
    EndOfInput,
}

/// Reads lines from the line editor if there is one, else from stdin.
pub(crate) struct LineInput {
    editor: Option<Mutex<Editor<LineHelper, DefaultHistory>>>,
    history_file: Option<PathBuf>,
    interrupts: InterruptHandler,
    external_printer: Option<Mutex<Box<ExternalPrint>>>,
}

/// Prints text above the line that is being edited.
type ExternalPrint = dyn FnMut(String) + Send;

impl LineInput {
    /// Opens the line editor if stdin is a terminal, with the history of earlier sessions, which `history_file` has.
    pub(crate) fn open(
        helper: LineHelper,
        interrupts: InterruptHandler,
        history_file: Option<PathBuf>,
    ) -> Self {
        let mut input =
            Self { editor: None, history_file: None, interrupts, external_printer: None };
        if !crate::cli::commands::chat::is_terminal() {
            return input;
        }
        let config = Config::builder().history_ignore_space(true).build();
        let Ok(mut editor) = Editor::with_config(config) else {
            return input;
        };
        editor.set_helper(Some(helper));
        editor.bind_sequence(KeyEvent(KeyCode::Enter, Modifiers::ALT), Cmd::Newline);
        // Without a writable file there is no history.
        input.history_file = history_file.filter(|file| create_private_file(file).is_ok());
        if let Some(history) = &input.history_file {
            let _ = editor.load_history(history);
        }
        if let Ok(mut printer) = editor.create_external_printer() {
            // A closed terminal is not an error.
            let print = move |text| drop(printer.print(text));
            input.external_printer = Some(Mutex::new(Box::new(print)));
        }
        input.editor = Some(Mutex::new(editor));
        input
    }

    /// Returns true if there is a line editor.
    pub(crate) fn is_terminal(&self) -> bool {
        self.editor.is_some()
    }

    /// Prints a line above the one that is being edited; without an editor, to stderr.
    pub(crate) fn print_above_input(&self, line: &str) {
        match &self.external_printer {
            Some(printer) => lock(printer)(format!("{}\n", sanitize(line))),
            None => output::print_stderr(&format!("{line}\n")),
        }
    }

    /// Reads the next message or command, which may have several lines.
    pub(crate) fn read_event(&self) -> io::Result<InputEvent> {
        let Some(editor) = &self.editor else {
            let line = read_multiline(&mut io::stdin().lock())?;
            return Ok(line.map_or(InputEvent::EndOfInput, |line| {
                InputEvent::Text(strip_continuations(&line))
            }));
        };
        let mut editor = lock(editor);
        match editor.readline(PROMPT_MARKER) {
            Ok(line) => {
                // Saved at once, so that it is not lost if Ctrl-C ends the program.
                let _ = editor.add_history_entry(line.as_str());
                if let Some(history) = &self.history_file {
                    let _ = editor.append_history(history);
                }
                Ok(InputEvent::Text(strip_continuations(&line)))
            }
            Err(ReadlineError::Interrupted) => Ok(InputEvent::Interrupted),
            Err(ReadlineError::Eof) => Ok(InputEvent::EndOfInput),
            Err(error) => Err(io::Error::other(error)),
        }
    }
}

impl LineReader for LineInput {
    fn read_line(&self, prompt: &str, initial: &str) -> io::Result<Option<String>> {
        let Some(editor) = &self.editor else {
            return StdinReader.read_line(prompt, initial);
        };
        match lock(editor).readline_with_initial(prompt, (initial, "")) {
            Ok(line) => Ok(Some(line)),
            Err(ReadlineError::Eof) => Ok(None),
            // The editor reads Ctrl-C as a key, without a signal, so the turn is cancelled here.
            Err(ReadlineError::Interrupted) => {
                self.interrupts.cancel_turn();
                Ok(None)
            }
            Err(error) => Err(io::Error::other(error)),
        }
    }
}

/// Creates the file and its folder if needed, and makes the file readable by its owner only.
fn create_private_file(file: &Path) -> io::Result<()> {
    let mut folder = DirBuilder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        folder.mode(0o700);
    }
    if let Some(parent) = file.parent() {
        folder.recursive(true).create(parent)?;
    }
    let opened = owner_only().create(true).append(true).open(file)?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        opened.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    }
    drop(opened);
    Ok(())
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn the_history_is_for_its_owner_alone() {
        let name = format!("toolwright-history-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let file = folder.join("toolwright/history");
        create_private_file(&file).unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&file)), (0o700, 0o600));
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        create_private_file(&file).unwrap();
        assert_eq!(mode(&file), 0o600);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
