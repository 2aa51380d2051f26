//! Tools in, an index out; then words in, the tools that fit them best out.
//!
//! The ranking is BM25 over stems, where a word of a name counts more than one of a description. Beside it goes the evidence:
//! a plain sum that does not depend on how many other tools there are, so that a bad match stays bad among worse ones.

use std::borrow::Cow;
use std::collections::HashMap;

use toolwright_core::{RegisteredTool, ToolSpec};

use crate::quantity::quantities;
use crate::units;
use crate::words::{Text, alike, is_stop, is_weak, parts, stem, synonyms};

mod read;

use read::{PARAM, Words};

/// How many tools are read.
const MOST_TOOLS: usize = 20_000;
/// How many different words of a question are looked up, and how many misspelt ones among them.
const MOST_ASKED: usize = 64;
const MOST_MISSPELT: usize = 12;

/// What a match is worth that is not the very word.
const OF_UNIT: f32 = 0.9;
const OF_SLIP: f32 = 0.8;
const OF_SYNONYM: f32 = 0.6;

/// What remains of the evidence of a word that many tools share.
const OF_WEAK: f32 = 0.55;

/// All tools of a request, by their words.
#[derive(Debug, Default)]
pub(crate) struct Index {
    terms: HashMap<String, Vec<Posting>>,
    names: HashMap<String, usize>,
    lengths: Vec<f32>,
    average: f32,
    /// How much text the tools are, as far as it was read.
    pub(crate) bytes: usize,
}

#[derive(Clone, Copy, Debug)]
struct Posting {
    tool: usize,
    times: f32,
    says: f32,
}

/// A tool that has words of a question.
#[derive(Clone, Debug)]
pub(crate) struct Hit {
    pub(crate) tool: usize,
    /// How well it fits beside the others.
    pub(crate) rank: f32,
    /// How well it fits by itself.
    pub(crate) evidence: f32,
    /// The words of the question that speak for it.
    pub(crate) words: Vec<usize>,
    /// Those among them that say what it does, and not only what it wants to know.
    pub(crate) deeds: Vec<usize>,
}

impl Index {
    /// Reads the tools.
    pub(crate) fn new(tools: &[RegisteredTool]) -> Self {
        let mut index = Self::default();
        for (tool, entry) in tools.iter().take(MOST_TOOLS).enumerate() {
            index.add(tool, entry.spec());
        }
        let count = index.lengths.len().max(1) as f32;
        index.average = (index.lengths.iter().sum::<f32>() / count).max(1.0);
        index
    }

    fn add(&mut self, tool: usize, spec: &ToolSpec) {
        let words = Words::of(spec);
        self.names.insert(spec.name.as_str().to_lowercase(), tool);
        self.bytes += words.bytes + spec.name.as_str().len();
        self.lengths.push(words.length);
        for (stem, (times, says)) in words.found {
            let posting = Posting { tool, times, says };
            self.terms.entry(stem).or_default().push(posting);
        }
    }

    /// Tells whether a stem is a word of any tool.
    pub(crate) fn knows(&self, stem: &str) -> bool {
        self.terms.contains_key(stem)
    }

    /// Returns the tools that have words of this text, the best first.
    pub(crate) fn find(&self, text: &Text<'_>, most: usize) -> Vec<Hit> {
        let mut hits = self.score(text, |_| true);
        hits.sort_by(|a, b| b.rank.total_cmp(&a.rank).then(a.tool.cmp(&b.tool)));
        hits.truncate(most);
        for word in &text.words {
            let named = self.names.get(&word.lower);
            if let Some(tool) = named.filter(|tool| hits.iter().all(|hit| hit.tool != **tool)) {
                hits.push(self.hit(text, *tool));
            }
        }
        hits
    }

    /// Returns what speaks for one tool.
    pub(crate) fn hit(&self, text: &Text<'_>, tool: usize) -> Hit {
        let hits = self.score(text, |other| other == tool);
        hits.into_iter().next().unwrap_or_else(|| Hit::none(tool))
    }

