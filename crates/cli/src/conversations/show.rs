//! Entries in, a transcript that a person reads out.

use std::collections::HashMap;

use toolwright_chat::{ApprovalVerdict, Entry, EntryBody, ItemKind, Step, TurnEnd};
use toolwright_core::{CallId, ToolCall, ToolName, ToolResult};

use crate::call::plain;
use crate::chat::tally::Tally;
use crate::clean::{clean, json, one_line};

/// How much of arguments and results is shown; `--json` shows them whole.
const MOST: usize = 300;

/// When something happened, on this machine's clock.
pub(crate) fn when(millis: u64) -> String {
    let at = i64::try_from(millis)
        .ok()
        .and_then(|millis| jiff::Timestamp::from_millisecond(millis).ok());
    let Some(at) = at else {
        return "at no time".to_owned();
    };
    let at = at.to_zoned(jiff::tz::TimeZone::system());
    at.strftime("%Y-%m-%d %H:%M").to_string()
}

/// Writes who said what, what was called and what came of it, and what it took.
pub(super) fn transcript(id: &str, entries: &[Entry]) -> String {
    let mut told = Transcript::default();
    let began = entries.first().map_or(0, |entry| entry.at);
    let last = entries.last().map_or(0, |entry| entry.at);
    let (began, last) = (when(began), when(last));
    let count = entries.len();
    told.line(&format!("{id}: {count} entries, {began} to {last}"));
    for entry in entries {
        told.entry(&entry.body);
    }
    if !matches!(
        entries.last().map(|entry| &entry.body),
        Some(EntryBody::TurnEnded { .. })
    ) {
        told.line(&format!(
            "(not finished: `chat --conversation {id}` goes on with it)"
        ));
    }
    told.text.push('\n');
    told.text.push_str(&told.tally.told());
    told.text
}

#[derive(Default)]
struct Transcript {
    text: String,
    tally: Tally,
    tools: HashMap<CallId, ToolName>,
}

impl Transcript {
    fn entry(&mut self, what: &EntryBody) {
        match what {
            EntryBody::User { content } => {
                self.text.push('\n');
                self.said("you", &plain(content));
            }
            EntryBody::Assistant { content } => self.said("assistant", &plain(content)),
            EntryBody::Step { step, cost, .. } => {
                self.tally.add(step.usage, *cost);
                self.step(step);
            }
            EntryBody::ApprovalRequested {
                call, arguments, ..
            } => {
                let tool = self.tool(call);
                let arguments = one_line(&json(arguments), MOST);
                self.line(&format!("? {tool} needs approval: {arguments}"));
            }
            EntryBody::ApprovalDecided { call, verdict } => {
                let tool = self.tool(call);
                let decided = decided(verdict);
                self.line(&format!("! {tool} {}", one_line(&decided, MOST)));
            }
            EntryBody::CallFinished { result } => self.result(result),
            EntryBody::TurnEnded { end } => {
                if let Some(why) = ended(end) {
                    self.line(&format!("({})", one_line(&why, MOST)));
                }
            }
            // A call that starts is told by its result; of one without, the last line tells.
            _ => {}
        }
    }

    fn step(&mut self, step: &Step) {
        let model = step.model.to_string();
        for item in &step.items {
            match &item.kind {
                ItemKind::Text { text } if !text.is_empty() => self.said(&model, text),
                ItemKind::Refusal { text } => self.said(&model, &format!("(refuses) {text}")),
                ItemKind::Reasoning { text } if !text.is_empty() => {
                    let text = one_line(text, MOST);
                    self.line(&format!("{model} thinks: {text}"));
                }
                ItemKind::Call { call } => self.call(call),
                ItemKind::HostedCall {
                    tool,
                    input,
                    output,
                    failed,
                } => {
                    let failed = if *failed { "failed: " } else { "" };
                    let (input, output) = (one_line(input, MOST), one_line(output, MOST));
                    self.line(&format!("→ {tool} (run by the vendor) {input}"));
                    self.line(&format!("← {failed}{output}"));
                }
                ItemKind::HostedApproval {
                    id, server, tool, ..
                } => {
                    let tool = format!("{server}.{tool}");
                    self.tools.insert(id.as_str().into(), tool.into());
                }
                _ => {}
            }
        }
    }

    fn call(&mut self, call: &ToolCall) {
        self.tools.insert(call.id.clone(), call.name.clone());
        let arguments = one_line(call.arguments.as_str(), MOST);
        self.line(&format!("→ {} {arguments}", call.name));
    }

    fn result(&mut self, result: &ToolResult) {
        let outcome = match result.is_error() {
            true => format!("{}: ", result.outcome),
            false => String::new(),
        };
        let text = one_line(&plain(&result.content), MOST);
        self.line(&format!("← {}: {outcome}{text}", result.tool));
    }

    fn tool(&self, call: &CallId) -> String {
        let tool = self.tools.get(call);
        tool.map_or_else(|| call.to_string(), ToString::to_string)
    }

    /// What somebody said, whole; further lines are set in.
    fn said(&mut self, who: &str, text: &str) {
        let text = text.trim_end().replace('\n', "\n    ");
        self.line(&format!("{who}: {text}"));
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(&clean(text));
        self.text.push('\n');
    }
}

fn decided(verdict: &ApprovalVerdict) -> String {
    match verdict {
        ApprovalVerdict::Approve => "was approved".to_owned(),
        ApprovalVerdict::Edit { arguments } => format!("was approved with {}", json(arguments)),
        ApprovalVerdict::Deny { reason } => format!("was denied: {reason}"),
        ApprovalVerdict::Answer { content } => format!("was answered by hand: {}", plain(content)),
        _ => "was decided about".to_owned(),
    }
}

/// Why a turn has no answer; nothing where it has one.
fn ended(end: &TurnEnd) -> Option<String> {
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
