//! Ranks the tools of an index for the demo model, which decides by the matched words whether a tool fits at all.

use std::collections::HashMap;

use crate::english::{is_common, is_stop_word, synonyms};
use crate::field::{PARAM_EVIDENCE, RANK_WEIGHTS};
use crate::stem::stem;
use crate::terms::ToolTerms;
use crate::tool_index::{Posting, ToolIndex};
use crate::units::{unit_named, unit_names};
use crate::words::words;

// Limits, because a question may be a whole document.
const MAX_TERMS: usize = 64;
const MAX_MISSPELT: usize = 12;

/// BM25's saturation of repeated terms and its normalisation by length.
const K1: f32 = 1.2;
const B: f32 = 0.4;

/// The score of a match relative to one of the very word.
const SAME_UNIT: f32 = 0.9;
const SIMILAR: f32 = 0.8;
const SYNONYM: f32 = 0.6;

/// The evidence of a match of a word that many tools share.
const COMMON: f32 = 0.55;

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

impl ToolIndex {
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
            let unknown = !variants.iter().any(|(stem, _)| self.contains_stem(stem));
            if unknown && fuzzy && misspelt < MAX_MISSPELT {
                misspelt += 1;
                let similar = self.similar_stems(word).into_iter();
                variants.extend(similar.map(|term| (term, SIMILAR)));
            }
            let common = if is_common(word) { COMMON } else { 1.0 };
            // A word counts once for a tool, by its best variant.
            let mut best: HashMap<usize, (f32, f32)> = HashMap::new();
            for (variant, worth) in variants {
                let postings = self.postings.get(variant).map_or(&[][..], Vec::as_slice);
                let rarity = self.rarity(postings.len());
                for posting in postings.iter().filter(|posting| wanted(posting.tool as usize)) {
                    let weight = posting.counts.rank_weight();
                    if weight.frequency == 0.0 {
                        continue;
                    }
                    let (score, evidence) = best.entry(posting.tool as usize).or_default();
                    let saturation = self.rank_saturation(posting, weight.frequency);
                    *score = score.max(worth * rarity * saturation);
                    *evidence = evidence.max(worth * common * weight.evidence);
                }
            }
            for (tool, (score, evidence)) in best {
                let found = matches.entry(tool).or_default();
                found.tool = tool;
                found.score += score;
                found.evidence += evidence;
                found.tokens.extend(&tokens);
                if evidence > PARAM_EVIDENCE {
                    found.action_tokens.extend(&tokens);
                }
            }
        }
        matches.into_values().collect()
    }

    /// BM25's inverse document frequency, relative to a term of one tool.
    fn rarity(&self, documents: usize) -> f32 {
        let all = self.len() as f32;
        let idf = |having: f32| (1.0 + (all - having + 0.5) / (having + 0.5)).ln();
        idf(documents as f32) / idf(1.0).max(f32::EPSILON)
    }

    /// BM25's term frequency: saturated, and normalised by the length of the spec.
    fn rank_saturation(&self, posting: &Posting, frequency: f32) -> f32 {
        let total: f32 = {
            let totals = self.total_lengths.0.iter().zip(RANK_WEIGHTS).skip(1);
            totals.map(|(words, weight)| *words as f32 * weight.frequency).sum()
        };
        let average = (total / self.len() as f32).max(1.0);
        let tool = self.tools.get(posting.tool as usize).and_then(Option::as_ref);
        let length = tool.map_or(average, |tool| ToolTerms::rank_length(&tool.lengths));
        let norm = 1.0 - B + B * length / average;
        frequency * (K1 + 1.0) / (frequency + K1 * norm)
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
