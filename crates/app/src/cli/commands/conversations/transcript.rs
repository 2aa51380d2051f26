//! Formats a conversation as a readable transcript.

use std::collections::HashMap;

use toolwright_chat::{ApprovalVerdict, Entry, EntryBody, ItemKind, Step, TurnEnd, is_turn_over};
use toolwright_core::{CallId, ToolCall, ToolName, ToolResult};

use crate::cli::commands::chat::usage::UsageTotals;
use crate::cli::terminal::sanitize::{MAX_PREVIEW_CHARS, sanitize, to_safe_json, to_single_line};
use crate::cli::terminal::tool_output::content_to_text;

/// A time in the system's time zone, to the minute.
pub(crate) fn format_timestamp(millis: u64) -> String {
    let at = i64::try_from(millis)
        .ok()
        .and_then(|millis| jiff::Timestamp::from_millisecond(millis).ok());
    let Some(at) = at else {
        return "at no time".to_owned();
    };
    let at = at.to_zoned(jiff::tz::TimeZone::system());
    at.strftime("%Y-%m-%d %H:%M").to_string()
}

/// Messages, calls, results and the usage. Previews are truncated; `--json` has the full entries.
pub(super) fn format_transcript(id: &str, entries: &[Entry]) -> String {
    let mut transcript = TranscriptWriter::default();
    let began = entries.first().map_or(0, |entry| entry.at);
    let last = entries.last().map_or(0, |entry| entry.at);
    let (began, last) = (format_timestamp(began), format_timestamp(last));
    let count = entries.len();
    transcript.push_line(&format!("{id}: {count} entries, {began} to {last}"));
    for entry in entries {
        transcript.push_entry(entry);
    }
    if !is_turn_over(entries) {
        transcript
            .push_line(&format!("(not finished: `chat --conversation {id}` goes on with it)"));
    }
    transcript.text.push('\n');
    transcript.text.push_str(&transcript.usage.summary());
    transcript.text
}

#[derive(Default)]
struct TranscriptWriter {
    text: String,
    usage: UsageTotals,
    tool_names: HashMap<CallId, ToolName>,
    /// The calls that were made inside others, with the number of those.
    depths: HashMap<CallId, usize>,
    /// The indentation of the current entry.
    depth: usize,
}

impl TranscriptWriter {
    fn push_entry(&mut self, entry: &Entry) {
        let parent = entry.parent.as_ref();
        self.depth =
            parent.map_or(0, |parent| self.depths.get(parent).map_or(1, |depth| depth + 1));
        match &entry.body {
            EntryBody::User { content } => {
                self.text.push('\n');
                self.push_message("you", &content_to_text(content));
            }
            EntryBody::Assistant { content } => {
                self.push_message("assistant", &content_to_text(content))
            }
            EntryBody::Step { step, cost, .. } => {
                self.usage.add_step(step.usage, *cost);
                self.push_step(step);
            }
            EntryBody::ApprovalRequested { call, arguments, .. } => {
                let tool = self.tool_name(call);
                let arguments = to_single_line(&to_safe_json(arguments), MAX_PREVIEW_CHARS);
                self.push_line(&format!("? {tool} needs approval: {arguments}"));
            }
            EntryBody::ApprovalDecided { call, verdict, .. } => {
                let tool = self.tool_name(call);
                let verdict = to_single_line(&describe_verdict(verdict), MAX_PREVIEW_CHARS);
                self.push_line(&format!("! {tool} {verdict}"));
            }
            EntryBody::ChildCall { call, .. } => {
                self.depths.insert(call.id.clone(), self.depth);
                self.push_call(call);
            }
            EntryBody::CallFinished { result } => self.push_result(result),
            EntryBody::TurnEnded { end } => {
                if let Some(reason) = describe_turn_end(end) {
                    self.push_line(&format!("({})", to_single_line(&reason, MAX_PREVIEW_CHARS)));
                }
            }
            // The start of a call is not shown: its result is, or the note that the turn is not finished.
            _ => {}
        }
    }

    fn push_step(&mut self, step: &Step) {
        let model = step.model.to_string();
        for item in &step.items {
            match &item.kind {
                ItemKind::Text { text } if !text.is_empty() => self.push_message(&model, text),
                ItemKind::Refusal { text } => {
                    self.push_message(&model, &format!("(refuses) {text}"))
                }
                ItemKind::Reasoning { text } if !text.is_empty() => {
                    let text = to_single_line(text, MAX_PREVIEW_CHARS);
                    self.push_line(&format!("{model} thinks: {text}"));
                }
                ItemKind::Call { call } => self.push_call(call),
                ItemKind::HostedCall { tool, input, output, failed } => {
                    let failed = if *failed { "failed: " } else { "" };
                    let (input, output) = (
                        to_single_line(input, MAX_PREVIEW_CHARS),
                        to_single_line(output, MAX_PREVIEW_CHARS),
                    );
                    self.push_line(&format!("→ {tool} (run by the vendor) {input}"));
                    self.push_line(&format!("← {failed}{output}"));
                }
                ItemKind::HostedApproval { id, server, tool, .. } => {
                    let tool = format!("{server}.{tool}");
                    self.tool_names.insert(id.as_str().into(), tool.into());
                }
                _ => {}
            }
        }
    }

    fn push_call(&mut self, call: &ToolCall) {
        self.tool_names.insert(call.id.clone(), call.name.clone());
        let arguments = to_single_line(call.arguments.as_str(), MAX_PREVIEW_CHARS);
        self.push_line(&format!("→ {} {arguments}", call.name));
    }

    fn push_result(&mut self, result: &ToolResult) {
        let outcome = match result.is_error() {
            true => format!("{}: ", result.outcome),
            false => String::new(),
        };
        let text = to_single_line(&content_to_text(&result.content), MAX_PREVIEW_CHARS);
        self.push_line(&format!("← {}: {outcome}{text}", result.tool));
    }

    fn tool_name(&self, call: &CallId) -> String {
        let tool = self.tool_names.get(call);
        tool.map_or_else(|| call.to_string(), ToString::to_string)
    }

    /// A message without truncation; its continuation lines are indented.
    fn push_message(&mut self, role: &str, text: &str) {
        let text = text.trim_end().replace('\n', "\n    ");
        self.push_line(&format!("{role}: {text}"));
    }

    fn push_line(&mut self, text: &str) {
        self.text.push_str(&"  ".repeat(self.depth));
        self.text.push_str(&sanitize(text));
        self.text.push('\n');
    }
}

fn describe_verdict(verdict: &ApprovalVerdict) -> String {
    match verdict {
        ApprovalVerdict::Approve => "was approved".to_owned(),
        ApprovalVerdict::Edit { arguments } => {
            format!("was approved with {}", to_safe_json(arguments))
        }
        ApprovalVerdict::Deny { reason } => format!("was denied: {reason}"),
        ApprovalVerdict::Answer { content } => {
            format!("was answered by hand: {}", content_to_text(content))
        }
        _ => "was decided about".to_owned(),
    }
}

/// The reason why a turn has no complete answer; `None` if it has one.
fn describe_turn_end(end: &TurnEnd) -> Option<String> {
    match end {
        TurnEnd::Answered | TurnEnd::Direct => None,
        TurnEnd::Length => {
            Some("cut off: the model reached the most tokens of an answer".to_owned())
        }
        TurnEnd::Limit { reason } => Some(format!("ended by a limit: {reason}")),
        TurnEnd::Failed { reason } => Some(format!("failed: {reason}")),
        TurnEnd::Cancelled => Some("cancelled".to_owned()),
        _ => Some("ended".to_owned()),
    }
}
