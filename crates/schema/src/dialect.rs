//! The schema rules of each provider, as data: a dated list of passes and limits.
//!
//! A new dialect is a [`DialectRules`] in one of the files below and a line in [`Dialect::ALL`]. Where a provider's rule is
//! uncertain, the stricter reading is used, and `about` mentions it.

use std::{fmt, ptr, str::FromStr};

use serde::{Serialize, Serializer};

use crate::did_you_mean;
use crate::lower::pass::{
    Pass, all_of, annotations, booleans, conditions, constants, one_of, root, types,
};

mod anthropic;
mod google;
mod ollama;
mod openai;
mod other_providers;
mod portable;

/// The schema rules of one provider.
#[derive(Clone, Copy)]
pub struct Dialect(&'static DialectRules);

/// The rules of a dialect.
pub(crate) struct DialectRules {
    pub(crate) name: &'static str,
    /// The month in which these rules were last compared with the provider's documentation.
    pub(crate) as_of: &'static str,
    pub(crate) about: &'static str,
    /// Whether schemas are brought into normal form first, and how.
    pub(crate) normal_form: Option<NormalForm>,
    /// The passes after that.
    pub(crate) passes: &'static [Pass],
    /// The supported keywords; `None` allows all.
    pub(crate) keywords: Option<&'static [&'static str]>,
    /// The supported values of `format`; `None` allows all.
    pub(crate) formats: Option<&'static [&'static str]>,
    pub(crate) null_style: NullStyle,
    /// Whether an `enum` may list only strings: other values are written as text, and converted back in the arguments.
    pub(crate) enums_of_strings_only: bool,
    /// Whether an object below the root may be without properties.
    pub(crate) allows_empty_objects: bool,
    pub(crate) size_limits: Option<SizeLimits>,
    pub(crate) parameter_name_rule: Option<NameRule>,
    pub(crate) tool_name_rule: NameRule,
    pub(crate) max_tools: Option<usize>,
    /// The highest sum of all `maxItems` in a request.
    pub(crate) max_items_total: Option<u64>,
    /// Whether the provider constrains the model's output to the schema.
    pub(crate) is_strict: bool,
    /// The strict dialect of the same provider.
    pub(crate) strict_dialect: Option<Dialect>,
    /// The limits that all strict tools of a request share.
    pub(crate) strict_budget: StrictBudget,
}

/// What differs between dialects in the [normal form](crate::lower::pass) of a schema.
#[derive(Clone, Copy)]
pub(crate) struct NormalForm {
    /// What happens to references.
    pub(crate) refs: Pass,
    /// What happens to tuples.
    pub(crate) tuples: Pass,
}

impl DialectRules {
    /// All passes, in order.
    pub(crate) fn all_passes(&self) -> impl Iterator<Item = Pass> {
        let normalise = self.normal_form.map(|NormalForm { refs, tuples }| -> [Pass; 10] {
            [
                booleans::run,
                refs,
                annotations::run,
                constants::run,
                all_of::run,
                one_of::run,
                conditions::run,
                tuples,
                types::run,
                root::require_single_object,
            ]
        });
        normalise.into_iter().flatten().chain(self.passes.iter().copied())
    }

    /// Returns true if a schema may contain the keyword.
    pub(crate) fn allows_keyword(&self, keyword: &str) -> bool {
        // The most frequent keywords, which every dialect supports.
        matches!(
            keyword,
            "type" | "description" | "properties" | "required" | "items" | "enum" | "anyOf"
        ) || self.keywords.is_none_or(|kept| kept.contains(&keyword))
    }
}

/// A dialect that accepts any JSON Schema; the dialects below override some fields.
const ANY_JSON_SCHEMA: DialectRules = DialectRules {
    name: "",
    as_of: "2026-11",
    about: "",
    normal_form: None,
    passes: &[],
    keywords: None,
    formats: None,
    null_style: NullStyle::TypeList,
    enums_of_strings_only: false,
    allows_empty_objects: true,
    size_limits: None,
    parameter_name_rule: None,
    tool_name_rule: WORD_OR_DASH_64,
    max_tools: None,
    max_items_total: None,
    is_strict: false,
    strict_dialect: None,
    strict_budget: StrictBudget {
        max_strict_tools: None,
        max_optional_parameters: None,
        max_union_parameters: None,
    },
};

