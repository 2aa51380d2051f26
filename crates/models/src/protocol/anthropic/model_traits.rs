//! The table of the features in which models differ.

/// How extended thinking is requested.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Thinking {
    /// The model has none.
    Unsupported,
    /// With a number of tokens.
    Budget,
    /// The model decides, guided by an effort.
    Adaptive,
}

/// The features of a model that decide how a request is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ModelTraits {
    pub(super) thinking: Thinking,
    /// Whether `temperature` and `top_p` are accepted.
    pub(super) accepts_sampling: bool,
    /// Whether replayed reasoning requires a signature.
    pub(super) requires_signature: bool,
    /// `max_tokens` if the request sets none: the API requires it.
    pub(super) default_max_tokens: u32,
    /// Whether `tool_reference` blocks load the definitions of deferred tools.
    pub(super) loads_deferred_tools: bool,
    /// Whether programs of the model may call tools.
    pub(super) runs_programs: bool,
    /// The newest type of the hosted search that the model supports.
    pub(super) web_search: &'static str,
}

/// The hosted search that all models support.
pub(super) const BASIC_WEB_SEARCH: &str = "web_search_20250305";

const NEWEST_WEB_SEARCH: &str = "web_search_20260318";

type Version = (u32, u32);

/// The first version of each row; the last row that a model reaches counts.
const CLAUDE_VERSIONS: [(Version, ModelTraits); 5] = [
    ((3, 5), claude(Thinking::Unsupported, true, 8_192)),
    ((3, 7), claude(Thinking::Budget, true, 16_000)),
    ((4, 5), claude(Thinking::Budget, true, 16_000).with_advanced_tool_use()),
    ((4, 6), claude(Thinking::Adaptive, true, 32_000).with_advanced_tool_use().newest_web_search()),
    ((4, 7), NEWEST_CLAUDE),
];

const OLDEST_CLAUDE: ModelTraits = claude(Thinking::Unsupported, true, 4_096);

const NEWEST_CLAUDE: ModelTraits =
    claude(Thinking::Adaptive, false, 32_000).with_advanced_tool_use().newest_web_search();

/// A model of another vendor that implements the protocol.
const OTHER_VENDOR: ModelTraits = ModelTraits {
    thinking: Thinking::Budget,
    accepts_sampling: true,
    requires_signature: false,
    default_max_tokens: 16_000,
    loads_deferred_tools: false,
    runs_programs: false,
    web_search: BASIC_WEB_SEARCH,
};

const fn claude(thinking: Thinking, sampling: bool, max_tokens: u32) -> ModelTraits {
    ModelTraits {
        thinking,
        accepts_sampling: sampling,
        requires_signature: true,
        default_max_tokens: max_tokens,
        loads_deferred_tools: false,
        runs_programs: false,
        web_search: BASIC_WEB_SEARCH,
    }
}

impl ModelTraits {
    const fn with_advanced_tool_use(mut self) -> Self {
        self.loads_deferred_tools = true;
        self.runs_programs = true;
        self
    }

    const fn newest_web_search(mut self) -> Self {
        self.web_search = NEWEST_WEB_SEARCH;
        self
    }

    /// Looks up a model; a Claude without a version counts as the newest.
    pub(super) fn for_model(model: &str) -> Self {
        if !model.to_ascii_lowercase().contains("claude") {
            return OTHER_VENDOR;
        }
        let Some(version) = claude_version(model) else {
            return NEWEST_CLAUDE;
        };
        let reached = CLAUDE_VERSIONS.iter().rev().find(|(from, _)| *from <= version);
        reached.map_or(OLDEST_CLAUDE, |(_, traits)| *traits)
    }
}

/// Parses `claude-sonnet-4-5-20250929` as 4.5 and `claude-3-7-sonnet-latest` as 3.7; dates are longer than versions.
fn claude_version(model: &str) -> Option<Version> {
    let mut words = model.split(|char: char| !char.is_ascii_alphanumeric());
    let number = |word: &str| word.parse().ok().filter(|_| word.len() <= 2);
    let major = words.find_map(number)?;
    let minor = words.next().and_then(number).unwrap_or(0);
    Some((major, minor))
}

#[cfg(test)]
mod tests {
    use super::{ModelTraits, NEWEST_CLAUDE, OLDEST_CLAUDE, OTHER_VENDOR, Thinking};

    #[test]
    fn a_version_decides_the_features() {
        let rows = [
            ("claude-3-haiku-20240307", Thinking::Unsupported, true),
            ("claude-3-5-sonnet-latest", Thinking::Unsupported, true),
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
            let traits = ModelTraits::for_model(model);
            assert_eq!(traits.thinking, thinking, "{model}");
            assert_eq!(traits.accepts_sampling, sampling, "{model}");
        }
    }

    #[test]
    fn a_claude_without_a_version_is_new_and_one_with_a_small_one_is_old() {
        assert_eq!(ModelTraits::for_model("claude-mythos-preview"), NEWEST_CLAUDE);
        assert_eq!(ModelTraits::for_model("claude-2.1"), OLDEST_CLAUDE);
    }

    #[test]
    fn a_model_of_another_vendor_is_no_claude() {
        assert_eq!(ModelTraits::for_model("qwen3-8b"), OTHER_VENDOR);
    }
}
