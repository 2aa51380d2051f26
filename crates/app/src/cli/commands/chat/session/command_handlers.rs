//! The handlers of the slash commands.

use std::io;
use std::path::Path;
use std::sync::Arc;

use toolwright_chat::{TailEnd, load_path};
use toolwright_core::{CallScope, RegisteredTool, Role};
use toolwright_server::write_journal;

use super::Session;
use super::slash_command::{self, SlashCommand};
use crate::cli::cli_error::error_chain;
use crate::cli::commands::chat::chat_factory::new_conversation_id;
use crate::cli::commands::conversations::{format_list, journal_file, unknown_id_message};
use crate::cli::commands::tools;
use crate::cli::commands::tools::arguments;
use crate::project::model_selection::SelectedModel;

impl Session<'_> {
    /// Runs a slash command. Its failure is printed; the error is only that of stdout.
    pub(super) fn run_command(&mut self, command: SlashCommand) -> io::Result<()> {
        let result = match command {
            SlashCommand::Help => return self.printer.print_output(&slash_command::help_text()),
            SlashCommand::Usage => return self.printer.print_output(&self.usage.summary()),
            SlashCommand::Model(None) => {
                return self.printer.print_output(&format!("{}\n", self.selected_model.summary()));
            }
            SlashCommand::Model(Some(spec)) => self.switch_model(&spec),
            SlashCommand::Tools => self.list_tools()?,
            SlashCommand::Save(file) => self.save_conversation(&file),
            SlashCommand::Prompt { name, arguments } => self.insert_prompt(&name, &arguments)?,
            SlashCommand::Conversations(None) => self.list_conversations()?,
            SlashCommand::Conversations(Some(id)) => self.switch_conversation(id)?,
            SlashCommand::Clear => {
                self.conversation_id = new_conversation_id();
                self.pending_assistant_texts.clear();
                self.printer.print_note("a new conversation");
                Ok(())
            }
            SlashCommand::Quit => Ok(()),
        };
        if let Err(message) = result {
            self.printer.print_error(&message);
        }
        Ok(())
    }

    fn switch_model(&mut self, spec: &str) -> Result<(), String> {
        let config = self.factory.project.config();
        let model = self.runtime.block_on(toolwright_models::by_name(spec, config));
        let model = model.map_err(|error| error_chain(&error))?;
        self.selected_model = SelectedModel { model, reason: "chosen by /model".to_owned() };
        let model = &self.selected_model.model;
        let attach = self.factory.servers.attach_configured(config, &**model);
        let attached = self.runtime.block_on(attach);
        attached.map_err(|error| error.to_string())?;
        let reader = Arc::clone(&self.input) as _;
        self.chat = self.factory.build_chat(model, reader);
        self.printer.print_note(&self.selected_model.summary());
        self.printer.print_warnings(self.factory, &self.chat);
        Ok(())
    }

    fn list_tools(&mut self) -> io::Result<Result<(), String>> {
        let snapshot = match self.factory.invoker.snapshot() {
            Ok(snapshot) => snapshot,
            Err(error) => return Ok(Err(error_chain(&error))),
        };
        if snapshot.is_empty() {
            self.printer.print_note("no tools");
        }
        let listing = tools::format_list(snapshot.iter().map(RegisteredTool::spec));
        self.printer.print_output(&listing).map(Ok)
    }

    fn save_conversation(&mut self, file: &str) -> Result<(), String> {
        let store = self.factory.store.store();
        let entries = self.runtime.block_on(load_path(&**store, &self.conversation_id, None));
        let entries = entries.map_err(|error| error_chain(&error))?;
        let text =
            write_journal(&self.conversation_id, &entries).map_err(|error| error_chain(&error))?;
        journal_file::write_new_file(Path::new(file), &text)?;
        self.printer.print_note(&format!("{} entries written to {file}", entries.len()));
        Ok(())
    }

    fn list_conversations(&mut self) -> io::Result<Result<(), String>> {
        let store = self.factory.store.store();
        match self.runtime.block_on(store.list(usize::MAX)) {
            Ok(summaries) => self.printer.print_output(&format_list(&summaries)).map(Ok),
            Err(error) => Ok(Err(error_chain(&error))),
        }
    }

    /// Continues another conversation, which must exist.
    fn switch_conversation(&mut self, id: String) -> io::Result<Result<(), String>> {
        let store = self.factory.store.store();
        let unknown = self.runtime.block_on(async {
            match store.tail(&id, TailEnd::Newest, 1).await?.is_empty() {
                true => unknown_id_message(&**store, &id).await.map(Some),
                false => Ok(None),
            }
        });
        match unknown {
            Err(error) => return Ok(Err(error_chain(&error))),
            Ok(Some(message)) => return Ok(Err(message)),
            Ok(None) => self.conversation_id = id,
        }
        self.pending_assistant_texts.clear();
        self.open_conversation().map(Ok)
    }

    /// Renders a prompt. In the role of the user it is sent at once; in that of the assistant, before the next message.
    fn insert_prompt(
        &mut self,
        name: &str,
        arguments: &[String],
    ) -> io::Result<Result<(), String>> {
        let rendered = match self.render_prompt(name, arguments) {
            Ok(rendered) => rendered,
            Err(message) => return Ok(Err(message)),
        };
        for note in &rendered.notes {
            self.printer.print_note(&format!("note: {note}"));
        }
        self.printer.print_note(&rendered.text);
        if rendered.role == Role::User {
            return self.send_message(&rendered.text).map(Ok);
        }
        self.pending_assistant_texts.push(rendered.text);
        self.printer.print_note("inserted before your next question");
        Ok(Ok(()))
    }

    fn render_prompt(
        &self,
        name: &str,
        arguments: &[String],
    ) -> Result<toolwright_core::RenderedPrompt, String> {
        if arguments.iter().any(|argument| argument == "-") {
            return Err("write the arguments here, as key=value or one JSON object".to_owned());
        }
        let snapshot = self.factory.invoker.snapshot();
        let snapshot = snapshot.map_err(|error| error_chain(&error))?;
        let prompt = snapshot.prompt(name).ok_or_else(|| {
            match snapshot.nearest_prompts(name, 1).first() {
                Some(nearest) => format!("there is no prompt `{name}`; did you mean `{nearest}`?"),
                None => format!("there is no prompt `{name}`"),
            }
        })?;
        let arguments = arguments::parse_arguments(arguments, prompt.spec())
            .map_err(|error| error.message())?;
        let scope = CallScope::new();
        let render = self.factory.invoker.render_prompt_in(&scope, name, arguments);
        let rendered = self.runtime.block_on(render);
        rendered.map_err(|failure| failure.text().into_owned())
    }
}
