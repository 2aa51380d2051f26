//! What is wanted and what was done in, what can be done next out.

use serde_json::Value;
use toolwright_core::ToolResult;

use crate::desk::{Desk, Item};
use crate::recall::Known;
use crate::talk::Talk;

/// How far the things that a question wants have come.
#[derive(Default)]
pub(crate) struct Progress {
    /// What can be called now: tools and their arguments.
    pub(crate) calls: Vec<(String, String)>,
    /// What has to be asked: tools, and the names of what is missing.
    pub(crate) asks: Vec<(usize, Vec<String>)>,
    /// The things that are asked about.
    pub(crate) open: Vec<Item>,
    /// The tools of what cannot go on, because what it leans on has failed.
    pub(crate) dropped: Vec<usize>,
}

impl Progress {
    /// Compares what is wanted with the calls of a turn.
    pub(crate) fn of(desk: &Desk<'_>, items: &[Item], talk: &Talk<'_>, turn: usize) -> Self {
        let mut progress = Self::default();
        let made = talk.made(turn);
        let mut left: Vec<_> = made.iter().collect();
        let mut failed = false;
        let mut known = Known::of(talk.until(turn + 1));
        for item in items {
            // What one part of a question says, the others may mean.
            known.add(&desk.fill(item, None).arguments);
        }
        for item in items {
            let Some(spec) = desk.spec(item.tool) else {
                continue;
            };
            if let Some(at) = left.iter().position(|(call, _)| call.name == spec.name) {
                let (_, result) = left.remove(at);
                failed = result.is_none_or(ToolResult::is_error);
                continue;
            }
            let leans = item.leans && item.replies.is_empty() && items.len() > 1;
            if leans && !progress.calls.is_empty() {
                break;
            }
            if leans && failed {
                progress.dropped.push(item.tool);
                continue;
            }
            let filled = desk.fill(item, Some(&known));
            if !filled.missing.is_empty() {
                progress.asks.push((item.tool, filled.missing));
                progress.open.push(item.clone());
                continue;
            }
            let name = spec.name.as_str();
            let arguments = Value::Object(filled.arguments).to_string();
            let same = |(call, _): &(&toolwright_core::ToolCall, _)| {
                call.name == name && call.arguments.as_str() == arguments
            };
            // The same call twice has the same result, or fails twice.
            let again = progress
                .calls
                .iter()
                .any(|(tool, sent)| tool == name && *sent == arguments);
            if !again && !made.iter().any(same) {
                progress.calls.push((name.to_owned(), arguments));
            }
        }
        progress
    }
}
