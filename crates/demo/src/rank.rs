//! The tools of a request, ranked against a sentence by their specs and by the arguments that the sentence gives them.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use serde_json::{Map, Value};
use toolwright_chat::ToolChoice;
use toolwright_core::{RegisteredTool, ToolSpec};
use toolwright_search::{Match, ToolIndex, is_similar, stem, stems, synonyms, words};

use crate::arguments::{Context, ExtractedArguments, fill};
use crate::memory::Memory;
use crate::params::{Meaning, Param, params};
use crate::text::{Text, is_in};

/// How many tools get their arguments filled for a ranking.
const MAX_CANDIDATES: usize = 12;

/// The evidence that a tool needs to be called.
const MIN_EVIDENCE: f32 = 0.5;

/// First words of the names of tools that are called only if the sentence has such a word.
const DESTRUCTIVE: &str = "delete remove erase drop destroy kill purge wipe";

/// The tools of one request.
pub(crate) struct Tools<'a> {
    pub(crate) entries: &'a [RegisteredTool],
    pub(crate) index: &'a ToolIndex,
    pub(crate) choice: &'a ToolChoice,
    /// Whether these are the tools that were found, of perhaps many more.
    pub(crate) has_searched: bool,
    params: RefCell<HashMap<usize, Rc<[Param]>>>,
}

/// A tool that fits a sentence.
#[derive(Clone, Debug)]
pub(crate) struct Candidate {
    pub(crate) tool: usize,
    pub(crate) evidence: f32,
    pub(crate) extracted: ExtractedArguments,
    score: f32,
}

/// The arguments of a call, by name.
pub(crate) type Arguments = Map<String, Value>;

/// One call that a question asks for.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    pub(crate) tool: usize,
    /// The part of the question that asks for it.
    pub(crate) clause: String,
    /// The user's replies to questions about missing arguments.
    pub(crate) replies: Vec<String>,
    /// Arguments of a similar call, for what the clause does not repeat.
    pub(crate) base: Option<Arguments>,
    pub(crate) refers_back: bool,
}

impl Task {
    pub(crate) fn new(tool: usize, clause: &str) -> Self {
        Self {
            tool,
            clause: clause.to_owned(),
            replies: Vec::new(),
            base: None,
            refers_back: Text::new(clause).refers_back(),
        }
    }
}

impl<'a> Tools<'a> {
    pub(crate) fn new(
        entries: &'a [RegisteredTool],
        index: &'a ToolIndex,
        choice: &'a ToolChoice,
    ) -> Self {
        Self { entries, index, choice, has_searched: false, params: RefCell::default() }
    }

