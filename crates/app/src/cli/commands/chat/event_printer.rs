//! Prints chat events: the answer on stdout, everything else on stderr.

use std::io::{self, IsTerminal as _, Write};

use serde_json::Value;
use toolwright_chat::{ApprovalVerdict, Chat, ChatEvent, TurnEnd};
use toolwright_core::{CallId, ToolCall, ToolResult};

use super::chat_factory::ChatFactory;
use crate::cli::terminal::sanitize::{MAX_PREVIEW_CHARS, sanitize, to_safe_json, to_single_line};
use crate::cli::terminal::tool_output::{content_to_text, format_progress};
use crate::project::model_selection::SelectedModel;

/// Prints the events of a conversation as they happen.
pub(crate) struct EventPrinter {
    out: Box<dyn Write + Send>,
    err: Box<dyn Write + Send>,
    colours: bool,
    open_line: OpenLine,
    /// Whether the current step of the model has printed text, and the previous one.
    step_has_text: bool,
    previous_step_has_text: bool,
    /// Calls without a result.
    running_calls: Vec<CallId>,
}

/// What the unfinished last line belongs to.
#[derive(Clone, Copy, PartialEq)]
enum OpenLine {
    Nothing,
    Answer,
    Reasoning,
}

#[derive(Clone, Copy)]
enum Colour {
    Dim = 2,
    Red = 31,
    Cyan = 36,
}

impl EventPrinter {
    /// Prints to stdout and stderr; coloured if stderr is a terminal, unless `NO_COLOR` is set or `TERM` is `dumb`.
    pub(crate) fn new() -> Self {
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let colours = io::stderr().is_terminal() && !no_color && !dumb;
        Self::with_writers(Box::new(io::stdout()), Box::new(io::stderr()), colours)
    }

    /// Prints everything to stderr; for a turn that is not the requested one.
    pub(crate) fn stderr_only() -> Self {
        let Self { err, colours, .. } = Self::new();
        Self::with_writers(Box::new(io::stderr()), err, colours)
    }

    fn with_writers(out: Box<dyn Write + Send>, err: Box<dyn Write + Send>, colours: bool) -> Self {
        Self {
            out,
            err,
            colours,
            open_line: OpenLine::Nothing,
            step_has_text: false,
            previous_step_has_text: false,
            running_calls: Vec::new(),
        }
    }

    /// Prints the model, the reason for its selection, and the warnings.
    pub(crate) fn print_header(
        &mut self,
        selected: &SelectedModel,
        factory: &ChatFactory<'_>,
        chat: &Chat,
    ) {
        self.print_note(&selected.summary());
        self.print_warnings(factory, chat);
    }

    /// Prints the warnings about attached servers and about features that the vendor lacks.
    pub(crate) fn print_warnings(&mut self, factory: &ChatFactory<'_>, chat: &Chat) {
        for warning in factory.servers.warnings().iter().chain(&chat.warnings()) {
            self.print_note(&format!("warning: {warning}"));
        }
    }

    /// Prints an event; an error means that stdout is closed.
    pub(crate) fn print_event(&mut self, event: &ChatEvent) -> io::Result<()> {
        match event {
            ChatEvent::TurnStarted { .. } => self.running_calls.clear(),
            ChatEvent::Fallback { model, reason } => {
                self.print_note(&format!("{reason}: {model} answers"));
            }
            ChatEvent::Text { delta } => return self.print_answer(delta),
            ChatEvent::Reasoning { delta } => self.print_reasoning(delta),
            ChatEvent::Call { call } | ChatEvent::ChildCall { call, .. } => self.print_call(call),
            ChatEvent::HostedCall { tool, input, output, failed } => {
                self.print_hosted_call(tool, input, output, *failed)
            }
            ChatEvent::Step { .. } => {
                (self.previous_step_has_text, self.step_has_text) = (self.step_has_text, false);
            }
            ChatEvent::ApprovalDecided { verdict, .. } => self.print_approval_verdict(verdict),
            ChatEvent::Progress { done, total, message, .. } => {
                let line = format_progress(*done, *total, message.as_deref());
                self.print_line(
                    Colour::Dim,
                    &format!("  {}", to_single_line(&line, MAX_PREVIEW_CHARS)),
                );
            }
            ChatEvent::Update { result } => {
                let line = to_single_line(&content_to_text(&result.content), MAX_PREVIEW_CHARS);
                self.print_line(Colour::Dim, &format!("  [....] {line}"));
            }
            ChatEvent::Result { result, millis } => self.print_result(result, *millis),
            ChatEvent::TurnEnded { end, content, .. } => {
                // Content that was not streamed: the direct answer of a tool, or a refusal.
                if *end == TurnEnd::Direct || !self.previous_step_has_text {
                    self.end_open_line()?;
                    self.print_answer(&content_to_text(content))?;
                }
                return self.end_open_line();
            }
            _ => {}
        }
        Ok(())
    }

