//! The weighted terms of one tool spec.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;
use toolwright_core::ToolSpec;

use crate::words::{is_stop_word, stem, words};

// Limits, because specs may come from foreign servers.
const MAX_TERMS: usize = 300;
const MAX_PARAMS: usize = 64;
const MAX_OPTIONS: usize = 16;
const MAX_SUBSCHEMAS: usize = 64;
const MAX_TEXT: usize = 1_000;
const MAX_NAME: usize = 64;

/// A regular expression; all of ours compile, so none is only what the type requires.
type Form = LazyLock<Option<Regex>>;

static EXAMPLE: Form = LazyLock::new(|| Regex::new(r"(?i)example|e\.g|such as|like ").ok());
/// Values to choose from: "`C` or `F`", but not "the unit of `value`".
static LIST: Form = LazyLock::new(|| {
    Regex::new(r"`[^`/:.@]{1,32}`(\s?(,|/|\||,?\s?or|,?\s?and)\s?`[^`/:.@]{1,32}`)+").ok()
});

/// How much a term counts for a tool, which depends on the part of the spec it stands in.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TermWeight {
    /// The term frequency of BM25: what one occurrence counts, or the sum over all.
    pub(crate) frequency: f32,
    /// How much a match is evidence that the tool is meant: of one occurrence, or the greatest of all.
    pub(crate) evidence: f32,
}

/// The whole name, as in "call get_weather".
const WHOLE_NAME: TermWeight = TermWeight::new(20.0, 5.0);
const NAME: TermWeight = TermWeight::new(3.0, 1.0);
const DESCRIPTION: TermWeight = TermWeight::new(1.0, 0.6);
pub(crate) const PARAM: TermWeight = TermWeight::new(1.0, 0.4);
const PARAM_DESCRIPTION: TermWeight = TermWeight::new(0.4, 0.3);

impl TermWeight {
    const fn new(frequency: f32, evidence: f32) -> Self {
        Self { frequency, evidence }
    }
}

/// The terms of one tool spec.
#[derive(Default)]
pub(crate) struct Document {
    /// The sum of the frequencies and the greatest evidence of each stem.
    pub(crate) terms: HashMap<String, TermWeight>,
    /// The sum of all frequencies.
    pub(crate) length: f32,
    /// The size of the text that was read.
    pub(crate) bytes: usize,
}

impl Document {
    pub(crate) fn new(spec: &ToolSpec) -> Self {
        let mut document = Self::default();
        let root = spec.input.as_value();
        let properties = root.get("properties").and_then(Value::as_object);
        let properties = || properties.into_iter().flatten().take(MAX_PARAMS);
        let named: Vec<String> =
            properties().flat_map(|(name, _)| words(head(name, MAX_NAME))).collect();
        // `get_city_time` with a parameter `city` is about times: "city" only names what it requires.
        let name_weight = |word: &str| match named.iter().any(|name| name == word) {
            true => PARAM,
            false => NAME,
        };
        let name = spec.name.as_str();
        document.add(name, name_weight);
        if words(name).len() > 1 {
            document.terms.insert(name.to_lowercase(), WHOLE_NAME);
        }
        document.add(spec.title.as_deref().unwrap_or_default(), name_weight);
        document.add(&spec.description, |_| DESCRIPTION);
        for word in &named {
            document.add_word(word, PARAM);
        }
        for (_, schema) in properties() {
            let description = schema.get("description").and_then(Value::as_str);
            let description = head(description.unwrap_or_default(), MAX_TEXT);
            document.add(description, |_| PARAM_DESCRIPTION);
            let (listed, _) = quoted_values(description);
            for option in listed.into_iter().take(MAX_OPTIONS).chain(options(root, schema)) {
                document.add(head(option, MAX_NAME), |_| PARAM_DESCRIPTION);
            }
        }
        document
    }

    fn add(&mut self, text: &str, weight: impl Fn(&str) -> TermWeight) {
        let text = head(text, MAX_TEXT);
        self.bytes += text.len();
        // Text in backticks is an example or the name of something else.
        for word in text.split('`').step_by(2).flat_map(words) {
            self.add_word(&word, weight(&word));
        }
    }

    fn add_word(&mut self, word: &str, weight: TermWeight) {
        if self.terms.len() >= MAX_TERMS || word.len() > MAX_NAME || is_stop_word(word) {
            return;
        }
        self.length += weight.frequency;
        let term = self.terms.entry(stem(word)).or_default();
        term.frequency += weight.frequency;
        term.evidence = term.evidence.max(weight.evidence);
    }
}

/// Returns the values that a description has in backticks: the first list of options, and the examples.
pub fn quoted_values(description: &str) -> (Vec<&str>, Vec<&str>) {
    let example = EXAMPLE.as_ref().and_then(|form| form.find(description));
    let start = example.map_or(description.len(), |example| example.start());
    let (before, examples) = description.split_at_checked(start).unwrap_or_default();
    let options = LIST.as_ref().and_then(|form| form.find(before));
    (quoted(options.map_or("", |list| list.as_str())), quoted(examples))
}

fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// Returns the strings that a parameter's schema lists, itself or where it refers to.
fn options<'s>(root: &'s Value, schema: &'s Value) -> Vec<&'s str> {
    let mut options = Vec::new();
    let mut open = vec![schema];
    for _ in 0..MAX_SUBSCHEMAS {
        let Some(schema) = open.pop() else { break };
        let list = |keyword: &str| schema.get(keyword).and_then(Value::as_array);
        let values = list("enum").into_iter().flatten();
        let values = values.chain(schema.get("const")).take(MAX_OPTIONS);
        options.extend(values.filter_map(Value::as_str));
        let branches = ["anyOf", "oneOf", "allOf"].into_iter().filter_map(list);
        open.extend(branches.flatten().take(MAX_OPTIONS));
        let reference = schema.get("$ref").and_then(Value::as_str);
        let path = reference.and_then(|reference| reference.strip_prefix('#'));
        open.extend(path.and_then(|path| root.pointer(path)));
    }
    options.truncate(MAX_OPTIONS);
    options
}

fn head(text: &str, max: usize) -> &str {
    text.get(..text.floor_char_boundary(max)).unwrap_or_default()
}
