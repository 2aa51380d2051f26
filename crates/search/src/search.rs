//! Searches an index: the tools for a question, by BM25 over the fields of their specs.
//!
//! The formula is written out instead of taken from the `bm25` crate: docs/decisions/rank-tools-by-hand.md has the reasons.

use std::sync::Arc;

use crate::diversity::{Candidate, diversify};
use crate::english::synonyms;
use crate::field::{FIELDS, SEARCH_WEIGHTS, SearchWeight};
use crate::question::question_stems;
use crate::stem::stem as stem_of;
use crate::tool_index::{IndexedTool, Posting, ToolIndex};
use crate::units::{unit_named, unit_names};

// Limits, because a question may be a whole document.
const MAX_TERMS: usize = 48;
const MAX_MISSPELT: usize = 12;

/// BM25's saturation of repeated terms.
const K1: f32 = 1.2;

/// The score of a match relative to one of the very word.
const SAME_UNIT: f32 = 0.9;
const SIMILAR: f32 = 0.8;
const SYNONYM: f32 = 0.4;

/// How many of the best tools are reordered so that different parts of a question are answered.
const MAX_DIVERSIFIED: usize = 40;

/// A tool that a search found.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ToolMatch {
    /// The tool's name.
    pub name: Arc<str>,
    /// How well the tool matches what the tools before it leave of the question: comparable within one search only.
    pub score: f32,
}

/// A word of a question with what it matches.
struct QueryTerm<'i> {
    /// The stems of the index that the word matches: their postings, and the score of a match.
    variants: Vec<(&'i [Posting], f32)>,
    /// The greatest score that any variant can add.
    weight: f32,
}

impl ToolIndex {
    /// Returns the tools that match a question best, the best first, at most `limit`.
    ///
    /// A question that asks for several things gets tools for each: a tool that matches the same words as one before it
    /// counts a little less. Tools of equal score are ordered by name, so that the same tools and question always give the
    /// same result. Of a long question the beginning and the end are read.
    pub fn search(&self, question: &str, limit: usize) -> Vec<ToolMatch> {
        let terms = self.query_terms(&question_stems(question));
        let scorer = Scorer::new(self);
        let mut scores = vec![0.0_f32; self.tools.len()];
        let mut best = vec![0.0_f32; self.tools.len()];
        for term in &terms {
            let mut matched: Vec<usize> = Vec::new();
            for (postings, weight) in &term.variants {
                for posting in *postings {
                    let score = weight * scorer.saturation(posting);
                    // A word counts once for a tool, by its best variant.
                    let Some(known) = best.get_mut(posting.tool as usize) else { continue };
                    if *known == 0.0 {
                        matched.push(posting.tool as usize);
                    }
                    *known = known.max(score);
                }
            }
            for tool in matched {
                if let (Some(score), Some(best)) = (scores.get_mut(tool), best.get_mut(tool)) {
                    *score += std::mem::take(best);
                }
            }
        }
        self.best_matches(&scores, &terms, &scorer, limit)
    }

