//! The rules for the names and the number of tools in a request.

use std::collections::HashSet;

use super::{
    Rejection,
    report::{RejectionReport, excerpt},
};
use crate::Dialect;

/// The syntax of tool names of a provider.
struct ToolNameRule {
    is_valid_first: fn(char) -> bool,
    is_valid_rest: fn(char) -> bool,
    max_length: usize,
    /// The same as a regular expression.
    pattern: &'static str,
}

const fn name_rule(
    first: fn(char) -> bool,
    rest: fn(char) -> bool,
    max: usize,
    written: &'static str,
) -> ToolNameRule {
    ToolNameRule { is_valid_first: first, is_valid_rest: rest, max_length: max, pattern: written }
}

const WORD_OR_DASH: ToolNameRule =
    name_rule(is_word_or_dash, is_word_or_dash, 64, "^[a-zA-Z0-9_-]{1,64}$");
const ANTHROPIC: ToolNameRule =
    name_rule(is_word_or_dash, is_word_or_dash, 128, "^[a-zA-Z0-9_-]{1,128}$");
const GEMINI: ToolNameRule = name_rule(
    is_letter_or_underscore,
    |c| is_word_or_dash(c) || ".:".contains(c),
    128,
    "^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$",
);
const MCP: ToolNameRule =
    name_rule(is_word_dash_or_dot, is_word_dash_or_dot, 128, "^[a-zA-Z0-9_.-]{1,128}$");
const PORTABLE: ToolNameRule =
    name_rule(is_letter_or_underscore, is_word_or_dash, 64, "^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$");
/// No documented rule, but a tool without a name cannot be called.
const ANY: ToolNameRule = name_rule(|_| true, |_| true, usize::MAX, "^.+$");

fn is_letter_or_underscore(letter: char) -> bool {
    letter.is_ascii_alphabetic() || letter == '_'
}

fn is_word_or_dash(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "_-".contains(letter)
}

fn is_word_dash_or_dot(letter: char) -> bool {
    is_word_or_dash(letter) || letter == '.'
}

impl ToolNameRule {
    fn is_valid(&self, name: &str) -> bool {
        let mut letters = name.chars();
        letters.next().is_some_and(self.is_valid_first)
            && letters.all(self.is_valid_rest)
            && name.len() <= self.max_length
    }
}

/// The name rule of a dialect, and the minimum and maximum number of tools.
fn tool_rules(dialect: &str) -> Option<(&'static ToolNameRule, usize, usize)> {
    const ANY_NUMBER: usize = usize::MAX;
    Some(match dialect {
        "openai" | "openai-strict" | "groq" | "deepseek" | "deepseek-strict" | "xai" => {
            (&WORD_OR_DASH, 0, 128)
        }
        "anthropic" => (&ANTHROPIC, 0, ANY_NUMBER),
        "anthropic-strict" => (&ANTHROPIC, 0, 20),
        "gemini" | "gemini-openapi" => (&GEMINI, 0, 512),
        "ollama" => (&ANY, 0, ANY_NUMBER),
        "mistral" => (&WORD_OR_DASH, 0, ANY_NUMBER),
        "bedrock" => (&WORD_OR_DASH, 1, ANY_NUMBER),
        "mcp" => (&MCP, 0, ANY_NUMBER),
        "portable" => (&PORTABLE, 0, 128),
        _ => return None,
    })
}

/// Lists what a provider would reject in the names of the tools of one request.
///
/// The path of a rejection is the tool's index in the list. At most 100 rejections are listed.
///
/// ```
/// use toolwright_schema::{Dialect, validate_tools_for};
///
/// assert!(validate_tools_for(Dialect::GEMINI, ["shop.find"]).is_empty());
///
/// let rejections = validate_tools_for(Dialect::OPENAI, ["find", "shop.find"]);
/// assert_eq!(rejections[0].to_string(), "/1: the name `shop.find` does not match `^[a-zA-Z0-9_-]{1,64}$`");
/// ```
pub fn validate_tools_for<'n>(
    dialect: Dialect,
    names: impl IntoIterator<Item = &'n str>,
) -> Vec<Rejection> {
    let whole = |rule| Rejection { path: String::new(), rule };
    let Some((rule, min, max)) = tool_rules(dialect.name()) else {
        return vec![whole(format!("nothing is known about the dialect `{}`", dialect.name()))];
    };
    let mut refusals = Vec::new();
    let mut seen = HashSet::new();
    let mut count = 0_usize;
    for name in names {
        let mut refuse = |rule| {
            let path = format!("/{count}");
            if refusals.len() < RejectionReport::MAX_REJECTIONS {
                refusals.push(Rejection { path, rule });
            }
        };
        if !rule.is_valid(name) {
            refuse(format!("the name `{}` does not match `{}`", excerpt(name), rule.pattern));
        }
        if !seen.insert(name) {
            refuse(format!("the name `{}` is taken", excerpt(name)));
        }
        count += 1;
    }
    if count < min {
        refusals
            .insert(0, whole("an empty list of tools is not accepted: leave it out".to_owned()));
    }
    if count > max {
        refusals.insert(0, whole(format!("{count} tools, and at most {max} are accepted")));
    }
    refusals
}
