//! Orders the best tools of a search so that different parts of the question are answered.

use std::sync::Arc;

/// What remains of a word's weight after a tool that matches it as well as any. On BFCL, less helps questions for several tools
/// and costs those for one.
const REMAINDER: f32 = 0.9;

/// One of the best tools, before the order is final.
pub(crate) struct Candidate<'i> {
    pub(crate) name: &'i Arc<str>,
    /// What each word of the question adds to its score.
    pub(crate) scores: Vec<f32>,
}

/// Picks the best candidate again and again, where the words that earlier picks match count less each time: a near-duplicate
/// of a tool yields to one that matches another part of the question. Returns the names with decreasing scores.
///
/// Of equal candidates the first is picked.
pub(crate) fn diversify(mut candidates: Vec<Candidate<'_>>) -> Vec<(&Arc<str>, f32)> {
    let terms = candidates.first().map_or(0, |candidate| candidate.scores.len());
    let greatest = |term: usize| {
        let scores = candidates.iter().filter_map(|candidate| candidate.scores.get(term));
        scores.copied().fold(f32::MIN_POSITIVE, f32::max)
    };
    let greatest: Vec<f32> = (0..terms).map(greatest).collect();
    let mut weights = vec![1.0_f32; terms];
    let mut picked = Vec::with_capacity(candidates.len());
    while !candidates.is_empty() {
        let mut best = (0, f32::MIN);
        for (position, candidate) in candidates.iter().enumerate() {
            let score = candidate.scores.iter().zip(&weights).map(|(score, weight)| score * weight);
            let score = score.sum();
            if score > best.1 {
                best = (position, score);
            }
        }
        let candidate = candidates.remove(best.0);
        for ((weight, score), greatest) in weights.iter_mut().zip(&candidate.scores).zip(&greatest)
        {
            *weight *= 1.0 - (1.0 - REMAINDER) * score / greatest;
        }
        picked.push((candidate.name, best.1));
    }
    picked
}
