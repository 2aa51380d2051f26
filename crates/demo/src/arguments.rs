//! Arguments for parameters: from the sentence first, then from the conversation, never made up.
//!
//! Rules run from the most certain to the least, and a token that one has used is not available to the next: a web address
//! is never a title. An optional parameter is filled only where the sentence clearly means it.

use std::ops::Range;

use serde_json::{Map, Value};
use toolwright_search::{ToolIndex, Unit, is_common, stem};

use crate::memory::Memory;
use crate::params::Param;
use crate::text::{Punctuation, Text, Token};

mod choices;
mod names;
mod numbers;
mod patterns;
mod prose;
mod recall;

pub(crate) use choices::option_text;

/// What is known about a sentence besides its text.
#[derive(Clone, Copy, Default)]
pub(crate) struct Context<'a> {
    /// The tokens that match the tool's spec, and so are no names.
    pub(crate) matched: &'a [usize],
    /// Those of them that match more than a parameter.
    pub(crate) action: &'a [usize],
    /// The tools: a sentence that begins with a word of theirs does not begin with a name.
    pub(crate) index: Option<&'a ToolIndex>,
    /// The conversation, if values may come from it.
    pub(crate) memory: Option<&'a Memory>,
    /// Whether the sentence refers to something earlier.
    pub(crate) refers_back: bool,
    /// Whether only a sentence that refers back gets values of the conversation, as for a destructive tool.
    pub(crate) cautious: bool,
    /// Whether the sentence answers a question of the model.
    pub(crate) is_reply: bool,
}

/// The arguments that a sentence and the conversation give a tool, and those that are missing.
#[derive(Clone, Debug, Default)]
pub(crate) struct ExtractedArguments {
    pub(crate) arguments: Map<String, Value>,
    /// The names of the required parameters without a value.
    pub(crate) missing: Vec<String>,
    /// The number of arguments that the sentence contains.
    pub(crate) stated: usize,
    /// How much the recognised values are evidence for the tool.
    pub(crate) evidence: f32,
    /// Whether each token is part of an argument.
    pub(crate) used: Vec<bool>,
}

/// Fills parameters from a sentence and the conversation.
pub(crate) fn fill(params: &[Param], text: &Text<'_>, context: Context<'_>) -> ExtractedArguments {
    let mut finder = ArgumentFinder::new(text, context);
    let mut values = finder.stated(params);
    let stated = values.iter().flatten().count();
    finder.recall(params, &mut values);
    let (arguments, missing) = assemble(params, values);
    ExtractedArguments { arguments, missing, stated, evidence: finder.evidence, used: finder.used }
}

/// Returns the arguments by name, and the names of the required parameters without one.
fn assemble(params: &[Param], values: Vec<Option<Value>>) -> (Map<String, Value>, Vec<String>) {
    let (mut arguments, mut missing) = (Map::new(), Vec::new());
    for (param, value) in params.iter().zip(values) {
        if let Some(value) = value.or_else(|| param.fallback()) {
            arguments.insert(param.name.clone(), value);
        } else if param.required {
            missing.push(param.name.clone());
        }
    }
    (arguments, missing)
}

/// A value for a parameter, and the tokens it consists of.
struct FoundValue {
    value: Value,
    tokens: Vec<usize>,
    unit: Option<Unit>,
    evidence: f32,
}

type Rule<'a, 't> = fn(&ArgumentFinder<'a, 't>, &Param, &[Param]) -> Option<FoundValue>;

/// A sentence whose tokens are handed out one rule after the other.
#[derive(Clone)]
struct ArgumentFinder<'a, 't> {
    text: &'a Text<'t>,
    context: Context<'a>,
    used: Vec<bool>,
    /// The unit that a result is wanted in: "to Fahrenheit".
    target: Option<Unit>,
    /// The unit of the first number that was used.
    unit: Option<Unit>,
    evidence: f32,
    /// How many required texts have no value yet.
    open_texts: usize,
}

