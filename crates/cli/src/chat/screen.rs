//! Events in, lines on a terminal out: the answer on stdout, everything else on stderr.

use std::io::{self, IsTerminal as _, Write};

use serde_json::Value;
use toolwright_chat::{ApprovalVerdict, Chat, ChatEvent, TurnEnd};
use toolwright_core::{CallId, ToolCall, ToolResult};

use super::setup::Setup;
use crate::call::{plain, progress};
use crate::clean::{clean, json, one_line};
use crate::model::Chosen;

/// How much of arguments and results is shown; an approval shows arguments whole.
const MOST: usize = 300;

/// What a person sees of a conversation.
pub(crate) struct Screen {
    out: Box<dyn Write + Send>,
    err: Box<dyn Write + Send>,
    colours: bool,
    open: Open,
    /// Whether this step of the model has said something, and the one before.
    said: bool,
    said_before: bool,
    /// Calls without a result yet.
    calls: Vec<CallId>,
}

/// What the last line is still open for.
#[derive(Clone, Copy, PartialEq)]
enum Open {
    Nothing,
    Answer,
    Thought,
}

#[derive(Clone, Copy)]
enum Colour {
    Dim = 2,
    Red = 31,
    Cyan = 36,
}

impl Screen {
    /// Shows things on stdout and stderr; coloured where stderr is a terminal and nobody minds.
    pub(crate) fn new() -> Self {
        let minds = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let colours = io::stderr().is_terminal() && !minds("NO_COLOR") && !dumb;
        Self::on(Box::new(io::stdout()), Box::new(io::stderr()), colours)
    }

    /// Shows all of it on stderr: what nobody has asked for just now.
    pub(crate) fn aside() -> Self {
        let screen = Self::new();
        Self::on(Box::new(io::stderr()), screen.err, screen.colours)
    }

    fn on(out: Box<dyn Write + Send>, err: Box<dyn Write + Send>, colours: bool) -> Self {
        Self {
            out,
            err,
            colours,
            open: Open::Nothing,
            said: false,
            said_before: false,
            calls: Vec::new(),
        }
    }

    /// Says who answers and why, and what is odd about that.
    pub(crate) fn begin(&mut self, chosen: &Chosen, setup: &Setup, chat: &Chat) {
        self.note(&chosen.line());
        self.warn(setup, chat);
    }

    /// Says what is odd about the servers that are attached, and about what the vendor lacks.
    pub(crate) fn warn(&mut self, setup: &Setup, chat: &Chat) {
        for warning in setup.servers.warnings().iter().chain(&chat.warnings()) {
            self.note(&format!("warning: {warning}"));
        }
    }

    /// Shows an event.
    pub(crate) fn show(&mut self, event: &ChatEvent) -> io::Result<()> {
        match event {
            ChatEvent::TurnStarted { .. } => self.calls.clear(),
            ChatEvent::Text { delta } => return self.text(delta),
            ChatEvent::Reasoning { delta } => self.thought(delta),
            ChatEvent::Call { call } => self.call(call),
            ChatEvent::HostedCall {
                tool,
                input,
                output,
                failed,
            } => self.hosted(tool, input, output, *failed),
            ChatEvent::Step { .. } => {
                (self.said_before, self.said) = (self.said, false);
            }
            ChatEvent::ApprovalDecided { verdict, .. } => self.verdict(verdict),
            ChatEvent::Progress {
                done,
                total,
                message,
                ..
            } => {
                let line = progress(*done, *total, message.as_deref());
                self.line(Colour::Dim, &format!("  {}", one_line(&line, MOST)));
            }
            ChatEvent::Update { result } => {
                let line = one_line(&plain(&result.content), MOST);
                self.line(Colour::Dim, &format!("  [....] {line}"));
            }
            ChatEvent::Result { result, millis } => self.result(result, *millis),
            ChatEvent::TurnEnded { end, content, .. } => {
                // Whatever was not streamed: a tool's own answer, or a refusal.
                if *end == TurnEnd::Direct || !self.said_before {
                    self.close()?;
                    self.text(&plain(content))?;
                }
                return self.close();
            }
            _ => {}
        }
        Ok(())
    }

