//! A turn in, what its question wants out: a plan of its own, or the rest of one that was asked back about.

use crate::desk::{Desk, Item};
use crate::plan::plan;
use crate::progress::Progress;
use crate::recall::Known;
use crate::talk::Talk;
use crate::words::Text;

/// What a question wants.
pub(crate) enum Wish {
    /// These things, in this order.
    Items(Vec<Item>),
    /// That what was asked back about is forgotten.
    Nothing,
}

/// Reads what the question of a turn wants; `depth` is how many questions of ours before it may count.
pub(crate) fn wish(talk: &Talk<'_>, desk: &Desk<'_>, turn: usize, depth: usize) -> Wish {
    let question = talk.question(turn);
    let known = Known::of(talk.until(turn));
    let open = match turn.checked_sub(1) {
        Some(before) if depth > 0 && talk.asked(before) => open(talk, desk, before, depth - 1),
        _ => Vec::new(),
    };
    let reply = reply(desk, open, &question, &known);
    reply.unwrap_or_else(|| Wish::Items(plan(desk, &question, &known)))
}

/// What a turn left open.
fn open(talk: &Talk<'_>, desk: &Desk<'_>, turn: usize, depth: usize) -> Vec<Item> {
    match wish(talk, desk, turn, depth) {
        Wish::Items(items) => Progress::of(desk, &items, talk, turn).open,
        Wish::Nothing => Vec::new(),
    }
}

/// Reads a message as the answer to what we asked back; nothing if it is a new question.
fn reply(desk: &Desk<'_>, mut open: Vec<Item>, said: &str, known: &Known) -> Option<Wish> {
    if open.is_empty() {
        return None;
    }
    let text = Text::new(said);
    let first = text.words.first();
    let refuses = ["no", "cancel", "stop", "never", "nevermind", "forget"];
    let short = text.words.len() < 4;
    let lower = text.source.to_lowercase();
    let unsure = ["don't know", "not sure", "no idea"];
    if short && first.is_some_and(|word| word.is(&refuses))
        || unsure.iter().any(|words| lower.contains(words))
    {
        return Some(Wish::Nothing);
    }
    let new = desk.best(&text, known);
    let elsewhere = new.as_ref().is_some_and(|fit| {
        let whole = fit.filled.missing.is_empty();
        if open.iter().any(|item| item.tool == fit.tool) {
            // Who asks the same again, and whole, does not answer.
            return fit.evidence >= 1.0 && whole;
        }
        fit.evidence >= 0.8 && whole || fit.evidence >= 1.0 && is_question(&text)
    });
    if elsewhere {
        return None;
    }
    let mut answered = false;
    for item in &mut open {
        let missing = desk.fill(item, Some(known)).missing.len();
        item.replies.push(said.to_owned());
        answered |= desk.fill(item, Some(known)).missing.len() < missing;
    }
    (answered || new.is_none()).then_some(Wish::Items(open))
}

/// Tells whether a text reads like a question or an order, not like an answer.
fn is_question(text: &Text<'_>) -> bool {
    const OPENERS: [&str; 13] = [
        "what", "what's", "how", "where", "when", "who", "which", "can", "could", "please", "tell",
        "show", "give",
    ];
    let first = text.words.first();
    first.is_some_and(|word| word.is(&OPENERS)) || text.source.trim_end().ends_with('?')
}