    /// Returns the words that count, with the postings they match.
    fn query_terms(&self, stems: &[String]) -> Vec<QueryTerm<'_>> {
        let mut misspelt = 0;
        let terms = stems.iter().filter_map(|stem| {
            let variant = |variant: &str, worth: f32| {
                let postings = self.postings.get(variant)?;
                Some((postings.as_slice(), worth * self.idf(postings.len())))
            };
            let mut variants: Vec<_> = variant(stem, 1.0).into_iter().collect();
            let units = unit_named(stem).into_iter().flat_map(unit_names);
            let units = units.filter(|name| name != stem);
            variants.extend(units.filter_map(|name| variant(&stem_of(name), SAME_UNIT)));
            let synonyms = synonyms(stem).iter();
            variants.extend(synonyms.filter_map(|synonym| variant(synonym, SYNONYM)));
            if variants.is_empty() && misspelt < MAX_MISSPELT {
                misspelt += 1;
                let similar = self.similar_stems(stem).into_iter();
                variants.extend(similar.filter_map(|similar| variant(similar, SIMILAR)));
            }
            let weight = variants.iter().map(|(_, weight)| *weight).fold(0.0, f32::max);
            (!variants.is_empty()).then_some(QueryTerm { variants, weight })
        });
        let mut terms: Vec<QueryTerm<'_>> = terms.collect();
        if terms.len() > MAX_TERMS {
            // A stable order: of equally rare words, the first ones stay.
            terms.sort_by(|a, b| b.weight.total_cmp(&a.weight));
            terms.truncate(MAX_TERMS);
        }
        terms
    }

    fn best_matches(
        &self,
        scores: &[f32],
        terms: &[QueryTerm<'_>],
        scorer: &Scorer<'_>,
        limit: usize,
    ) -> Vec<ToolMatch> {
        let scored = scores.iter().zip(&self.tools).enumerate();
        let scored = scored.filter_map(|(position, (score, tool))| {
            (*score > 0.0).then_some((position, *score, tool.as_ref()?))
        });
        let mut scored: Vec<(usize, f32, &IndexedTool)> = scored.collect();
        let order = |a: &(usize, f32, &IndexedTool), b: &(usize, f32, &IndexedTool)| {
            b.1.total_cmp(&a.1).then_with(|| a.2.name.cmp(&b.2.name))
        };
        let wanted = limit.max(MAX_DIVERSIFIED);
        if scored.len() > wanted {
            scored.select_nth_unstable_by(wanted, order);
            scored.truncate(wanted);
        }
        scored.sort_unstable_by(order);
        let rest = scored.split_off(scored.len().min(MAX_DIVERSIFIED));
        let candidates = scored.iter().map(|(position, _, tool)| {
            let scores = terms.iter().map(|term| term.score_of(*position, scorer)).collect();
            Candidate { name: &tool.name, scores }
        });
        let mut found: Vec<ToolMatch> = diversify(candidates.collect())
            .into_iter()
            .map(|(name, score)| ToolMatch { name: Arc::clone(name), score })
            .collect();
        let least = found.last().map_or(f32::MAX, |last| last.score);
        found.extend(rest.into_iter().map(|(_, score, tool)| ToolMatch {
            name: Arc::clone(&tool.name),
            score: score.min(least),
        }));
        found.truncate(limit);
        found
    }

    /// BM25's inverse document frequency.
    fn idf(&self, documents: usize) -> f32 {
        let (all, having) = (self.len() as f32, documents as f32);
        (1.0 + (all - having + 0.5) / (having + 0.5)).ln()
    }
}

impl QueryTerm<'_> {
    /// Returns what the word adds to the score of one tool.
    fn score_of(&self, tool: usize, scorer: &Scorer<'_>) -> f32 {
        let scores = self.variants.iter().filter_map(|(postings, weight)| {
            let at = postings.binary_search_by_key(&tool, |posting| posting.tool as usize).ok()?;
            Some(weight * scorer.saturation(postings.get(at)?))
        });
        scores.fold(0.0, f32::max)
    }
}

/// BM25's term frequency over fields, with the average lengths of the index.
struct Scorer<'i> {
    index: &'i ToolIndex,
    /// For each field: its weight, the part of the norm that is the same for all tools, and that of each word.
    fields: [(f32, f32, f32); FIELDS],
}

impl<'i> Scorer<'i> {
    fn new(index: &'i ToolIndex) -> Self {
        let tools = index.len().max(1) as f32;
        let mut fields = [(0.0, 1.0, 0.0); FIELDS];
        let weights = fields.iter_mut().zip(SEARCH_WEIGHTS).zip(index.total_lengths.0);
        for ((field, SearchWeight { weight, length_norm }), total) in weights {
            let average = (total as f32 / tools).max(0.5);
            *field = (weight, 1.0 - length_norm, length_norm / average);
        }
        Self { index, fields }
    }

    fn saturation(&self, posting: &Posting) -> f32 {
        let tool = self.index.tools.get(posting.tool as usize).and_then(Option::as_ref);
        let Some(tool) = tool else { return 0.0 };
        let counts = posting.counts.0.iter().zip(tool.lengths.0);
        let mut frequency = 0.0;
        for ((count, length), (weight, base, per_word)) in counts.zip(self.fields) {
            if *count > 0 {
                frequency += f32::from(*count) * weight / (base + per_word * f32::from(length));
            }
        }
        frequency * (K1 + 1.0) / (frequency + K1)
    }
}
