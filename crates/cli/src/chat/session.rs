//! `chat` as a person knows it: question, answer, question, and commands in between.

use std::io;
use std::process::ExitCode;
use std::sync::Arc;

use tokio::runtime::Runtime;
use toolwright_chat::{Chat, TurnEnd, TurnRequest};

use super::command::{self, Command};
use super::input::{Input, Line};
use super::interrupt::Interrupts;
use super::resume::{self, Standing};
use super::screen::Screen;
use super::setup::Setup;
use super::tally::Tally;
use super::trouble;
use super::turn::{Over, play};
use super::typing::Typing;
use crate::attach::Person;
use crate::failure::{Failure, chain};
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
    person: &Person,
    interrupts: &Interrupts,
    runtime: &Runtime,
) -> Result<ExitCode, Failure> {
    let input = Arc::new(Input::open(typing(setup)?, interrupts.clone()));
    person.through(Arc::clone(&input) as _);
    let shown = Arc::clone(&input);
    setup
        .servers
        .report_with(move |warning| shown.show(&format!("warning: {warning}")));
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
        self.go_on()?;
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

    /// Says which conversation this is, and finishes its last turn if that was interrupted.
    fn go_on(&mut self) -> io::Result<()> {
        let conversation = self.conversation.clone();
        let screen = &mut self.screen;
        let mut busy = || screen.note("another process has this conversation: waiting for it");
        let taking = resume::take(self.setup, &conversation, &mut busy);
        let standing = match self.runtime.block_on(taking) {
            Ok(standing) => standing,
            Err(error) => {
                self.screen.error(&chain(&error));
                return Ok(());
            }
        };
        let kept = &self.setup.store;
        match standing {
            Standing::New if kept.keeps() => {
                let place = kept.place();
                self.screen
                    .note(&format!("conversation {conversation}, kept in {place}"));
            }
            Standing::New => self.screen.note("this conversation is not kept"),
            Standing::Over => self
                .screen
                .note(&format!("going on with conversation {conversation}")),
            Standing::Interrupted => {
                self.screen.note(resume::FINISHING);
                let ask = self.chat.resume(&conversation);
                return self.play(ask);
            }
        }
        let given_back = resume::give_back(self.setup, &conversation);
        if let Err(error) = self.runtime.block_on(given_back) {
            self.screen.error(&chain(&error));
        }
        Ok(())
    }

    /// Asks a question; whatever comes of it, the session goes on.
    fn ask(&mut self, question: &str) -> io::Result<()> {
        let mut ask = self.chat.message().conversation(&self.conversation);
        for words in self.inserted.drain(..) {
            ask = ask.assistant(words);
        }
        self.play(ask.user(question.trim()))
    }

    fn play(&mut self, ask: TurnRequest) -> io::Result<()> {
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
            Over::Ended(TurnEnd::Cancelled) => self.screen.note("cancelled"),
            Over::Ended(TurnEnd::Length) => {
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
