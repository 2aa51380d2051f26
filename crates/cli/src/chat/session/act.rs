//! What the commands of a session do.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::sync::Arc;

use toolwright_chat::Store as _;
use toolwright_core::{Entry, Role, Scope};

use super::Session;
use crate::chat::command::{self, Command};
use crate::chat::setup::fresh;
use crate::failure::chain;
use crate::{call, clean, model, tools};

impl Session<'_> {
    /// Does what a command says; what goes wrong is told, and the session goes on.
    pub(super) fn act(&mut self, command: Command) -> io::Result<()> {
        let done = match command {
            Command::Help => return self.screen.print(&command::help()),
            Command::Usage => return self.screen.print(&self.tally.told()),
            Command::Model(None) => return self.screen.print(&format!("{}\n", self.chosen.line())),
            Command::Model(Some(wanted)) => self.switch(&wanted),
            Command::Tools => self.list()?,
            Command::Save(file) => self.save(&file),
            Command::Prompt { name, arguments } => self.insert(&name, &arguments)?,
            Command::Clear => {
                self.conversation = fresh();
                self.inserted.clear();
                self.screen.note("a new conversation");
                Ok(())
            }
            Command::Quit => Ok(()),
        };
        if let Err(wrong) = done {
            self.screen.error(&wrong);
        }
        Ok(())
    }

    fn switch(&mut self, wanted: &str) -> Result<(), String> {
        let why = "chosen by /model".to_owned();
        self.chosen = model::named(wanted, &self.setup.config, why)?;
        let lines = Arc::clone(&self.input) as _;
        self.chat = self.setup.chat(&self.chosen.model, lines);
        self.screen.note(&self.chosen.line());
        for warning in self.chat.warnings() {
            self.screen.note(&format!("warning: {warning}"));
        }
        Ok(())
    }

    fn list(&mut self) -> io::Result<Result<(), String>> {
        let snapshot = match self.setup.invoker.snapshot() {
            Ok(snapshot) => snapshot,
            Err(error) => return Ok(Err(chain(&error))),
        };
        if snapshot.is_empty() {
            self.screen.note("no tools");
        }
        let listing = tools::listing(snapshot.iter().map(Entry::spec));
        self.screen.print(&listing).map(Ok)
    }

    fn save(&mut self, file: &str) -> Result<(), String> {
        let entries = self
            .runtime
            .block_on(self.setup.store.load(&self.conversation));
        let entries = entries.map_err(|error| chain(&error))?;
        let mut text = String::new();
        for entry in &entries {
            text.push_str(&clean::json(entry));
            text.push('\n');
        }
        let opened = OpenOptions::new().write(true).create_new(true).open(file);
        let written = opened.and_then(|mut opened| opened.write_all(text.as_bytes()));
        written.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => {
                format!("{file} is there already: choose another name, or remove it first")
            }
            _ => format!("{file}: {error}"),
        })?;
        self.screen
            .note(&format!("{} entries written to {file}", entries.len()));
        Ok(())
    }

    /// Renders a prompt; in the person's name it is asked at once, in the model's it goes before the next question.
    fn insert(&mut self, name: &str, arguments: &[String]) -> io::Result<Result<(), String>> {
        let rendered = match self.render(name, arguments) {
            Ok(rendered) => rendered,
            Err(wrong) => return Ok(Err(wrong)),
        };
        for note in &rendered.notes {
            self.screen.note(&format!("note: {note}"));
        }
        self.screen.note(&rendered.text);
        if rendered.role == Role::User {
            return self.ask(&rendered.text).map(Ok);
        }
        self.inserted.push(rendered.text);
        self.screen.note("inserted before your next question");
        Ok(Ok(()))
    }

    fn render(
        &self,
        name: &str,
        arguments: &[String],
    ) -> Result<toolwright_core::Rendered, String> {
        if arguments.iter().any(|argument| argument == "-") {
            return Err("write the arguments here, as key=value or one JSON object".to_owned());
        }
        let snapshot = self.setup.invoker.snapshot();
        let snapshot = snapshot.map_err(|error| chain(&error))?;
        let prompt = snapshot.prompt(name).ok_or_else(|| {
            match snapshot.nearest_prompts(name, 1).first() {
                Some(near) => format!("there is no prompt `{name}`; did you mean `{near}`?"),
                None => format!("there is no prompt `{name}`"),
            }
        })?;
        let arguments = call::read(arguments, prompt.spec()).map_err(|wrong| wrong.message())?;
        let scope = Scope::new();
        let rendering = self.setup.invoker.render_in(&scope, name, arguments);
        let rendered = self.runtime.block_on(rendering);
        rendered.map_err(|failure| failure.text().into_owned())
    }
}