    /// Prints what a command was asked for.
    pub(crate) fn print(&mut self, text: &str) -> io::Result<()> {
        self.close()?;
        self.out.write_all(clean(text).as_bytes())?;
        self.out.flush()
    }

    /// Tells something by the way.
    pub(crate) fn note(&mut self, text: &str) {
        self.line(Colour::Dim, &clean(text));
    }

    /// Tells what went wrong.
    pub(crate) fn error(&mut self, text: &str) {
        self.line(Colour::Red, &format!("error: {}", clean(text)));
    }

    /// Ends the line that is open, if one is.
    pub(crate) fn close(&mut self) -> io::Result<()> {
        match std::mem::replace(&mut self.open, Open::Nothing) {
            Open::Nothing => {}
            Open::Thought => self.raw("\n"),
            Open::Answer => {
                self.out.write_all(b"\n")?;
                self.out.flush()?;
            }
        }
        Ok(())
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        self.said = true;
        if self.open == Open::Thought {
            self.close()?;
        }
        let text = clean(text);
        self.open = match text.ends_with('\n') {
            true => Open::Nothing,
            false => Open::Answer,
        };
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }

    fn thought(&mut self, text: &str) {
        if self.open != Open::Thought {
            self.begin_line();
            let thinking = self.painted(Colour::Dim, "thinking: ");
            self.raw(&thinking);
            self.open = Open::Thought;
        }
        let text = self.painted(Colour::Dim, &clean(text));
        self.raw(&text);
    }

    fn call(&mut self, call: &ToolCall) {
        self.calls.push(call.id.clone());
        // As the model wrote it, on one line where it is JSON.
        let arguments = match serde_json::from_str::<Value>(call.arguments.as_str()) {
            Ok(arguments) => json(&arguments),
            Err(_) => call.arguments.as_str().to_owned(),
        };
        let line = format!("→ {} {}", call.name, one_line(&arguments, MOST));
        self.line(Colour::Cyan, &clean(&line));
    }

    fn hosted(&mut self, tool: &str, input: &str, output: &str, failed: bool) {
        let asked = format!("→ {tool} (run by the vendor) {input}");
        self.line(Colour::Cyan, &one_line(&asked, MOST));
        let failed = if failed { "failed: " } else { "" };
        if !output.is_empty() || !failed.is_empty() {
            let found = one_line(&format!("← {failed}{output}"), MOST);
            self.line(Colour::Dim, &found);
        }
    }

    fn verdict(&mut self, verdict: &ApprovalVerdict) {
        if let ApprovalVerdict::Edit { arguments } = verdict {
            self.line(Colour::Cyan, &format!("→ edited: {}", json(arguments)));
        }
    }

    fn result(&mut self, result: &ToolResult, millis: u64) {
        // With several under way, it has to say which one it is.
        let which = match self.calls.len() {
            0 | 1 => String::new(),
            _ => format!("{}: ", result.tool),
        };
        self.calls.retain(|call| *call != result.call_id);
        for note in &result.notes {
            self.note(&format!("  note: {note}"));
        }
        let (colour, outcome) = match result.is_error() {
            true => (Colour::Red, format!("{}: ", result.outcome)),
            false => (Colour::Dim, String::new()),
        };
        let text = one_line(&plain(&result.content), MOST);
        let line = format!("← {which}{outcome}{text} ({millis} ms)");
        self.line(colour, &clean(&line));
    }

    /// Writes a line to stderr; that nobody reads it is no reason to stop.
    fn line(&mut self, colour: Colour, text: &str) {
        self.begin_line();
        let line = self.painted(colour, text);
        self.raw(&format!("{line}\n"));
    }

    fn begin_line(&mut self) {
        // If stdout is gone, the next piece of the answer tells.
        let _ = self.close();
    }

    fn raw(&mut self, text: &str) {
        let _ = self.err.write_all(text.as_bytes());
        let _ = self.err.flush();
    }

    fn painted(&self, colour: Colour, text: &str) -> String {
        match self.colours {
            true => format!("\u{1b}[{}m{text}\u{1b}[0m", colour as u8),
            false => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests;
