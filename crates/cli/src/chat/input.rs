//! Where questions come from: a terminal with history and editing, or plain lines.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use rustyline::error::ReadlineError;
use rustyline::history::DefaultHistory;
use rustyline::{Cmd, Config, Editor, ExternalPrinter as _, KeyCode, KeyEvent, Modifiers};

use super::interrupt::Interrupts;
use super::typing::{Typing, read_from, unfolded};
use crate::approve::{Lines, Stdin};
use crate::clean::clean;
use crate::{data, print};

const PROMPT: &str = "> ";

/// What came instead of, or as, a line.
pub(crate) enum Line {
    Said(String),
    /// Ctrl-C.
    Interrupted,
    /// Ctrl-D, or the end of the input.
    Over,
}

/// Where lines come from.
pub(crate) struct Input {
    editor: Option<Mutex<Editor<Typing, DefaultHistory>>>,
    history: Option<PathBuf>,
    interrupts: Interrupts,
    printer: Option<Mutex<Box<Printer>>>,
}

/// Shows a text above the line that is edited.
type Printer = dyn FnMut(String) + Send;

impl Input {
    /// Opens the terminal if there is one, with the history of earlier sessions.
    pub(crate) fn open(typing: Typing, interrupts: Interrupts) -> Self {
        let mut input = Self {
            editor: None,
            history: None,
            interrupts,
            printer: None,
        };
        if !super::is_terminal() {
            return input;
        }
        let config = Config::builder().history_ignore_space(true).build();
        let Ok(mut editor) = Editor::with_config(config) else {
            return input;
        };
        editor.set_helper(Some(typing));
        editor.bind_sequence(KeyEvent(KeyCode::Enter, Modifiers::ALT), Cmd::Newline);
        // A history that cannot be kept is no reason not to talk.
        input.history = data::place("history").filter(|place| make_private(place).is_ok());
        if let Some(history) = &input.history {
            let _ = editor.load_history(history);
        }
        if let Ok(mut printer) = editor.create_external_printer() {
            // A terminal that is gone misses nothing.
            let print = move |text| drop(printer.print(text));
            input.printer = Some(Mutex::new(Box::new(print)));
        }
        input.editor = Some(Mutex::new(editor));
        input
    }

    /// Whether somebody types here.
    pub(crate) fn is_terminal(&self) -> bool {
        self.editor.is_some()
    }

    /// Shows a line, above the one that is edited if one is.
    pub(crate) fn show(&self, line: &str) {
        match &self.printer {
            Some(printer) => locked(printer)(format!("{}\n", clean(line))),
            None => print::aside(&format!("{line}\n")),
        }
    }

    /// Reads what is said next.
    pub(crate) fn next(&self) -> io::Result<Line> {
        let Some(editor) = &self.editor else {
            let line = read_from(&mut io::stdin().lock())?;
            return Ok(line.map_or(Line::Over, |line| Line::Said(unfolded(&line))));
        };
        let mut editor = locked(editor);
        match editor.readline(PROMPT) {
            Ok(line) => {
                // Told at once: whoever leaves with Ctrl-C keeps it.
                let _ = editor.add_history_entry(line.as_str());
                if let Some(history) = &self.history {
                    let _ = editor.append_history(history);
                }
                Ok(Line::Said(unfolded(&line)))
            }
            Err(ReadlineError::Interrupted) => Ok(Line::Interrupted),
            Err(ReadlineError::Eof) => Ok(Line::Over),
            Err(error) => Err(io::Error::other(error)),
        }
    }
}

impl Lines for Input {
    fn line(&self, prompt: &str, initial: &str) -> io::Result<Option<String>> {
        let Some(editor) = &self.editor else {
            return Stdin.line(prompt, initial);
        };
        match locked(editor).readline_with_initial(prompt, (initial, "")) {
            Ok(line) => Ok(Some(line)),
            Err(ReadlineError::Eof) => Ok(None),
            // While a line is edited the terminal sends no signal: this is the Ctrl-C that ends the turn.
            Err(ReadlineError::Interrupted) => {
                self.interrupts.cancel();
                Ok(None)
            }
            Err(error) => Err(io::Error::other(error)),
        }
    }
}

fn locked<T>(editor: &Mutex<T>) -> MutexGuard<'_, T> {
    editor.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes sure that the file is there, and that nobody but its owner reads it.
fn make_private(file: &Path) -> io::Result<()> {
    let mut folder = DirBuilder::new();
    let mut open = OpenOptions::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
        folder.mode(0o700);
        open.mode(0o600);
    }
    if let Some(parent) = file.parent() {
        folder.recursive(true).create(parent)?;
    }
    let opened = open.create(true).append(true).open(file)?;
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
        make_private(&file).unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder), mode(&file)), (0o700, 0o600));
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
        make_private(&file).unwrap();
        assert_eq!(mode(&file), 0o600);
        std::fs::remove_dir_all(folder).unwrap();
    }
}
