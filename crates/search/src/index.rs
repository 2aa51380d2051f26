//! The inverted index and its BM25 scores.
//!
//! The formula is written out instead of taken from the `bm25` crate: docs/decisions/rank-tools-by-hand.md has the reasons.

use std::collections::HashMap;

use toolwright_core::ToolSpec;

use crate::document::{Document, PARAM, TermWeight};
use crate::units::{unit_named, unit_names};
use crate::words::{is_common, is_similar, is_stop_word, stem, synonyms, words};

// Limits, because a question may be a whole document.
const MAX_TERMS: usize = 64;
const MAX_MISSPELT: usize = 12;
const MAX_QUESTION: usize = 4_096;

/// BM25's saturation of repeated terms and its normalisation by length.
const K1: f32 = 1.2;
const B: f32 = 0.4;

/// The score of a match relative to one of the very word.
const SAME_UNIT: f32 = 0.9;
const SIMILAR: f32 = 0.8;
const SYNONYM: f32 = 0.6;

/// The evidence of a match of a word that many tools share.
const COMMON: f32 = 0.55;

/// Tools by the stems of their specs. A tool is its position: the first that was added is 0.
///
/// Adding a tool is cheap; an index without a tool is a new index.
#[derive(Debug, Default)]
pub struct Index {
    postings: HashMap<String, Vec<Posting>>,
    lengths: Vec<f32>,
    total_length: f32,
    bytes: usize,
}

#[derive(Clone, Copy, Debug)]
struct Posting {
    tool: usize,
    weight: TermWeight,
}

/// One word of a question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term {
    /// The stem to look up.
    pub stem: String,
    /// The number of the word in the question, reported in [`Match::tokens`].
    pub token: usize,
    /// Whether the word may be a misspelling of an indexed one; a proper name is not.
    pub fuzzy: bool,
}

impl Term {
    /// Returns the terms of a word: its stems without stop words and numbers, and the whole, which may be a tool's name.
    pub fn of_word(word: &str, token: usize, fuzzy: bool) -> Vec<Self> {
        let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let mut parts = words(word);
        let is_name = parts.len() > 1;
        parts.retain(|part| !is_stop_word(part) && !is_number(part));
        let mut stems: Vec<String> = parts.iter().map(|part| stem(part)).collect();
        let name = word.trim_matches(|mark: char| !mark.is_alphanumeric());
        stems.extend(is_name.then(|| name.to_lowercase()));
        let term = |stem| Self { stem, token, fuzzy };
        stems.into_iter().map(term).collect()
    }
}

/// A tool that shares words with a question.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Match {
    /// The tool's position.
    pub tool: usize,
    /// The BM25 score, comparable between the tools of one index.
    pub score: f32,
    /// The weight of the matched words, which does not depend on how many other tools there are: the best of many bad
    /// matches has little of it.
    pub evidence: f32,
    /// The words of the question that match.
    pub tokens: Vec<usize>,
    /// Those of them that match the tool's name, title or description, not only a parameter.
    pub action_tokens: Vec<usize>,
}

impl Index {
    /// Adds a tool and returns its position.
    pub fn add(&mut self, spec: &ToolSpec) -> usize {
        let tool = self.lengths.len();
        let document = Document::new(spec);
        self.lengths.push(document.length);
        self.total_length += document.length;
        self.bytes += document.bytes;
        for (stem, weight) in document.terms {
            let postings = self.postings.entry(stem).or_default();
            postings.push(Posting { tool, weight });
        }
        tool
    }

    /// Returns true if the spec of any tool has a word with this stem.
    pub fn contains(&self, stem: &str) -> bool {
        self.postings.contains_key(stem)
    }

    /// Returns the size of the indexed text in bytes.
    pub fn text_len(&self) -> usize {
        self.bytes
    }

    /// Returns the tools that match a question best, the best first; tools of equal score in the order they were added.
    pub fn search(&self, question: &str, limit: usize) -> Vec<Match> {
        let question = question.get(..question.floor_char_boundary(MAX_QUESTION));
        let words = question.unwrap_or_default().split_whitespace().enumerate();
        let terms = words.flat_map(|(token, word)| Term::of_word(word, token, true));
        let terms: Vec<Term> = terms.collect();
        self.rank(&terms, limit)
    }

