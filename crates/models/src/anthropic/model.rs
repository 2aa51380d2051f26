//! What the API's models differ in, as rows of a table.

/// How a model is asked to think.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Thinking {
    /// It cannot.
    Never,
    /// With so many tokens.
    Budget,
    /// As it sees fit, more or less eagerly.
    Adaptive,
}

/// What a request to a model has to heed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Traits {
    pub(super) thinking: Thinking,
    /// Whether `temperature` and `top_p` are taken.
    pub(super) sampling: bool,
    /// Whether thoughts go back only with a signature.
    pub(super) signed: bool,
    /// How long an answer may get when nobody says: the API wants a number.
    pub(super) max_tokens: u32,
}

type Version = (u32, u32);

/// From which version on; the last row that a model reaches counts.
const CLAUDE: [(Version, Traits); 4] = [
    ((3, 5), claude(Thinking::Never, true, 8_192)),
    ((3, 7), claude(Thinking::Budget, true, 16_000)),
    ((4, 6), claude(Thinking::Adaptive, true, 32_000)),
    ((4, 7), NEWEST),
];

const OLDEST: Traits = claude(Thinking::Never, true, 4_096);

const NEWEST: Traits = claude(Thinking::Adaptive, false, 32_000);

/// A model of somebody else who speaks the protocol.
const OTHER: Traits = Traits {
    thinking: Thinking::Budget,
    sampling: true,
    signed: false,
    max_tokens: 16_000,
};

const fn claude(thinking: Thinking, sampling: bool, max_tokens: u32) -> Traits {
    Traits {
        thinking,
        sampling,
        signed: true,
        max_tokens,
    }
}

impl Traits {
    /// Looks a model up; a Claude without a number is taken for a new one.
    pub(super) fn of(model: &str) -> Self {
        if !model.to_ascii_lowercase().contains("claude") {
            return OTHER;
        }
        let Some(version) = version(model) else {
            return NEWEST;
        };
        let reached = CLAUDE.iter().rev().find(|(from, _)| *from <= version);
        reached.map_or(OLDEST, |(_, traits)| *traits)
    }
}

/// Reads `claude-sonnet-4-5-20250929` as 4.5 and `claude-3-7-sonnet-latest` as 3.7; dates are longer than versions.
fn version(model: &str) -> Option<Version> {
    let mut words = model.split(|letter: char| !letter.is_ascii_alphanumeric());
    let number = |word: &str| word.parse().ok().filter(|_| word.len() <= 2);
    let major = words.find_map(number)?;
    let minor = words.next().and_then(number).unwrap_or(0);
    Some((major, minor))
}

#[cfg(test)]
mod tests {
    use super::{NEWEST, OLDEST, OTHER, Thinking, Traits};

    #[test]
    fn models_are_told_apart_by_their_numbers() {
        let rows = [
            ("claude-3-haiku-20240307", Thinking::Never, true),
            ("claude-3-5-sonnet-latest", Thinking::Never, true),
            ("claude-3-7-sonnet-20250219", Thinking::Budget, true),
            ("claude-opus-4-20250514", Thinking::Budget, true),
            ("claude-sonnet-4-5-20250929", Thinking::Budget, true),
            ("claude-haiku-4-5", Thinking::Budget, true),
            ("anthropic.claude-opus-4-6-v1:0", Thinking::Adaptive, true),
            ("claude-opus-4-7", Thinking::Adaptive, false),
            ("claude-sonnet-5", Thinking::Adaptive, false),
            ("anthropic/claude-sonnet-5.5", Thinking::Adaptive, false),
        ];
        for (model, thinking, sampling) in rows {
            let traits = Traits::of(model);
            assert_eq!(traits.thinking, thinking, "{model}");
            assert_eq!(traits.sampling, sampling, "{model}");
        }
    }

    #[test]
    fn a_claude_without_a_number_is_new_and_one_with_a_small_one_is_old() {
        assert_eq!(Traits::of("claude-mythos-preview"), NEWEST);
        assert_eq!(Traits::of("claude-2.1"), OLDEST);
    }

    #[test]
    fn a_model_of_somebody_else_is_no_claude() {
        assert_eq!(Traits::of("qwen3-8b"), OTHER);
    }
}