impl<'a, 't> ArgumentFinder<'a, 't> {
    /// The rules, the most certain first. A rule gets a parameter and all parameters beside it.
    const RULES: [Rule<'a, 't>; 14] = [
        Self::choice,
        Self::pattern,
        Self::named_number,
        Self::code,
        Self::number_list,
        Self::number,
        Self::unit,
        Self::labelled_text,
        Self::name,
        Self::object,
        Self::list,
        Self::required_text,
        Self::remaining_text,
        Self::flag,
    ];

    fn new(text: &'a Text<'t>, context: Context<'a>) -> Self {
        Self {
            text,
            context,
            used: vec![false; text.tokens.len()],
            target: choices::target_unit(text),
            unit: None,
            evidence: 0.0,
            open_texts: 0,
        }
    }

    /// Returns the values that the sentence contains, in the order of the parameters.
    fn stated(&mut self, params: &[Param]) -> Vec<Option<Value>> {
        let mut values: Vec<Option<Value>> = vec![None; params.len()];
        for rule in Self::RULES {
            let required = params.iter().map(|param| param.required && param.is_text());
            let open = required.zip(&values).filter(|(text, value)| *text && value.is_none());
            self.open_texts = open.count();
            for (param, value) in params.iter().zip(&mut values) {
                if value.is_none() {
                    *value = rule(self, param, params).map(|found| self.take(found));
                }
            }
        }
        values
    }

    fn take(&mut self, found: FoundValue) -> Value {
        self.evidence += found.evidence;
        self.unit = self.unit.or(found.unit);
        for at in found.tokens {
            self.used.splice(at..=at, [true]);
        }
        found.value
    }

    /// Finds the text of these tokens, if the parameter accepts it.
    fn found(&self, param: &Param, tokens: Range<usize>, evidence: f32) -> Option<FoundValue> {
        let value = self.text.slice(tokens.clone());
        let found = value_found(param, tokens, value.into(), evidence);
        found.filter(|_| !value.is_empty())
    }

    /// Finds a value whose parts a copy of this finder has found.
    fn found_by(&self, inner: &Self, value: Value) -> FoundValue {
        let is_new = |at: &usize| self.is_free(*at) && !inner.is_free(*at);
        FoundValue {
            value,
            tokens: (0..self.used.len()).filter(is_new).collect(),
            unit: inner.unit,
            evidence: inner.evidence - self.evidence,
        }
    }

    /// Finds the fields of an object, if all required ones are there.
    fn object(&self, param: &Param, _: &[Param]) -> Option<FoundValue> {
        let mut inner = self.clone();
        let values = inner.stated(&param.fields);
        values.iter().flatten().next()?;
        let (object, missing) = assemble(&param.fields, values);
        missing.is_empty().then(|| self.found_by(&inner, object.into()))
    }

    /// Finds the elements of a list: every option that is named, or "milk, eggs and bread".
    fn list(&self, param: &Param, params: &[Param]) -> Option<FoundValue> {
        let element = param.element.as_ref()?;
        let mut inner = self.clone();
        let option = || Some(inner.choice(element, params)?).map(|found| inner.take(found));
        let options: Vec<Value> = std::iter::from_fn(option).collect();
        if !options.is_empty() {
            return Some(self.found_by(&inner, options.into()));
        }
        let element = Some(element).filter(|element| element.is_text())?;
        let runs = (0..self.used.len()).rev().filter(|_| param.required && element.is_text());
        let longest = runs.map(|at| self.items(at)).max_by_key(Vec::len);
        let named = self.value_position(param).map(|at| self.items(at));
        let named = named.filter(|items| !items.is_empty() && element.is_text());
        let items = named.or(longest)?;
        let values = items.iter().map(|item| Value::from(self.text.slice(item.clone())));
        let tokens = items.first()?.start..items.last()?.end;
        value_found(param, tokens, values.collect(), 0.0)
    }