    /// Returns the tools that match these words best, the best first; tools of equal score in the order they were added.
    pub fn rank(&self, terms: &[Term], limit: usize) -> Vec<Match> {
        let mut matches = self.matches(terms, |_| true);
        matches.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.tool.cmp(&b.tool)));
        matches.truncate(limit);
        matches
    }

    /// Returns how well one tool matches these words.
    pub fn score(&self, terms: &[Term], tool: usize) -> Match {
        let found = self.matches(terms, |other| other == tool).pop();
        found.unwrap_or(Match { tool, ..Match::default() })
    }

    fn matches(&self, terms: &[Term], wanted: impl Fn(usize) -> bool) -> Vec<Match> {
        let mut matches: HashMap<usize, Match> = HashMap::new();
        let mut misspelt = 0;
        for (word, tokens, fuzzy) in distinct(terms) {
            let units: Vec<String> =
                unit_named(word).into_iter().flat_map(unit_names).map(stem).collect();
            let mut variants = vec![(word, 1.0)];
            variants.extend(units.iter().map(|unit| (unit.as_str(), SAME_UNIT)));
            variants.extend(synonyms(word).iter().map(|other| (other.as_str(), SYNONYM)));
            let unknown = !variants.iter().any(|(stem, _)| self.contains(stem));
            if unknown && fuzzy && misspelt < MAX_MISSPELT {
                misspelt += 1;
                let similar = self.postings.keys().filter(|term| is_similar(word, term));
                variants.extend(similar.map(|term| (term.as_str(), SIMILAR)));
            }
            let common = if is_common(word) { COMMON } else { 1.0 };
            // A word counts once for a tool, by its best variant.
            let mut best: HashMap<usize, (f32, f32)> = HashMap::new();
            for (variant, worth) in variants {
                let postings = self.postings.get(variant).map_or(&[][..], Vec::as_slice);
                let rarity = self.rarity(postings.len());
                for posting in postings.iter().filter(|posting| wanted(posting.tool)) {
                    let (score, evidence) = best.entry(posting.tool).or_default();
                    *score = score.max(worth * rarity * self.saturation(posting));
                    *evidence = evidence.max(worth * common * posting.weight.evidence);
                }
            }
            for (tool, (score, evidence)) in best {
                let found = matches.entry(tool).or_default();
                found.tool = tool;
                found.score += score;
                found.evidence += evidence;
                found.tokens.extend(&tokens);
                if evidence > PARAM.evidence {
                    found.action_tokens.extend(&tokens);
                }
            }
        }
        matches.into_values().collect()
    }

    /// BM25's inverse document frequency, relative to a term of one tool.
    fn rarity(&self, documents: usize) -> f32 {
        let all = self.lengths.len() as f32;
        let idf = |having: f32| (1.0 + (all - having + 0.5) / (having + 0.5)).ln();
        idf(documents as f32) / idf(1.0).max(f32::EPSILON)
    }

    /// BM25's term frequency: saturated, and normalised by the length of the spec.
    fn saturation(&self, posting: &Posting) -> f32 {
        let average = (self.total_length / self.lengths.len() as f32).max(1.0);
        let length = self.lengths.get(posting.tool).copied().unwrap_or(average);
        let norm = 1.0 - B + B * length / average;
        let frequency = posting.weight.frequency;
        frequency * (K1 + 1.0) / (frequency + K1 * norm)
    }
}

impl<'s> FromIterator<&'s ToolSpec> for Index {
    fn from_iter<I: IntoIterator<Item = &'s ToolSpec>>(specs: I) -> Self {
        let mut index = Self::default();
        for spec in specs {
            index.add(spec);
        }
        index
    }
}

/// Returns the different stems of a question with their tokens; one that is once written as a name is not corrected.
fn distinct(terms: &[Term]) -> Vec<(&str, Vec<usize>, bool)> {
    let mut distinct: Vec<(&str, Vec<usize>, bool)> = Vec::new();
    for term in terms {
        match distinct.iter_mut().find(|(stem, ..)| *stem == term.stem) {
            Some((_, tokens, fuzzy)) => {
                tokens.push(term.token);
                *fuzzy &= term.fuzzy;
            }
            None => distinct.push((&term.stem, vec![term.token], term.fuzzy)),
        }
    }
    distinct.truncate(MAX_TERMS);
    distinct
}
