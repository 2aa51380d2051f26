//! Merges the results of a search by words and one by meaning.

use std::collections::HashMap;
use std::sync::Arc;

use crate::search::ToolMatch;

/// How slowly a rank loses value. Less than the usual 60: of tools only the first few count.
const RANK_OFFSET: f32 = 5.0;

/// The weight of a rank by meaning; one by words has 1. Chosen with all-MiniLM-L6-v2 on all questions of BFCL.
const MEANING: f32 = 0.6;

/// Merges the matches of a [`ToolIndex`](crate::ToolIndex) with those of a [`VectorIndex`](crate::VectorIndex), the best first,
/// at most `limit`.
///
/// Scores of the two kinds cannot be compared, ranks can (reciprocal rank fusion): a tool gets `1 / (5 + rank)` for its rank by
/// words, and 0.6 of that for its rank by meaning. Both lists should be some times longer than `limit`. Tools of equal score are
/// ordered by name.
///
/// # Examples
///
/// ```
/// use toolwright::Tool;
/// use toolwright::search::{ToolIndex, merge_by_rank};
///
/// let tool = Tool::builder("get_weather", "Returns the weather in a city.").run(|_, _| "sunny")?;
/// let by_words = ToolIndex::new([tool.spec()]).search("weather", 50);
/// assert_eq!(merge_by_rank(&by_words, &[], 5).len(), 1);
/// # Ok::<(), toolwright_core::DefineError>(())
/// ```
pub fn merge_by_rank(
    by_words: &[ToolMatch],
    by_meaning: &[ToolMatch],
    limit: usize,
) -> Vec<ToolMatch> {
    let mut scores: HashMap<&Arc<str>, f32> = HashMap::new();
    for (list, weight) in [(by_words, 1.0), (by_meaning, MEANING)] {
        for (rank, found) in (1_u16..).zip(list) {
            *scores.entry(&found.name).or_default() += weight / (RANK_OFFSET + f32::from(rank));
        }
    }
    let merged =
        scores.into_iter().map(|(name, score)| ToolMatch { name: Arc::clone(name), score });
    let mut merged: Vec<ToolMatch> = merged.collect();
    merged.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.name.cmp(&b.name)));
    merged.truncate(limit);
    merged
}
