//! What the commands of a session do.

use std::io;
use std::path::Path;
use std::sync::Arc;

use toolwright_core::{CallScope, RegisteredTool, Role};

use super::Session;
use crate::chat::command::{self, Command};
use crate::chat::setup::{self, fresh};
use crate::conversations::{journal, listing, unknown};
use crate::failure::chain;
use crate::{call, model, tools};

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
            Command::Conversations(None) => self.list_conversations()?,
            Command::Conversations(Some(id)) => self.turn_to(id)?,
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
        let config = &self.setup.config;
        self.chosen = model::named(wanted, config, why)?;
        let attaching = setup::attach(&self.setup.servers, config, &*self.chosen.model);
        let attached = self.runtime.block_on(attaching);
        attached.map_err(|failure| failure.message())?;
        let lines = Arc::clone(&self.input) as _;
        self.chat = self.setup.chat(&self.chosen.model, lines);
        self.screen.note(&self.chosen.line());
        self.screen.warn(self.setup, &self.chat);
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
        let listing = tools::listing(snapshot.iter().map(RegisteredTool::spec));
        self.screen.print(&listing).map(Ok)
    }

    fn save(&mut self, file: &str) -> Result<(), String> {
        let store = self.setup.store.store();
        let entries = self.runtime.block_on(store.load(&self.conversation));
        let entries = entries.map_err(|error| chain(&error))?;
        let text = journal::write(&self.conversation, &entries).map_err(|error| chain(&error))?;
        journal::save(Path::new(file), &text)?;
        self.screen
            .note(&format!("{} entries written to {file}", entries.len()));
        Ok(())
    }

    fn list_conversations(&mut self) -> io::Result<Result<(), String>> {
        let store = self.setup.store.store();
        match self.runtime.block_on(store.list(usize::MAX)) {
            Ok(summaries) => self.screen.print(&listing(&summaries)).map(Ok),
            Err(error) => Ok(Err(chain(&error))),
        }
    }

    /// Goes on with another conversation.
    fn turn_to(&mut self, id: String) -> io::Result<Result<(), String>> {
        let store = self.setup.store.store();
        let found = self.runtime.block_on(async {
            match store.tail(&id, None, 1).await?.is_empty() {
                true => unknown(&**store, &id).await.map(Some),
                false => Ok(None),
            }
        });
        match found {
            Err(error) => return Ok(Err(chain(&error))),
            Ok(Some(wrong)) => return Ok(Err(wrong)),
            Ok(None) => self.conversation = id,
        }
        self.inserted.clear();
        self.go_on().map(Ok)
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
    ) -> Result<toolwright_core::RenderedPrompt, String> {
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
        let scope = CallScope::new();
        let rendering = self.setup.invoker.render_prompt_in(&scope, name, arguments);
        let rendered = self.runtime.block_on(rendering);
        rendered.map_err(|failure| failure.text().into_owned())
    }
}