    /// Returns the elements from this position on: tokens between commas and "and".
    fn items(&self, start: usize) -> Vec<Range<usize>> {
        let mut items: Vec<Range<usize>> = Vec::new();
        let mut is_new = true;
        for (at, token) in self.text.tokens.iter().enumerate().skip(start) {
            if token.is("and or") && !token.quoted && !items.is_empty() {
                is_new = true;
                continue;
            }
            let is_word = token.quoted || !self.is_matched(at) && !token.is_stop_word();
            if !is_word || !self.is_free(at) {
                break;
            }
            match items.last_mut().filter(|_| !is_new) {
                Some(last) => last.end = at + 1,
                None => items.push(at..at + 1),
            }
            is_new = token.punctuation == Punctuation::Comma;
            if !is_new && self.ends_clause(at) {
                break;
            }
        }
        items
    }

    fn token(&self, at: usize) -> Option<&'a Token<'t>> {
        self.text.tokens.get(at)
    }

    /// Returns true if the token at this position is one of these words.
    fn is(&self, at: usize, words: &str) -> bool {
        self.text.is(at, words)
    }

    /// Returns true if the token before this position is one of these words.
    fn is_behind(&self, at: usize, words: &str) -> bool {
        at > 0 && self.is(at - 1, words)
    }

    fn is_free(&self, at: usize) -> bool {
        self.used.get(at) == Some(&false)
    }

    fn all_free(&self, tokens: &Range<usize>) -> bool {
        tokens.clone().all(|at| self.is_free(at))
    }

    /// Returns true if the token matches the tool's spec.
    fn is_matched(&self, at: usize) -> bool {
        self.context.matched.contains(&at)
    }

    /// Returns true if the token is a word of any tool.
    fn is_tool_word(&self, at: usize) -> bool {
        self.token(at).is_some_and(|token| {
            let index = self.context.index;
            is_common(&token.stem) || index.is_some_and(|index| index.contains_stem(&token.stem))
        })
    }

    fn punctuation(&self, at: usize) -> Punctuation {
        self.token(at).map_or(Punctuation::Stop, |token| token.punctuation)
    }

    /// Returns true if punctuation follows.
    fn ends_clause(&self, at: usize) -> bool {
        self.punctuation(at) != Punctuation::None
    }

    /// Returns where the sentence mentions a parameter: its whole name, or a specific word of it.
    fn mention(&self, param: &Param) -> Option<Range<usize>> {
        let find = |stems: &[String]| {
            let mut windows = self.text.tokens.windows(stems.len().max(1));
            let at = windows.position(|window| {
                let mut words = window.iter().zip(stems);
                words.all(|(token, stem)| token.stem == *stem && !token.quoted)
            });
            at.filter(|_| !stems.is_empty()).map(|at| at..at + stems.len())
        };
        let mut specific = param.specific_words().filter(|word| word.len() > 1);
        find(&param.stems).or_else(|| specific.find_map(|word| find(&[stem(word)])))
    }

    /// Returns where the value of a parameter begins that the sentence mentions.
    fn value_position(&self, param: &Param) -> Option<usize> {
        const LINKS: &str =
            "is of to at as was number no nr id equals be should called named with the a";
        let mention = self.mention(param)?;
        let mut at = mention.end;
        while at < mention.end + 3 && !self.ends_clause(at - 1) && self.is(at, LINKS) {
            at += 1;
        }
        let is_cut = matches!(self.punctuation(at - 1), Punctuation::Stop | Punctuation::Comma);
        (!is_cut && at < self.used.len()).then_some(at)
    }
}

/// Finds this value, if the parameter accepts it.
fn value_found(
    param: &Param,
    tokens: Range<usize>,
    value: Value,
    evidence: f32,
) -> Option<FoundValue> {
    param.accepts(&value).then(|| FoundValue {
        value,
        tokens: tokens.collect(),
        unit: None,
        evidence,
    })
}
