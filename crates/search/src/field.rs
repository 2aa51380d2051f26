//! The parts of a spec that a word may stand in, and how much it counts there.

/// A part of a tool's spec.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(usize)]
pub(crate) enum Field {
    /// The whole name as one term, as in "call get_weather".
    WholeName,
    /// A word of the name or the title.
    Name,
    /// A word of the name that names a parameter too: `get_city_time` with a parameter `city` is about times.
    NameOfParam,
    Description,
    Param,
    ParamDescription,
    /// A value that a parameter's schema or description lists.
    Option,
    /// A tag or a word of the bundle's name.
    Keyword,
    /// A word of a question that the tool answers.
    Question,
}

pub(crate) const FIELDS: usize = 9;

/// How often a word stands in each field of a spec, or how many words each field has.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct FieldCounts<T>(pub(crate) [T; FIELDS]);

impl FieldCounts<u8> {
    pub(crate) fn add(&mut self, field: Field) {
        if let Some(count) = self.0.get_mut(field as usize) {
            *count = count.saturating_add(1);
        }
    }
}

impl FieldCounts<u16> {
    pub(crate) fn add(&mut self, field: Field) {
        if let Some(count) = self.0.get_mut(field as usize) {
            *count = count.saturating_add(1);
        }
    }
}

/// How much a word counts for the demo model, which ranks few tools and decides whether one fits at all.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RankWeight {
    /// What one occurrence adds to the term frequency of BM25.
    pub(crate) frequency: f32,
    /// How much a match is evidence that the tool is meant.
    pub(crate) evidence: f32,
}

const fn rank(frequency: f32, evidence: f32) -> RankWeight {
    RankWeight { frequency, evidence }
}

pub(crate) const RANK_WEIGHTS: [RankWeight; FIELDS] = [
    rank(20.0, 5.0),
    rank(3.0, 1.0),
    rank(1.0, PARAM_EVIDENCE),
    rank(1.0, 0.6),
    rank(1.0, PARAM_EVIDENCE),
    rank(0.4, 0.3),
    rank(0.4, 0.3),
    rank(0.0, 0.0),
    rank(0.0, 0.0),
];

/// The evidence of a word that only names a parameter.
pub(crate) const PARAM_EVIDENCE: f32 = 0.4;

impl FieldCounts<u8> {
    /// Returns the weighted frequency and the greatest evidence of a word.
    pub(crate) fn rank_weight(&self) -> RankWeight {
        let mut sum = RankWeight::default();
        for (count, weight) in self.0.iter().zip(RANK_WEIGHTS).filter(|(count, _)| **count > 0) {
            sum.frequency += f32::from(*count) * weight.frequency;
            sum.evidence = sum.evidence.max(weight.evidence);
        }
        sum
    }
}

/// How much a word counts in a search: the weight of its field, and how much a long field reduces it (`b` of BM25).
#[derive(Clone, Copy, Debug)]
pub(crate) struct SearchWeight {
    pub(crate) weight: f32,
    pub(crate) length_norm: f32,
}

const fn search(weight: f32, length_norm: f32) -> SearchWeight {
    SearchWeight { weight, length_norm }
}

/// Tuned on one half of BFCL's questions; `bench/search` measures the other half.
pub(crate) const SEARCH_WEIGHTS: [SearchWeight; FIELDS] = [
    search(6.0, 0.0),
    search(2.0, 0.2),
    search(2.0, 0.2),
    search(1.0, 0.8),
    search(0.8, 0.1),
    search(0.4, 0.4),
    search(1.0, 0.4),
    search(0.7, 0.4),
    search(1.0, 0.6),
];