/// How a dialect expresses that a value may be null.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum NullStyle {
    /// `"type": ["string", "null"]`, or a branch of `anyOf`.
    TypeList,
    /// Only as a branch of `anyOf`.
    AnyOfBranch,
    /// `"nullable": true`.
    NullableKeyword,
    /// There is no way to express it.
    Unsupported,
}

/// Limits on the size of one tool's schema.
#[derive(Clone, Copy)]
pub(crate) struct SizeLimits {
    /// How many levels of objects and arrays, counting the root as 1.
    pub(crate) max_depth: usize,
    pub(crate) max_properties: usize,
    pub(crate) max_enum_values: usize,
    /// The total length in characters of an `enum` with more than 250 strings.
    pub(crate) max_long_enum_characters: usize,
    /// The total length in characters of all names, enum values and constants.
    pub(crate) max_characters: usize,
}

/// The syntax of names.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct NameRule {
    /// The maximum length in characters.
    pub max_length: usize,
    is_valid_first: fn(char) -> bool,
    is_valid_rest: fn(char) -> bool,
}

impl NameRule {
    const fn new(max_length: usize, first: fn(char) -> bool, rest: fn(char) -> bool) -> Self {
        Self { max_length, is_valid_first: first, is_valid_rest: rest }
    }

    /// Returns true if the name can be used unchanged.
    pub fn is_valid(&self, name: &str) -> bool {
        let mut chars = name.chars();
        chars.next().is_some_and(self.is_valid_first)
            && chars.all(self.is_valid_rest)
            && name.chars().count() <= self.max_length
    }

    /// Returns true if a name may have this character at this index.
    pub fn is_valid_char(&self, index: usize, c: char) -> bool {
        if index == 0 { (self.is_valid_first)(c) } else { (self.is_valid_rest)(c) }
    }
}

fn is_word_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn is_word_or_dash(c: char) -> bool {
    is_word_char(c) || c == '-'
}

fn is_letter_or_underscore(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_'
}

/// `[a-zA-Z0-9_-]`, at most 64 characters: the rule of most providers.
const WORD_OR_DASH_64: NameRule = NameRule::new(64, is_word_or_dash, is_word_or_dash);

/// Limits on the strict tools of one request; `None` is unlimited.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct StrictBudget {
    /// How many tools may be strict.
    pub max_strict_tools: Option<usize>,
    /// How many parameters may be optional.
    pub max_optional_parameters: Option<usize>,
    /// How many parameters may have a union type.
    pub max_union_parameters: Option<usize>,
}

impl Dialect {
    /// OpenAI without strict mode.
    pub const OPENAI: Self = Self(&openai::NON_STRICT);
    /// OpenAI with strict mode.
    pub const OPENAI_STRICT: Self = Self(&openai::STRICT);
    /// Anthropic without strict mode.
    pub const ANTHROPIC: Self = Self(&anthropic::NON_STRICT);
    /// Anthropic with strict mode.
    pub const ANTHROPIC_STRICT: Self = Self(&anthropic::STRICT);
    /// Gemini's `parametersJsonSchema`.
    pub const GEMINI: Self = Self(&google::JSON_SCHEMA);
    /// Gemini's `parameters`.
    pub const GEMINI_OPENAPI: Self = Self(&google::OPENAPI);
    /// Ollama.
    pub const OLLAMA: Self = Self(&ollama::RULES);
    /// Mistral.
    pub const MISTRAL: Self = Self(&other_providers::MISTRAL);
    /// Groq.
    pub const GROQ: Self = Self(&other_providers::GROQ);
    /// DeepSeek without strict mode.
    pub const DEEPSEEK: Self = Self(&other_providers::DEEPSEEK);
    /// DeepSeek with strict mode.
    pub const DEEPSEEK_STRICT: Self = Self(&other_providers::DEEPSEEK_STRICT);
    /// xAI.
    pub const XAI: Self = Self(&other_providers::XAI);
    /// Amazon Bedrock's Converse.
    pub const BEDROCK: Self = Self(&other_providers::BEDROCK);
    /// The Model Context Protocol.
    pub const MCP: Self = Self(&other_providers::MCP);
    /// The common subset of all of them.
    pub const PORTABLE: Self = Self(&portable::RULES);