    pub(crate) fn spec(&self, tool: usize) -> Option<&'a ToolSpec> {
        self.entries.get(tool).map(RegisteredTool::spec)
    }

    pub(crate) fn name(&self, tool: usize) -> &'a str {
        self.spec(tool).map_or("", |spec| spec.name.as_str())
    }

    /// Returns the name of a tool that people read.
    pub(crate) fn title(&self, tool: usize) -> &'a str {
        self.spec(tool).map_or("", |spec| spec.display_name())
    }

    /// Returns the position of the tool with exactly this name.
    pub(crate) fn position(&self, name: &str) -> Option<usize> {
        (0..self.entries.len()).find(|tool| self.name(*tool) == name)
    }

    /// Returns a tool's parameters, read once.
    pub(crate) fn params(&self, tool: usize) -> Rc<[Param]> {
        let schema = self.spec(tool).map(|spec| spec.input.as_value());
        let read = || schema.map(params).unwrap_or_default().into();
        let mut known = self.params.borrow_mut();
        Rc::clone(known.entry(tool).or_insert_with(read))
    }

    /// Returns the tool that fits a sentence best, if one fits well enough.
    pub(crate) fn best(&self, text: &Text<'_>, memory: &Memory) -> Option<Candidate> {
        let terms = text.terms();
        let is_required = *self.choice == ToolChoice::Required;
        let (matches, min_evidence) = match self.choice {
            ToolChoice::None => return None,
            ToolChoice::Named(name) => {
                (vec![self.index.score(&terms, self.position(name)?)], f32::MIN)
            }
            _ if is_required => (self.index.rank(&terms, MAX_CANDIDATES), f32::EPSILON),
            _ => (self.index.rank(&terms, MAX_CANDIDATES), MIN_EVIDENCE),
        };
        let candidates = matches.iter().map(|found| self.candidate(found, text, memory));
        let candidates = candidates.filter(|candidate| candidate.evidence >= min_evidence);
        // The first of equals: matches have a stable order.
        candidates.reduce(|best, next| if next.score > best.score { next } else { best })
    }

    fn candidate(&self, found: &Match, text: &Text<'_>, memory: &Memory) -> Candidate {
        let params = self.params(found.tool);
        let mut context = self.context(found, text);
        context.memory = Some(memory);
        let extracted = fill(&params, text, context);
        let has_place = params.iter().any(|param| param.meaning == Meaning::Place);
        let unexplained = text.tokens.iter().enumerate().filter(|(at, token)| {
            let is_explained = extracted.used.get(*at) == Some(&true) || found.tokens.contains(at);
            let is_misplaced = token.is("there") && context.refers_back && !has_place;
            !is_explained && (!token.is_filler() || is_misplaced)
        });
        let unexplained = unexplained.count().min(3) as f32;
        let (unasked, forbidden) = match self.missing_verb(found, text) {
            Some(verb) if is_in(&verb, DESTRUCTIVE) => (0.3, f32::INFINITY),
            Some(_) => (0.3, 0.0),
            None => (0.0, 0.0),
        };
        let evidence = found.evidence - 0.2 * unexplained - forbidden;
        let score = found.score + 0.3 * extracted.stated as f32 - 0.35 * unexplained - unasked;
        Candidate {
            tool: found.tool,
            evidence: evidence + extracted.evidence,
            score: score + extracted.evidence - 0.8 * extracted.missing.len() as f32,
            extracted,
        }
    }

    /// Returns the verb of a tool with effects that the sentence has no word for.
    fn missing_verb(&self, found: &Match, text: &Text<'_>) -> Option<String> {
        let is_read_only = self.spec(found.tool)?.hints.read_only == Some(true);
        let mut name = words(self.name(found.tool)).into_iter();
        let verb = name.next().filter(|_| !is_read_only)?;
        name.next()?;
        let wanted = stem(&verb);
        let tokens = found.tokens.iter().filter_map(|at| text.tokens.get(*at));
        let mut stems = tokens.flat_map(|token| stems(token.text));
        let is_verb = |stem: String| {
            stem == wanted || synonyms(&stem).contains(&wanted) || is_similar(&stem, &wanted)
        };
        (!stems.any(is_verb)).then_some(verb)
    }

    /// Returns true for a tool that needs approval or is destructive.
    pub(crate) fn is_dangerous(&self, tool: usize) -> bool {
        let is_destructive = |entry: &RegisteredTool| entry.spec().hints.destructive == Some(true);
        let entry = self.entries.get(tool);
        entry.is_some_and(|entry| entry.needs_approval() || is_destructive(entry))
    }

    fn context<'c>(&'c self, found: &'c Match, text: &Text<'_>) -> Context<'c> {
        Context {
            matched: &found.tokens,
            action: &found.action_tokens,
            index: Some(self.index),
            refers_back: text.refers_back(),
            cautious: self.is_dangerous(found.tool),
            ..Context::default()
        }
    }

    /// Fills the arguments of a task from its clause, then from its base and the replies.
    pub(crate) fn fill(&self, task: &Task, memory: Option<&Memory>) -> ExtractedArguments {
        let params = self.params(task.tool);
        if let Some(extracted) = json_arguments(&params, &task.clause) {
            return extracted;
        }
        let text = Text::new(&task.clause);
        let found = self.index.score(&text.terms(), task.tool);
        let mut context = self.context(&found, &text);
        context.refers_back = task.refers_back;
        context.memory = memory.filter(|_| task.base.is_none());
        let mut extracted = fill(&params, &text, context);
        for (name, value) in task.base.iter().flatten() {
            let is_new = !extracted.arguments.contains_key(name);
            if is_new && params.iter().any(|param| param.name == *name) {
                extracted.arguments.insert(name.clone(), value.clone());
                extracted.missing.retain(|missing| missing != name);
            }
        }
        for reply in &task.replies {
            let is_open = |param: &&Param| extracted.missing.contains(&param.name);
            let open: Vec<Param> = params.iter().filter(is_open).cloned().collect();
            let mut context = Context::default();
            (context.is_reply, context.index) = (true, Some(self.index));
            let more = fill(&open, &Text::new(reply), context);
            extracted.stated += more.stated;
            extracted.arguments.extend(more.arguments);
            extracted.missing = more.missing;
        }
        extracted
    }
}

/// Reads arguments that are written as JSON: `get_weather {"city": "Rome"}`.
fn json_arguments(params: &[Param], clause: &str) -> Option<ExtractedArguments> {
    let json = clause.get(clause.find('{')?..=clause.rfind('}')?)?;
    let arguments: Arguments = serde_json::from_str(json).ok()?;
    let is_known = |name: &String| params.iter().any(|param| param.name == *name);
    let missing =
        params.iter().filter(|param| param.required && !arguments.contains_key(&param.name));
    let missing = missing.map(|param| param.name.clone()).collect();
    let stated = arguments.len();
    arguments.keys().all(is_known).then_some(ExtractedArguments {
        arguments,
        missing,
        stated,
        ..ExtractedArguments::default()
    })
}
