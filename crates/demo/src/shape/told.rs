//! A description in, the values that it lists out: those to choose from, and examples.

/// What a description puts in backticks: options to choose from, or examples.
#[derive(Default)]
pub(super) struct Quoted {
    pub(super) options: Vec<String>,
    pub(super) examples: Vec<String>,
}

impl Quoted {
    pub(super) fn of(about: &str) -> Self {
        let mut quoted = Self::default();
        let mut run: Vec<String> = Vec::new();
        let mut exemplary = false;
        for (place, piece) in about.split('`').enumerate() {
            if place % 2 == 0 {
                let lower = piece.to_lowercase();
                let says = |word: &&str| lower.contains(*word);
                exemplary = exemplary && !lower.contains(['.', ';'])
                    || ["example", "e.g", "such as", "like "].iter().any(says);
                // "The unit of `value`" names another parameter: only what is listed can be chosen.
                if !["", ",", "or", ", or", "/", "|", "and", ", and"].contains(&lower.trim()) {
                    quoted.keep(&mut run);
                }
            } else if exemplary {
                quoted.examples.push(piece.to_owned());
            } else if piece.len() <= 32 && !piece.contains(['/', ':', '.', '@']) {
                run.push(piece.to_owned());
            }
        }
        quoted.keep(&mut run);
        quoted
    }

    fn keep(&mut self, run: &mut Vec<String>) {
        let run = std::mem::take(run);
        if run.len() > 1 && self.options.is_empty() {
            self.options = run;
        }
    }
}
