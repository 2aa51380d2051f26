//! Text of the right length, format and pattern.

use serde_json::Value;

use super::{
    dice::{Dice, Spot},
    draw::{Draw, Style},
    format,
    pattern::Pattern,
    rules::Rules,
};

/// Longer texts are not drawn.
const LONGEST: usize = 100_000;

/// The work of writing a text that got too long.
const TOO_LONG: usize = 1_000;

/// How many texts are drawn for one set of patterns and lengths.
const TRIES: usize = 32;

/// Ordinary words.
const WORDS: [&str; 16] = [
    "amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "harbor", "island", "juniper",
    "kite", "lantern", "meadow", "north", "orchid", "pebble",
];

/// Texts that programs get wrong.
const ODD: [&str; 18] = [
    "",
    " ",
    "0",
    "-1",
    "5",
    "true",
    "null",
    "é",
    "e\u{301}",
    "日本語",
    "🦀",
    "👩‍👩‍👧",
    "\"quoted\" \\ 'text'",
    "line\nbreak\ttab",
    "{\"a\": [1]}",
    "<b>&amp;</b>",
    "\u{202e}right to left",
    "\u{1}\u{7f}",
];

impl<'s> Draw<'_, 's> {
    pub(super) fn text(
        &mut self,
        rules: &Rules<'s>,
        spot: Spot,
        dice: &mut Dice,
    ) -> Option<String> {
        let style = self.style(spot, dice);
        let lengths = Lengths::of(rules);
        if lengths.least > lengths.most.min(LONGEST) {
            return None;
        }
        self.spend(lengths.least / 16)?;
        let patterns: Vec<&'s str> = rules.each("pattern").filter_map(Value::as_str).collect();
        let formats = ["format", "contentEncoding"];
        let formatted = formats
            .into_iter()
            .flat_map(|keyword| rules.each(keyword))
            .find_map(|name| format::draw(name.as_str()?, dice));
        match (formatted, patterns.as_slice()) {
            (Some(text), []) => Some(text),
            (Some(text), _) if dice.one_in(2) => Some(text),
            (None, []) => Some(lengths.free(style, dice)),
            _ => self.patterned(&patterns, &lengths, dice),
        }
    }

    fn patterned(
        &mut self,
        sources: &[&'s str],
        lengths: &Lengths,
        dice: &mut Dice,
    ) -> Option<String> {
        let mut patterns: Vec<Pattern> =
            sources.iter().filter_map(|it| Pattern::parse(it)).collect();
        patterns.sort_by_key(|pattern| (pattern.open_start, !pattern.open_end));
        // The validator is asked only where the text may fail to match, because compiling its pattern takes time.
        let sure = sources.len() == 1 && patterns.iter().any(Pattern::is_sure);
        for turn in 0..TRIES {
            self.spend(1)?;
            let text = match patterns.as_slice() {
                [] => lengths.free(Style::Odd, dice),
                // One after the other may satisfy them all.
                several @ [_, _, ..] if turn % 2 == 1 => several
                    .iter()
                    .filter_map(|pattern| pattern.write(dice, lengths.appetite(turn)))
                    .collect(),
                some => {
                    let pattern = dice.pick(some)?;
                    let Some(text) = pattern.write(dice, lengths.appetite(turn)) else {
                        self.spend(TOO_LONG)?;
                        continue;
                    };
                    lengths.padded(pattern, text, dice)
                }
            };
            self.spend(text.len() / 16)?;
            if lengths.hold(&text)
                && (sure || sources.iter().all(|it| self.known.matches(it, &text)))
            {
                return Some(text);
            }
        }
        None
    }

    /// A name for a property that no schema names.
    pub(super) fn name(&mut self, dice: &mut Dice) -> String {
        let odd = self.is_odd(dice).then(|| dice.word(&ODD));
        odd.unwrap_or_else(|| dice.word(&WORDS)).to_owned()
    }
}

/// So many characters without a space.
fn filled(count: usize, dice: &mut Dice) -> String {
    dice.word(&WORDS).chars().cycle().take(count).collect()
}

/// How many characters a text may have.
struct Lengths {
    least: usize,
    most: usize,
}

impl Lengths {
    fn of(rules: &Rules<'_>) -> Self {
        Self {
            least: rules.least("minLength"),
            most: rules.most("maxLength").unwrap_or(usize::MAX),
        }
    }

    fn hold(&self, text: &str) -> bool {
        (self.least..=self.most).contains(&text.chars().count())
    }

    /// Text of which only the length matters.
    fn free(&self, style: Style, dice: &mut Dice) -> String {
        match (style, dice.below(4)) {
            (Style::Odd, 0) => self.fit("", dice),
            (Style::Odd, 1) => filled(self.most.min(self.least.saturating_add(100)), dice),
            (Style::Odd, _) => self.fit(dice.word(&ODD), dice),
            (Style::Usual, 0) => {
                let words = format!("{} {}", dice.word(&WORDS), dice.word(&WORDS));
                self.fit(&words, dice)
            }
            _ => self.fit(dice.word(&WORDS), dice),
        }
    }

    /// Cuts or lengthens a text.
    fn fit(&self, text: &str, dice: &mut Dice) -> String {
        let mut fitted: String = text.chars().take(self.most).collect();
        let mut count = fitted.chars().count();
        let word = dice.word(&WORDS);
        while count < self.least {
            if count > 0 {
                fitted.push(' ');
                count += 1;
            }
            fitted.extend(word.chars().take(self.least.saturating_sub(count)));
            count += word.len();
        }
        fitted
    }

    /// How often a pattern's repetitions are repeated beyond need: more and more if texts must be long.
    fn appetite(&self, turn: usize) -> usize {
        let short = 3usize.saturating_sub(turn / 8);
        if self.least > short {
            self.least.saturating_mul(1 + turn % 8) / 4 + short
        } else {
            short.min(self.most)
        }
    }

    /// Lengthens a text where its pattern says nothing of what comes before or after.
    fn padded(&self, pattern: &Pattern, text: String, dice: &mut Dice) -> String {
        let missing = self.least.saturating_sub(text.chars().count());
        match (missing, pattern.open_end, pattern.open_start) {
            (1.., true, _) => text + &filled(missing, dice),
            (1.., false, true) => filled(missing, dice) + &text,
            _ => text,
        }
    }
}
