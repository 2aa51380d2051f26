//! The terms of one tool: its stems, and how often each stands in which field.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use crate::document::ToolDocument;
use crate::field::{Field, FieldCounts, RANK_WEIGHTS};
use crate::lexicon::Lexicon;
use crate::options::{MAX_OPTIONS, options, quoted_values};
use crate::words::{for_each_word, words};

// Limits, because specs may come from foreign servers.
const MAX_TERMS: usize = 300;
const MAX_PARAMS: usize = 64;
const MAX_DEPTH: usize = 3;
const MAX_KEYWORDS: usize = 32;
const MAX_DESCRIPTION: usize = 4_000;
const MAX_TEXT: usize = 1_000;
const MAX_NAME: usize = 64;

/// The terms of one tool.
#[derive(Default)]
pub(crate) struct ToolTerms {
    /// How often each stem stands in each field.
    pub(crate) counts: HashMap<Arc<str>, FieldCounts<u8>, ahash::RandomState>,
    /// How many words each field has.
    pub(crate) lengths: FieldCounts<u16>,
    /// The size of the text that was read.
    pub(crate) bytes: usize,
}

impl ToolTerms {
    pub(crate) fn new(tool: &ToolDocument<'_>, lexicon: &mut Lexicon) -> Self {
        let mut reader = TermReader { terms: Self::default(), lexicon };
        reader.read(tool);
        reader.terms
    }

    /// Returns the length of the spec for [`ToolIndex::rank`](crate::ToolIndex::rank): the sum of all frequencies.
    pub(crate) fn rank_length(lengths: &FieldCounts<u16>) -> f32 {
        // The whole name repeats the words of the name.
        let fields = lengths.0.iter().zip(RANK_WEIGHTS).skip(1);
        fields.map(|(words, weight)| f32::from(*words) * weight.frequency).sum()
    }
}

/// Reads the terms of a tool.
struct TermReader<'l> {
    terms: ToolTerms,
    lexicon: &'l mut Lexicon,
}

impl TermReader<'_> {
    fn read(&mut self, tool: &ToolDocument<'_>) {
        let params = params(tool.input);
        let named: Vec<String> =
            params.iter().flat_map(|(name, _)| words(head(name, MAX_NAME))).collect();
        let name_field = |word: &str| match named.iter().any(|name| name == word) {
            true => Field::NameOfParam,
            false => Field::Name,
        };
        let name = head(tool.name, MAX_TEXT);
        self.add_prose(name, name_field);
        if words(name).len() > 1 {
            self.add_term(Arc::from(name.to_lowercase()), Field::WholeName);
        }
        self.add_prose(head(tool.title.unwrap_or_default(), MAX_TEXT), name_field);
        self.add_prose(head(tool.description, MAX_DESCRIPTION), |_| Field::Description);
        for word in &named {
            self.add_word(word, Field::Param);
        }
        for (_, schema) in &params {
            let description = schema.get("description").and_then(Value::as_str);
            let description = head(description.unwrap_or_default(), MAX_TEXT);
            self.add_prose(description, |_| Field::ParamDescription);
            let listed = match description.contains('`') {
                true => quoted_values(description).0,
                false => Vec::new(),
            };
            let listed = listed.into_iter().take(MAX_OPTIONS);
            for option in listed.chain(options(tool.input, schema)) {
                self.add_prose(head(option, MAX_NAME), |_| Field::Option);
            }
        }
        for keyword in tool.tags.iter().take(MAX_KEYWORDS).chain([&tool.bundle]) {
            self.add_prose(head(keyword, MAX_NAME), |_| Field::Keyword);
        }
        for question in tool.questions.iter().take(MAX_KEYWORDS) {
            self.add_prose(head(question, MAX_TEXT), |_| Field::Question);
        }
    }

    /// Adds the words of a text, without those in backticks: these are examples, or names of something else.
    fn add_prose(&mut self, text: &str, field: impl Fn(&str) -> Field) {
        self.terms.bytes += text.len();
        for part in text.split('`').step_by(2) {
            for_each_word(part, |word| self.add_word(word, field(word)));
        }
    }

    fn add_word(&mut self, word: &str, field: Field) {
        if let Some(term) = self.lexicon.term(word) {
            self.add_term(term, field);
        }
    }

    fn add_term(&mut self, term: Arc<str>, field: Field) {
        let terms = &mut self.terms;
        if terms.counts.len() < MAX_TERMS {
            terms.lengths.add(field);
            terms.counts.entry(term).or_default().add(field);
        }
    }
}

/// Returns the parameters of a schema with their names, those of nested objects after all of the outer ones.
pub(crate) fn params(schema: &Value) -> Vec<(&str, &Value)> {
    let mut params: Vec<(&str, &Value)> = Vec::new();
    let mut level = vec![schema];
    for _ in 0..MAX_DEPTH {
        let first_of_level = params.len();
        for schema in level {
            let properties = schema.get("properties").and_then(Value::as_object);
            let properties = properties.into_iter().flatten();
            let room = MAX_PARAMS.saturating_sub(params.len());
            params.extend(properties.take(room).map(|(name, schema)| (name.as_str(), schema)));
        }
        let found = params.get(first_of_level..).unwrap_or_default();
        level = found.iter().map(|(_, schema)| schema.get("items").unwrap_or(schema)).collect();
    }
    params
}

pub(crate) fn head(text: &str, max: usize) -> &str {
    text.get(..text.floor_char_boundary(max)).unwrap_or_default()
}
