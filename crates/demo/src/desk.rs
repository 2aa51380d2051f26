//! Tools and a sentence in, the tool that fits best out, with what the sentence gives it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use serde_json::{Map, Value};
use toolwright_chat::ToolChoice;
use toolwright_core::{RegisteredTool, ToolSpec};

use crate::fill::{Filled, Setting, fill};
use crate::index::{Hit, Index};
use crate::meaning::Meaning;
use crate::recall::Known;
use crate::shape::{Param, params};
use crate::words::{Text, alike, is_stop, leans, parts, synonyms};

/// How many tools are looked at closely.
const CANDIDATES: usize = 12;

/// The least evidence that makes a tool the answer to a question.
const ENOUGH: f32 = 0.5;

/// The tools of one request, and what was read of them.
pub(crate) struct Desk<'a> {
    pub(crate) tools: &'a [RegisteredTool],
    pub(crate) index: &'a Index,
    pub(crate) choice: &'a ToolChoice,
    read: RefCell<HashMap<usize, Rc<[Param]>>>,
}

/// A tool beside a sentence.
#[derive(Clone, Debug)]
pub(crate) struct Fit {
    pub(crate) tool: usize,
    pub(crate) evidence: f32,
    pub(crate) filled: Filled,
    rank: f32,
}

/// One thing that a question wants done.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) tool: usize,
    /// The part of the question that wants it.
    pub(crate) clause: String,
    /// What was answered when we asked for what is missing.
    pub(crate) replies: Vec<String>,
    /// Arguments to take over from a call that it is like.
    pub(crate) like: Option<Map<String, Value>>,
    /// Whether it leans on what came before.
    pub(crate) leans: bool,
}

impl Item {
    pub(crate) fn new(tool: usize, clause: &str) -> Self {
        Self {
            tool,
            clause: clause.to_owned(),
            replies: Vec::new(),
            like: None,
            leans: leans(&Text::new(clause)),
        }
    }
}

impl<'a> Desk<'a> {
    pub(crate) fn new(
        tools: &'a [RegisteredTool],
        index: &'a Index,
        choice: &'a ToolChoice,
    ) -> Self {
        Self {
            tools,
            index,
            choice,
            read: RefCell::default(),
        }
    }