    fn score(&self, text: &Text<'_>, wanted: impl Fn(usize) -> bool) -> Vec<Hit> {
        let mut hits: HashMap<usize, Hit> = HashMap::new();
        let mut misspelt = MOST_MISSPELT;
        for (asked, places) in asked(text) {
            let weak = if is_weak(&asked) { OF_WEAK } else { 1.0 };
            let first = places.first().and_then(|place| text.words.get(*place));
            // A name in the middle of a sentence is not misspelt.
            let name = first.is_some_and(|word| word.is_capital()) && !places.contains(&0);
            let mut best: HashMap<usize, (f32, f32)> = HashMap::new();
            for (term, worth) in self.expanded(&asked, !name, &mut misspelt) {
                let postings = self
                    .terms
                    .get(&*term)
                    .map(Vec::as_slice)
                    .unwrap_or_default();
                let rarity = self.rarity(postings.len());
                for posting in postings.iter().filter(|posting| wanted(posting.tool)) {
                    let rank = worth * rarity * self.saturated(posting);
                    let says = worth * weak * posting.says;
                    let kept = best.entry(posting.tool).or_default();
                    *kept = (kept.0.max(rank), kept.1.max(says));
                }
            }
            for (tool, (rank, says)) in best {
                let hit = hits.entry(tool).or_insert_with(|| Hit::none(tool));
                hit.rank += rank;
                hit.evidence += says;
                hit.words.extend(&places);
                if says > PARAM.says {
                    hit.deeds.extend(&places);
                }
            }
        }
        hits.into_values().collect()
    }

    /// Returns the terms a stem may mean, and what each is worth.
    fn expanded<'a>(
        &'a self,
        asked: &'a str,
        mend: bool,
        misspelt: &mut usize,
    ) -> Vec<(Cow<'a, str>, f32)> {
        let mut terms = vec![(Cow::Borrowed(asked), 1.0)];
        terms.extend(synonyms(asked).map(|synonym| (synonym.into(), OF_SYNONYM)));
        if let Some(unit) = units::attached(asked) {
            let names = units::names(unit).iter();
            terms.extend(names.map(|name| (stem(name).into(), OF_UNIT)));
        }
        if mend
            && *misspelt > 0
            && asked.len() >= 4
            && !terms.iter().any(|(term, _)| self.knows(term))
        {
            *misspelt -= 1;
            // The order of a map is not the same twice: all are taken, and the best counts.
            let like = self.terms.keys().filter(|term| alike(asked, term));
            terms.extend(like.map(|term| (term.as_str().into(), OF_SLIP)));
        }
        terms
    }

    /// How rare a term is: 1 when one tool has it, little when all have it.
    fn rarity(&self, having: usize) -> f32 {
        let all = self.lengths.len() as f32;
        let idf = |having: f32| (1.0 + (all - having + 0.5) / (having + 0.5)).ln();
        idf(having as f32) / idf(1.0).max(f32::EPSILON)
    }

    /// How much a term counts that comes several times, in a tool that has many words.
    fn saturated(&self, posting: &Posting) -> f32 {
        const K: f32 = 1.2;
        const B: f32 = 0.4;
        let length = self.lengths.get(posting.tool).copied().unwrap_or(1.0);
        let long = 1.0 - B + B * length / self.average;
        posting.times * (K + 1.0) / (posting.times + K * long)
    }
}

impl Hit {
    /// A tool that no word speaks for.
    pub(crate) fn none(tool: usize) -> Self {
        Self {
            tool,
            rank: 0.0,
            evidence: 0.0,
            words: Vec::new(),
            deeds: Vec::new(),
        }
    }
}

/// Returns the different stems that a text asks with, and the words they come from.
fn asked(text: &Text<'_>) -> Vec<(String, Vec<usize>)> {
    let mut asked: Vec<(String, Vec<usize>)> = Vec::new();
    let mut add =
        |stem: String, place: usize| match asked.iter_mut().find(|(known, _)| *known == stem) {
            Some((_, places)) => places.push(place),
            None => asked.push((stem, vec![place])),
        };
    for (place, word) in text.words.iter().enumerate() {
        // "I will sell" is not "Will" the name, but "US" may be the unit or the country.
        if word.quoted || is_stop(&word.lower) {
            continue;
        }
        for stem in parts(word.text) {
            if !stem.bytes().all(|byte| byte.is_ascii_digit()) && !is_stop(&stem) {
                add(stem, place);
            }
        }
    }
    for quantity in quantities(&text.words) {
        if let Some(unit) = quantity.unit {
            let name = units::names(unit).first().copied().unwrap_or_default();
            add(stem(name), quantity.words.start);
        }
    }
    asked.truncate(MOST_ASKED);
    asked
}
