//! Generates text of a valid length, format and pattern.

use serde_json::Value;

use crate::{
    constraints::ValueConstraints,
    format,
    generator::{Generator, ValueStyle},
    location::ValueLocation,
    pattern::Pattern,
    rng::SeededRng,
};

/// The maximum length.
const MAX_LENGTH: usize = 100_000;

/// The work of generating a text that became too long.
const OVERLONG_TEXT_WORK: usize = 1_000;

/// How many texts are generated for one set of patterns and lengths.
const MAX_PATTERN_ATTEMPTS: usize = 32;

/// Ordinary words.
const ORDINARY_WORDS: [&str; 16] = [
    "amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "harbor", "island", "juniper",
    "kite", "lantern", "meadow", "north", "orchid", "pebble",
];

/// Strings that programs often handle wrongly.
const EDGE_CASES: [&str; 18] = [
    "", " ", "0", "-1", "5", "true", "null", "é", "e\u{301}", "日本語", "🦀", "👩‍👩‍👧",
    "\"quoted\" \\ 'text'", "line\nbreak\ttab", "{\"a\": [1]}", "<b>&amp;</b>",
    "\u{202e}right to left", "\u{1}\u{7f}",
];

impl<'s> Generator<'_, 's> {
    pub(crate) fn text(
        &mut self,
        constraints: &ValueConstraints<'s>,
        location: ValueLocation,
        rng: &mut SeededRng,
    ) -> Option<String> {
        let style = self.style(location, rng);
        let lengths = LengthRange::from_constraints(constraints);
        if lengths.min > lengths.max.min(MAX_LENGTH) {
            return None;
        }
        self.use_work(lengths.min / 16)?;
        let patterns: Vec<&'s str> =
            constraints.keyword_values("pattern").filter_map(Value::as_str).collect();
        let formats = ["format", "contentEncoding"];
        let formatted = formats
            .into_iter()
            .flat_map(|keyword| constraints.keyword_values(keyword))
            .find_map(|name| format::generate(name.as_str()?, rng));
        match (formatted, patterns.as_slice()) {
            (Some(text), []) => Some(text),
            (Some(text), _) if rng.chance_one_in(2) => Some(text),
            (None, []) => Some(lengths.random_text(style, rng)),
            _ => self.text_matching(&patterns, &lengths, rng),
        }
    }

    fn text_matching(
        &mut self,
        sources: &[&'s str],
        lengths: &LengthRange,
        rng: &mut SeededRng,
    ) -> Option<String> {
        let mut patterns: Vec<Pattern> =
            sources.iter().filter_map(|it| Pattern::parse(it)).collect();
        patterns.sort_by_key(|pattern| (pattern.open_start, !pattern.open_end));
        // The validator is used only where the text may not match, because compiling the pattern takes time.
        let always_matches = sources.len() == 1 && patterns.iter().any(Pattern::is_exact);
        for turn in 0..MAX_PATTERN_ATTEMPTS {
            self.use_work(1)?;
            let text = match patterns.as_slice() {
                [] => lengths.random_text(ValueStyle::EdgeCase, rng),
                // Their concatenation may match them all.
                several @ [_, _, ..] if turn % 2 == 1 => several
                    .iter()
                    .filter_map(|pattern| pattern.generate(rng, lengths.extra_repeats(turn)))
                    .collect(),
                some => {
                    let pattern = rng.pick(some)?;
                    let Some(text) = pattern.generate(rng, lengths.extra_repeats(turn)) else {
                        self.use_work(OVERLONG_TEXT_WORK)?;
                        continue;
                    };
                    lengths.pad_around_pattern(pattern, text, rng)
                }
            };
            self.use_work(text.len() / 16)?;
            if lengths.contains(&text)
                && (always_matches || sources.iter().all(|it| self.cache.matches(it, &text)))
            {
                return Some(text);
            }
        }
        None
    }

    /// A name for an additional property.
    pub(crate) fn property_name(&mut self, rng: &mut SeededRng) -> String {
        let edge_case = self.wants_edge_case(rng).then(|| rng.pick_str(&EDGE_CASES));
        edge_case.unwrap_or_else(|| rng.pick_str(&ORDINARY_WORDS)).to_owned()
    }
}

/// This many characters without a space.
fn random_word(count: usize, rng: &mut SeededRng) -> String {
    rng.pick_str(&ORDINARY_WORDS).chars().cycle().take(count).collect()
}

/// The allowed length in characters.
struct LengthRange {
    min: usize,
    max: usize,
}

impl LengthRange {
    fn from_constraints(constraints: &ValueConstraints<'_>) -> Self {
        Self {
            min: constraints.min_limit("minLength"),
            max: constraints.max_limit("maxLength").unwrap_or(usize::MAX),
        }
    }

    fn contains(&self, text: &str) -> bool {
        (self.min..=self.max).contains(&text.chars().count())
    }

    /// Text of which only the length matters.
    fn random_text(&self, style: ValueStyle, rng: &mut SeededRng) -> String {
        match (style, rng.below(4)) {
            (ValueStyle::EdgeCase, 0) => self.pad_or_truncate("", rng),
            (ValueStyle::EdgeCase, 1) => {
                random_word(self.max.min(self.min.saturating_add(100)), rng)
            }
            (ValueStyle::EdgeCase, _) => self.pad_or_truncate(rng.pick_str(&EDGE_CASES), rng),
            (ValueStyle::Ordinary, 0) => {
                let words =
                    format!("{} {}", rng.pick_str(&ORDINARY_WORDS), rng.pick_str(&ORDINARY_WORDS));
                self.pad_or_truncate(&words, rng)
            }
            _ => self.pad_or_truncate(rng.pick_str(&ORDINARY_WORDS), rng),
        }
    }

    /// Truncates or pads a text.
    fn pad_or_truncate(&self, text: &str, rng: &mut SeededRng) -> String {
        let mut fitted: String = text.chars().take(self.max).collect();
        let mut count = fitted.chars().count();
        let word = rng.pick_str(&ORDINARY_WORDS);
        while count < self.min {
            if count > 0 {
                fitted.push(' ');
                count += 1;
            }
            fitted.extend(word.chars().take(self.min.saturating_sub(count)));
            count += word.len();
        }
        fitted
    }

    /// How many extra repetitions a pattern gets: more if texts must be long.
    fn extra_repeats(&self, turn: usize) -> usize {
        let short = 3usize.saturating_sub(turn / 8);
        if self.min > short {
            self.min.saturating_mul(1 + turn % 8) / 4 + short
        } else {
            short.min(self.max)
        }
    }

    /// Pads a text where its pattern allows characters before or after.
    fn pad_around_pattern(&self, pattern: &Pattern, text: String, rng: &mut SeededRng) -> String {
        let missing = self.min.saturating_sub(text.chars().count());
        match (missing, pattern.open_end, pattern.open_start) {
            (1.., true, _) => text + &random_word(missing, rng),
            (1.., false, true) => random_word(missing, rng) + &text,
            _ => text,
        }
    }
}
