//! `chat` as a person knows it: question, answer, question, and commands in between.

use std::io;
use std::process::ExitCode;
use std::sync::Arc;

use tokio::runtime::Runtime;
use toolwright_chat::{Ask, Chat, End};

use super::command::{self, Command};
use super::input::{Input, Line};
use super::interrupt::Interrupts;
use super::screen::Screen;
use super::setup::Setup;
use super::tally::Tally;
use super::trouble;
use super::turn::{Over, play};
use super::typing::Typing;
use crate::failure::Failure;
use crate::model::{self, Chosen};

mod act;

/// A conversation under way, and what its commands change.
struct Session<'a> {
    setup: &'a Setup,
    runtime: &'a Runtime,
    interrupts: &'a Interrupts,
    input: Arc<Input>,
    screen: Screen,
    chosen: Chosen,
    chat: Chat,
    conversation: String,
    /// Words to put into the model's mouth before the next question.
    inserted: Vec<String>,
    tally: Tally,
}

/// Talks until somebody leaves.
pub(crate) fn execute(
    setup: &Setup,
    chosen: Chosen,
    interrupts: &Interrupts,
    runtime: &Runtime,
) -> Result<ExitCode, Failure> {
    let input = Arc::new(Input::open(typing(setup)?, interrupts.clone()));
    let chat = setup.chat(&chosen.model, Arc::clone(&input) as _);
    let mut session = Session {
        setup,
        runtime,
        interrupts,
        input,
        screen: Screen::new(),
        chosen,
        chat,
        conversation: setup.conversation.clone(),
        inserted: Vec::new(),
        tally: Tally::default(),
    };
    match session.talk() {
        // Whoever read has gone, as `head` does.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        Err(error) => Err(Failure::finding(&error)),
        Ok(()) => Ok(ExitCode::SUCCESS),
    }
}

fn typing(setup: &Setup) -> Result<Typing, Failure> {
    let snapshot = setup.invoker.snapshot();
    let snapshot = snapshot.map_err(|error| Failure::finding(&error))?;
    let tools = snapshot.iter().map(|tool| tool.spec().name.to_string());
    let prompts = snapshot.prompts().map(|prompt| prompt.name().to_string());
    let vendors = model::vendors().map(str::to_owned);
    Ok(Typing {
        commands: command::names(),
        names: tools.chain(prompts).chain(vendors).collect(),
    })
}

impl Session<'_> {
    fn talk(&mut self) -> io::Result<()> {
        self.screen.begin(&self.chosen, self.setup, &self.chat);
        if self.input.is_terminal() {
            self.screen.note("/help says what to type; Ctrl-D leaves");
        }
        let mut interrupted = false;
        loop {
            let line = match self.input.next()? {
                Line::Over => return Ok(()),
                Line::Interrupted if interrupted => return Ok(()),
                Line::Interrupted => {
                    interrupted = true;
                    self.screen.note("Ctrl-C again, or Ctrl-D, leaves");
                    continue;
                }
                Line::Said(line) => line,
            };
            interrupted = false;
            if line.trim().is_empty() {
                continue;
            }
            let Some(command) = line.strip_prefix('/') else {
                self.ask(&line)?;
                continue;
            };
            match Command::read(command) {
                Ok(Command::Quit) => return Ok(()),
                Ok(command) => self.act(command)?,
                Err(wrong) => self.screen.error(&wrong),
            }
        }
    }

    /// Asks a question; whatever comes of it, the session goes on.
    fn ask(&mut self, question: &str) -> io::Result<()> {
        let mut ask = self.chat.prompt().conversation(&self.conversation);
        for words in self.inserted.drain(..) {
            ask = ask.assistant(words);
        }
        self.play(ask.user(question.trim()))
    }

    fn play(&mut self, ask: Ask) -> io::Result<()> {
        let ask = ask.cancel_on(self.interrupts.begin());
        let (screen, tally) = (&mut self.screen, &mut self.tally);
        let mut show = |event: &_| {
            tally.count(event);
            screen.show(event)
        };
        let over = self.runtime.block_on(play(ask, &mut show));
        self.interrupts.end();
        self.screen.close()?;
        match over {
            Over::Ended(End::Cancelled) => self.screen.note("cancelled"),
            Over::Ended(End::Length) => {
                let cut = "the answer is cut off: the model reached the most tokens of an answer";
                self.screen.error(cut);
            }
            Over::Ended(_) => {}
            Over::Failed(error) => self.screen.error(&trouble::told(&error)),
            Over::Unread(error) => return Err(error),
        }
        Ok(())
    }
}