    /// Prints the output of a slash command to stdout.
    pub(crate) fn print_output(&mut self, text: &str) -> io::Result<()> {
        self.end_open_line()?;
        self.out.write_all(sanitize(text).as_bytes())?;
        self.out.flush()
    }

    /// Prints a note to stderr.
    pub(crate) fn print_note(&mut self, text: &str) {
        self.print_line(Colour::Dim, &sanitize(text));
    }

    /// Prints an error to stderr.
    pub(crate) fn print_error(&mut self, text: &str) {
        self.print_line(Colour::Red, &format!("error: {}", sanitize(text)));
    }

    /// Ends the unfinished line, if there is one.
    pub(crate) fn end_open_line(&mut self) -> io::Result<()> {
        match std::mem::replace(&mut self.open_line, OpenLine::Nothing) {
            OpenLine::Nothing => {}
            OpenLine::Reasoning => self.write_stderr("\n"),
            OpenLine::Answer => {
                self.out.write_all(b"\n")?;
                self.out.flush()?;
            }
        }
        Ok(())
    }

    fn print_answer(&mut self, text: &str) -> io::Result<()> {
        if text.is_empty() {
            return Ok(());
        }
        self.step_has_text = true;
        if self.open_line == OpenLine::Reasoning {
            self.end_open_line()?;
        }
        let text = sanitize(text);
        self.open_line = match text.ends_with('\n') {
            true => OpenLine::Nothing,
            false => OpenLine::Answer,
        };
        self.out.write_all(text.as_bytes())?;
        self.out.flush()
    }

    fn print_reasoning(&mut self, text: &str) {
        if self.open_line != OpenLine::Reasoning {
            self.start_line();
            let thinking = self.colorize(Colour::Dim, "thinking: ");
            self.write_stderr(&thinking);
            self.open_line = OpenLine::Reasoning;
        }
        let text = self.colorize(Colour::Dim, &sanitize(text));
        self.write_stderr(&text);
    }

    fn print_call(&mut self, call: &ToolCall) {
        self.running_calls.push(call.id.clone());
        // Valid JSON is printed on one line, anything else as the model sent it.
        let arguments = match serde_json::from_str::<Value>(call.arguments.as_str()) {
            Ok(arguments) => to_safe_json(&arguments),
            Err(_) => call.arguments.as_str().to_owned(),
        };
        let line = format!("→ {} {}", call.name, to_single_line(&arguments, MAX_PREVIEW_CHARS));
        self.print_line(Colour::Cyan, &sanitize(&line));
    }

    fn print_hosted_call(&mut self, tool: &str, input: &str, output: &str, failed: bool) {
        let line = format!("→ {tool} (run by the vendor) {input}");
        self.print_line(Colour::Cyan, &to_single_line(&line, MAX_PREVIEW_CHARS));
        let failed = if failed { "failed: " } else { "" };
        if !output.is_empty() || !failed.is_empty() {
            let line = to_single_line(&format!("← {failed}{output}"), MAX_PREVIEW_CHARS);
            self.print_line(Colour::Dim, &line);
        }
    }

    fn print_approval_verdict(&mut self, verdict: &ApprovalVerdict) {
        if let ApprovalVerdict::Edit { arguments } = verdict {
            self.print_line(Colour::Cyan, &format!("→ edited: {}", to_safe_json(arguments)));
        }
    }

    fn print_result(&mut self, result: &ToolResult, millis: u64) {
        // The tool is named if several calls are running.
        let tool = match self.running_calls.len() {
            0 | 1 => String::new(),
            _ => format!("{}: ", result.tool),
        };
        self.running_calls.retain(|call| *call != result.call_id);
        for note in &result.notes {
            self.print_note(&format!("  note: {note}"));
        }
        let (colour, outcome) = match result.is_error() {
            true => (Colour::Red, format!("{}: ", result.outcome)),
            false => (Colour::Dim, String::new()),
        };
        let text = to_single_line(&content_to_text(&result.content), MAX_PREVIEW_CHARS);
        let line = format!("← {tool}{outcome}{text} ({millis} ms)");
        self.print_line(colour, &sanitize(&line));
    }

    /// Writes a line to stderr; errors are ignored.
    fn print_line(&mut self, colour: Colour, text: &str) {
        self.start_line();
        let line = self.colorize(colour, text);
        self.write_stderr(&format!("{line}\n"));
    }

    fn start_line(&mut self) {
        // If stdout is closed, the next write to it reports that.
        let _ = self.end_open_line();
    }

    fn write_stderr(&mut self, text: &str) {
        let _ = self.err.write_all(text.as_bytes());
        let _ = self.err.flush();
    }

    fn colorize(&self, colour: Colour, text: &str) -> String {
        match self.colours {
            true => format!("\u{1b}[{}m{text}\u{1b}[0m", colour as u8),
            false => text.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests;