    /// Every dialect, in display order.
    pub const ALL: [Self; DIALECT_COUNT] = [
        Self::OPENAI,
        Self::OPENAI_STRICT,
        Self::ANTHROPIC,
        Self::ANTHROPIC_STRICT,
        Self::GEMINI,
        Self::GEMINI_OPENAPI,
        Self::OLLAMA,
        Self::MISTRAL,
        Self::GROQ,
        Self::DEEPSEEK,
        Self::DEEPSEEK_STRICT,
        Self::XAI,
        Self::BEDROCK,
        Self::MCP,
        Self::PORTABLE,
    ];

    /// The name on the command line and in reports, for example `openai-strict`.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// The month in which its rules were last compared with the provider's documentation.
    pub fn as_of(self) -> &'static str {
        self.0.as_of
    }

    /// One line that describes which API uses the dialect.
    pub fn about(self) -> &'static str {
        self.0.about
    }

    /// Returns true if the provider constrains the model's output to schemas in this dialect.
    pub fn is_strict(self) -> bool {
        self.0.is_strict
    }

    /// The strict dialect of the same provider.
    pub fn strict(self) -> Option<Self> {
        self.0.strict_dialect
    }

    /// The non-strict dialect of the same provider; itself if it is not strict.
    pub fn non_strict(self) -> Self {
        let twin = Self::ALL.into_iter().find(|other| other.strict() == Some(self));
        twin.unwrap_or(self)
    }

    /// The limits on the strict tools of one request.
    pub fn strict_budget(self) -> StrictBudget {
        self.0.strict_budget
    }

    /// The syntax of tool names.
    pub fn tool_name(self) -> NameRule {
        self.0.tool_name_rule
    }

    /// The maximum number of tools in a request.
    pub fn max_tools(self) -> Option<usize> {
        self.0.max_tools
    }

    /// The highest sum of all `maxItems` in a request.
    pub fn max_items_total(self) -> Option<u64> {
        self.0.max_items_total
    }

    pub(crate) fn rules(self) -> &'static DialectRules {
        self.0
    }

    /// The index in [`Dialect::ALL`].
    pub(crate) fn index(self) -> usize {
        Self::ALL.iter().position(|other| *other == self).unwrap_or_default()
    }
}

/// The number of dialects.
pub(crate) const DIALECT_COUNT: usize = 15;

impl PartialEq for Dialect {
    fn eq(&self, other: &Self) -> bool {
        ptr::eq(self.0, other.0)
    }
}

impl Eq for Dialect {}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl fmt::Debug for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Serialize for Dialect {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl FromStr for Dialect {
    type Err = UnknownDialect;

    fn from_str(name: &str) -> Result<Self, UnknownDialect> {
        Self::ALL
            .into_iter()
            .find(|dialect| dialect.name() == name)
            .ok_or_else(|| UnknownDialect(name.to_owned()))
    }
}

/// The error for a name that is not a dialect's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownDialect(String);

impl fmt::Display for UnknownDialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = || Dialect::ALL.into_iter().map(Dialect::name);
        let hint = did_you_mean(&self.0, names())
            .unwrap_or_else(|| format!("there are {}", names().collect::<Vec<_>>().join(", ")));
        write!(f, "there is no dialect `{}`; {hint}", self.0)
    }
}

impl std::error::Error for UnknownDialect {}