    pub(crate) fn spec(&self, tool: usize) -> Option<&'a ToolSpec> {
        self.tools.get(tool).map(RegisteredTool::spec)
    }

    /// Returns a tool's parameters, read once.
    pub(crate) fn params(&self, tool: usize) -> Rc<[Param]> {
        let known = self.read.borrow().get(&tool).cloned();
        known.unwrap_or_else(|| {
            let read = self.spec(tool).map(|spec| params(spec.input.as_value()));
            let read: Rc<[Param]> = read.unwrap_or_default().into();
            self.read.borrow_mut().insert(tool, Rc::clone(&read));
            read
        })
    }

    /// Returns the tool that fits a sentence best, if one fits well enough.
    pub(crate) fn best(&self, text: &Text<'_>, known: &Known) -> Option<Fit> {
        let candidates = match self.choice {
            ToolChoice::None => Vec::new(),
            ToolChoice::Named(name) => {
                let tool = self
                    .tools
                    .iter()
                    .position(|entry| entry.spec().name == name.as_str());
                tool.map(|tool| self.index.hit(text, tool))
                    .into_iter()
                    .collect()
            }
            _ => self.index.find(text, CANDIDATES),
        };
        let enough = match self.choice {
            ToolChoice::Named(_) => f32::MIN,
            ToolChoice::Required => f32::EPSILON,
            _ => ENOUGH,
        };
        let fits = candidates.into_iter().map(|hit| self.fit(hit, text, known));
        let fits = fits.filter(|fit| fit.evidence >= enough);
        // The first of equals: hits come in a stable order.
        fits.reduce(|best, fit| if fit.rank > best.rank { fit } else { best })
    }

    fn fit(&self, hit: Hit, text: &Text<'_>, known: &Known) -> Fit {
        let params = self.params(hit.tool);
        let setting = self.setting(&hit, leans(text), Some(known));
        let filled = fill(&params, text, setting);
        let called = text.words.iter().any(|word| {
            let spec = self.spec(hit.tool);
            spec.is_some_and(|spec| {
                spec.name.as_str().eq_ignore_ascii_case(word.text) && word.text.contains(['_', '-'])
            })
        });
        let by_name = if called { 5.0 } else { 0.0 };
        let open = unexplained(text, &hit, &filled, &params) as f32;
        let missing = filled.missing.len() as f32;
        let (unasked, forbidden) = self.unasked(&hit, text);
        let given = filled.stated as f32;
        Fit {
            tool: hit.tool,
            rank: hit.rank + filled.evidence + by_name + 0.3 * given
                - 0.8 * missing
                - 0.35 * open
                - unasked,
            evidence: hit.evidence + filled.evidence + by_name - 0.2 * open - forbidden,
            filled,
        }
    }

    /// What a tool that changes something loses when nobody says its verb; one that destroys, everything.
    fn unasked(&self, hit: &Hit, text: &Text<'_>) -> (f32, f32) {
        let Some(spec) = self
            .spec(hit.tool)
            .filter(|spec| spec.hints.read_only != Some(true))
        else {
            return (0.0, 0.0);
        };
        let name = parts(spec.name.as_str());
        let Some(verb) = name.first().filter(|_| name.len() > 1) else {
            return (0.0, 0.0);
        };
        let said = hit.words.iter().filter_map(|place| text.words.get(*place));
        let mut stems = said.flat_map(|word| parts(word.text));
        let means = |stem: String| {
            stem == *verb || synonyms(&stem).any(|other| other == verb) || alike(&stem, verb)
        };
        if stems.any(means) {
            return (0.0, 0.0);
        }
        let destroys = [
            "delet", "remov", "eras", "drop", "destroy", "kill", "purg", "wip",
        ];
        let forbidden = if destroys.contains(&verb.as_str()) {
            f32::INFINITY
        } else {
            0.0
        };
        (0.3, forbidden)
    }

    /// Tells whether a tool may do harm, so that nothing is taken for granted.
    pub(crate) fn is_careful(&self, tool: usize) -> bool {
        let entry = self.tools.get(tool);
        entry.is_some_and(|entry| {
            entry.needs_approval() || entry.spec().hints.destructive == Some(true)
        })
    }

    fn setting<'s>(&'s self, hit: &'s Hit, leans: bool, known: Option<&'s Known>) -> Setting<'s> {
        Setting {
            spoken: &hit.words,
            deeds: &hit.deeds,
            index: Some(self.index),
            known,
            leans,
            careful: self.is_careful(hit.tool),
            reply: false,
        }
    }

    /// Fills what an item wants done.
    pub(crate) fn fill(&self, item: &Item, known: Option<&Known>) -> Filled {
        let params = self.params(item.tool);
        if let Some(filled) = spelled_out(&params, &item.clause) {
            return filled;
        }
        let text = Text::new(&item.clause);
        let hit = self.index.hit(&text, item.tool);
        let known = known.filter(|_| item.like.is_none());
        let mut filled = fill(&params, &text, self.setting(&hit, item.leans, known));
        for (name, value) in item.like.iter().flatten() {
            if params.iter().any(|param| param.name == *name) {
                filled
                    .arguments
                    .entry(name.as_str())
                    .or_insert_with(|| value.clone());
                filled.missing.retain(|missing| missing != name);
            }
        }
        for reply in &item.replies {
            let open = params
                .iter()
                .filter(|param| filled.missing.contains(&param.name));
            let open: Vec<Param> = open.cloned().collect();
            let setting = Setting {
                reply: true,
                index: Some(self.index),
                ..Setting::default()
            };
            let more = fill(&open, &Text::new(reply), setting);
            filled.stated += more.stated;
            filled.arguments.extend(more.arguments);
            filled.missing = more.missing;
        }
        filled
    }
}

/// Takes arguments that are written as JSON: `get_weather {"city": "Rome"}`.
fn spelled_out(params: &[Param], clause: &str) -> Option<Filled> {
    let json = clause.get(clause.find('{')?..=clause.rfind('}')?)?;
    let arguments: Map<String, Value> = serde_json::from_str(json).ok()?;
    let is_param = |name: &String| params.iter().any(|param| param.name == *name);
    if !arguments.keys().all(is_param) {
        return None;
    }
    let open = params
        .iter()
        .filter(|param| param.required && !arguments.contains_key(&param.name));
    Some(Filled {
        missing: open.map(|param| param.name.clone()).collect(),
        stated: arguments.len(),
        arguments,
        ..Filled::default()
    })
}

/// Counts the words that say something and that the tool does not explain.
fn unexplained(text: &Text<'_>, hit: &Hit, filled: &Filled, params: &[Param]) -> usize {
    let has_place = params.iter().any(|param| param.meaning == Meaning::Place);
    let places = text.words.iter().enumerate().filter(|(place, word)| {
        let taken = filled.used.get(*place) == Some(&true) || hit.words.contains(place);
        let empty = is_stop(&word.lower) || crate::words::is_polite(&word.lower);
        let nowhere = word.is(&["there"]) && leans(text) && !has_place;
        !taken && (!empty || nowhere)
    });
    places.count().min(3)
}
