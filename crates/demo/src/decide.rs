//! A request in, a decision out: which tools to call now, or what to say.
//!
//! Nothing is kept between requests. What was decided before is decided again from the same words, so the model picks up a
//! conversation wherever it is told one.

use toolwright_chat::ModelRequest;
use toolwright_core::ToolResult;

use crate::desk::Desk;
use crate::form;
use crate::index::Index;
use crate::progress::Progress;
use crate::recall::Known;
use crate::say;
use crate::talk::Talk;
use crate::wish::{Wish, wish};

/// How often we may have asked back before the question is taken as a new one.
const ASKED: usize = 4;

/// What the model does next.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Decision {
    /// Calls these tools with these arguments.
    Call(Vec<(String, String)>),
    /// Says this.
    Say(String),
}

/// Decides what to do.
pub(crate) fn decide(request: &ModelRequest, index: &Index) -> Decision {
    let desk = Desk::new(&request.tools, index, &request.tool_choice);
    let talk = Talk::new(&request.messages);
    let Some(newest) = talk.users.len().checked_sub(1) else {
        return Decision::Say(say::help(&desk));
    };
    let question = talk.question(newest);
    let items = match wish(&talk, &desk, newest, ASKED) {
        Wish::Items(items) => items,
        Wish::Nothing => return Decision::Say("All right, nothing was done.".to_owned()),
    };
    let progress = Progress::of(&desk, &items, &talk, newest);
    if !progress.calls.is_empty() {
        return Decision::Call(progress.calls);
    }
    let made = talk.made(newest);
    let results: Vec<&ToolResult> = made.iter().filter_map(|(_, result)| *result).collect();
    let mut said: Vec<String> = results
        .iter()
        .map(|result| say::result(&desk, result))
        .collect();
    said.extend(progress.asks.iter().map(|(tool, missing)| {
        let alone = items.len() == 1;
        say::ask(&desk, *tool, missing, alone)
    }));
    said.extend(
        progress
            .dropped
            .iter()
            .map(|tool| say::dropped(&desk, *tool)),
    );
    if let (Some(form), true) = (&request.response_format, progress.asks.is_empty()) {
        let failed = results.iter().any(|result| result.is_error());
        // Once tools were asked, only what they said now counts.
        let known = Known::of(match made.is_empty() {
            true => talk.until(newest),
            false => talk.since(newest),
        });
        if !failed {
            return Decision::Say(form::answer(form, &question, &known));
        }
    }
    if said.is_empty() {
        said.push(say::nothing_fits(&desk, &question));
    }
    Decision::Say(said.join("\n"))
}
