//! A tool in, its words out, with what each is worth.

use std::collections::HashMap;

use serde_json::Value;
use toolwright_core::ToolSpec;

use crate::shape::{listed_options, told_options};
use crate::words::{Text, head, is_stop, parts};

/// How many words of a tool are read, how many of its parameters and their options.
const MOST_WORDS: usize = 300;
const MOST_PARAMS: usize = 64;
const MOST_OPTIONS: usize = 16;

/// How many bytes of a description are read.
const ABOUT: usize = 1_000;

/// How often a word of a field counts, and how much it says.
const NAME: Field = Field {
    times: 3.0,
    says: 1.0,
};
const DESCRIPTION: Field = Field {
    times: 1.0,
    says: 0.6,
};
pub(super) const PARAM: Field = Field {
    times: 1.0,
    says: 0.4,
};
const ABOUT_PARAM: Field = Field {
    times: 0.4,
    says: 0.3,
};

#[derive(Clone, Copy)]
pub(super) struct Field {
    times: f32,
    pub(super) says: f32,
}

/// The words of one tool.
#[derive(Default)]
pub(super) struct Words {
    /// How often each stem counts, and how much it says at most.
    pub(super) found: HashMap<String, (f32, f32)>,
    pub(super) length: f32,
    pub(super) bytes: usize,
}

impl Words {
    /// Reads a tool.
    pub(super) fn of(spec: &ToolSpec) -> Self {
        let mut words = Self::default();
        let root = spec.input.as_value();
        let properties = root.get("properties").and_then(Value::as_object);
        let properties = || properties.into_iter().flatten().take(MOST_PARAMS);
        let named: Vec<String> = properties()
            .flat_map(|(name, _)| parts(head(name, 64)))
            .collect();
        // A city's time is a time: "city" only names what it wants to know.
        let field = |stem: &str| match named.iter().any(|name| name == stem) {
            true => PARAM,
            false => NAME,
        };
        for stem in parts(spec.name.as_str()) {
            let field = field(&stem);
            words.add(stem, field);
        }
        let title = spec.title.as_deref().unwrap_or_default();
        words.read(head(title, ABOUT), field);
        words.read(head(&spec.description, ABOUT), |_| DESCRIPTION);
        for stem in named.iter().take(MOST_WORDS) {
            words.add(stem.clone(), PARAM);
        }
        for (_, schema) in properties() {
            let about = schema.get("description").and_then(Value::as_str);
            let about = head(about.unwrap_or_default(), ABOUT);
            words.read(about, |_| ABOUT_PARAM);
            for option in told_options(about).iter().take(MOST_OPTIONS) {
                words.read(head(option, 64), |_| ABOUT_PARAM);
            }
            let options = listed_options(root, schema);
            for option in options.into_iter().take(MOST_OPTIONS) {
                words.read(head(option, 64), |_| ABOUT_PARAM);
            }
        }
        words
    }

    fn read(&mut self, text: &str, field: impl Fn(&str) -> Field) {
        self.bytes += text.len();
        for word in Text::new(text).words {
            // What stands in backticks is an example or another's name.
            if word.quoted || is_stop(&word.lower) {
                continue;
            }
            for stem in parts(word.text) {
                let field = field(&stem);
                self.add(stem, field);
            }
        }
    }

    fn add(&mut self, stem: String, field: Field) {
        if self.found.len() >= MOST_WORDS || stem.len() > 64 || is_stop(&stem) {
            return;
        }
        self.length += field.times;
        let kept = self.found.entry(stem).or_default();
        *kept = (kept.0 + field.times, kept.1.max(field.says));
    }
}
