//! A question in, what it wants done out: one thing, several, or nothing that any tool can do.

use std::ops::Range;

use toolwright_chat::ToolChoice;

use crate::desk::{Desk, Fit, Item};
use crate::meaning::Meaning;
use crate::recall::Known;
use crate::shape::Shape;
use crate::words::Text;

mod split;

use split::{said, shared_tail, split};

/// How many parts of a question are looked at.
const MOST_PARTS: usize = 8;

/// Decides what a question wants done.
pub(crate) fn plan(desk: &Desk<'_>, question: &str, known: &Known) -> Vec<Item> {
    let text = Text::new(question);
    let whole = desk.best(&text, known);
    // Arguments that are written as JSON are not taken apart.
    if !matches!(desk.choice, ToolChoice::Named(_)) && !text.source.contains('{') {
        let items = by_parts(desk, &text, known);
        if items.len() > 1 {
            return items;
        }
    }
    match whole {
        Some(fit) => vec![Item::new(fit.tool, text.source)],
        None => follow_up(desk, &text, known),
    }
}

/// A part of a question, and the tool it is for.
struct Part {
    words: Range<usize>,
    item: Item,
    stated: usize,
}

/// Takes a question apart where each part wants something done.
fn by_parts(desk: &Desk<'_>, text: &Text<'_>, known: &Known) -> Vec<Item> {
    let ranges = split(text);
    if ranges.len() < 2 || ranges.len() > MOST_PARTS {
        return Vec::new();
    }
    let tail = shared_tail(text, &ranges);
    let mut known = known.clone();
    let mut parts: Vec<Part> = Vec::new();
    let mut from = None;
    for range in ranges {
        let start = from.take().unwrap_or(range.start);
        let said = said(text, start..range.end, tail.as_ref());
        let read = Text::new(&said);
        match desk.best(&read, &known) {
            Some(fit) => {
                // "There" in one part is what the part before it says.
                known.add(&fit.filled.arguments);
                add(desk, text, &mut parts, start..range.end, &said, fit);
            }
            None => match parts.last_mut() {
                None => from = Some(start),
                Some(last) => match alike(desk, text, last, range.end, &said) {
                    Some(part) => {
                        let words = start..range.end;
                        parts.push(Part { words, ..part });
                    }
                    // It says more about what came before.
                    None => extend(desk, text, last, range.end),
                },
            },
        }
    }
    let mut items: Vec<Item> = parts.into_iter().map(|part| part.item).collect();
    for item in items.iter_mut().skip(1) {
        // "The weather in London. Convert the temperature": what is missing comes from what was asked first.
        item.leans |= !desk.is_careful(item.tool) && !desk.fill(item, None).missing.is_empty();
    }
    items
}

fn add(
    desk: &Desk<'_>,
    text: &Text<'_>,
    parts: &mut Vec<Part>,
    words: Range<usize>,
    said: &str,
    fit: Fit,
) {
    if let Some(last) = parts.last_mut()
        && last.item.tool == fit.tool
    {
        let whole = text.between(last.words.start..words.end);
        let stated = desk.fill(&Item::new(fit.tool, whole), None).stated;
        if stated > last.stated || fit.filled.stated == 0 || wants_list(desk, fit.tool) {
            extend(desk, text, last, words.end);
            return;
        }
        let mut item = Item::new(fit.tool, said);
        // "Set the kitchen to 21 and the bedroom": what is not said again stays.
        if !fit.filled.missing.is_empty() {
            item.like = Some(desk.fill(&last.item, None).arguments);
        }
        let stated = fit.filled.stated;
        parts.push(Part {
            words,
            item,
            stated,
        });
        return;
    }
    let item = Item::new(fit.tool, said);
    let stated = fit.filled.stated;
    parts.push(Part {
        words,
        item,
        stated,
    });
}

/// Whether what is listed is one argument.
fn wants_list(desk: &Desk<'_>, tool: usize) -> bool {
    let params = desk.params(tool);
    let mut required = params.iter().filter(|param| param.required);
    required.any(|param| matches!(param.shape, Shape::List(_)))
}

fn extend(desk: &Desk<'_>, text: &Text<'_>, part: &mut Part, end: usize) {
    part.words.end = end;
    part.item = Item::new(part.item.tool, text.between(part.words.clone()));
    part.stated = desk.fill(&part.item, None).stated;
}

/// A part that is nothing but another value: "in Paris and London".
fn alike(desk: &Desk<'_>, text: &Text<'_>, last: &Part, end: usize, said: &str) -> Option<Part> {
    let whole = Item::new(last.item.tool, text.between(last.words.start..end));
    let before = desk.fill(&last.item, None);
    if !before.missing.is_empty() || desk.fill(&whole, None).stated > last.stated {
        return None;
    }
    let mut item = Item::new(last.item.tool, said);
    item.like = Some(before.arguments);
    let filled = desk.fill(&item, None);
    let params = desk.params(item.tool);
    let listed = |name: &str| {
        let param = params.iter().find(|param| param.name == name);
        param.is_some_and(|param| match param.meaning {
            Meaning::Place | Meaning::Id | Meaning::Url | Meaning::Email | Meaning::Path => true,
            _ => matches!(param.shape, Shape::Choice(_)),
        })
    };
    let text = Text::new(said);
    let every = text.words.iter().zip(&filled.used).all(|(word, used)| {
        *used
            || word.is(&[
                "in", "at", "the", "for", "of", "to", "and", "what", "about", "also",
            ])
    });
    let before = item.like.as_ref()?;
    let changed = filled
        .arguments
        .iter()
        .any(|(name, value)| before.get(name) != Some(value) && listed(name));
    (every && changed && filled.missing.is_empty()).then_some(Part {
        words: last.words.clone(),
        item,
        stated: filled.stated,
    })
}

/// "And in London?" asks again what was asked last, about something else.
fn follow_up(desk: &Desk<'_>, text: &Text<'_>, known: &Known) -> Vec<Item> {
    let leads = text
        .words
        .first()
        .is_some_and(|word| word.is(&["and", "what", "how", "same", "now", "or", "in", "for"]));
    if !leads && text.words.len() > 3 || *desk.choice == ToolChoice::None {
        return Vec::new();
    }
    let mut items: Vec<Item> = Vec::new();
    for call in &known.last {
        let Some(tool) = desk
            .tools
            .iter()
            .position(|entry| entry.spec().name == call.name)
        else {
            continue;
        };
        let mut item = Item::new(tool, text.source);
        item.like = serde_json::from_str(call.arguments.as_str()).ok();
        let filled = desk.fill(&item, None);
        let again = items.iter().any(|item| item.tool == tool);
        let used = filled.used.iter().filter(|used| **used).count();
        let open = text
            .words
            .iter()
            .zip(&filled.used)
            .filter(|(word, used)| !**used && !crate::words::is_stop(&word.lower));
        if used > 0 && open.count() == 0 && filled.missing.is_empty() && !again {
            items.push(item);
        }
    }
    items
}
