//! Which names the tools of a request may have, and how many there may be.

use std::collections::HashSet;

use super::{
    Refusal,
    report::{Report, short},
};
use crate::Dialect;

/// How a provider wants tools to be named.
struct Names {
    first: fn(char) -> bool,
    rest: fn(char) -> bool,
    most: usize,
    /// The same as a regular expression.
    written: &'static str,
}

const fn names(
    first: fn(char) -> bool,
    rest: fn(char) -> bool,
    most: usize,
    written: &'static str,
) -> Names {
    Names {
        first,
        rest,
        most,
        written,
    }
}

const WORDS: Names = names(dashed, dashed, 64, "^[a-zA-Z0-9_-]{1,64}$");
const ANTHROPIC: Names = names(dashed, dashed, 128, "^[a-zA-Z0-9_-]{1,128}$");
const GEMINI: Names = names(
    initial,
    |c| dashed(c) || ".:".contains(c),
    128,
    "^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$",
);
const MCP: Names = names(dotted, dotted, 128, "^[a-zA-Z0-9_.-]{1,128}$");
const PORTABLE: Names = names(initial, dashed, 64, "^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$");
/// No rule was found, but a tool without a name cannot be called.
const ANY: Names = names(|_| true, |_| true, usize::MAX, "^.+$");

fn initial(letter: char) -> bool {
    letter.is_ascii_alphabetic() || letter == '_'
}

fn dashed(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || "_-".contains(letter)
}

fn dotted(letter: char) -> bool {
    dashed(letter) || letter == '.'
}

impl Names {
    fn admit(&self, name: &str) -> bool {
        let mut letters = name.chars();
        letters.next().is_some_and(self.first) && letters.all(self.rest) && name.len() <= self.most
    }
}

/// How tools are named, the fewest and the most of them.
fn rules(dialect: &str) -> Option<(&'static Names, usize, usize)> {
    const ANY_NUMBER: usize = usize::MAX;
    Some(match dialect {
        "openai" | "openai-strict" | "groq" | "deepseek" | "deepseek-strict" | "xai" => {
            (&WORDS, 0, 128)
        }
        "anthropic" => (&ANTHROPIC, 0, ANY_NUMBER),
        "anthropic-strict" => (&ANTHROPIC, 0, 20),
        "gemini" | "gemini-openapi" => (&GEMINI, 0, 512),
        "ollama" => (&ANY, 0, ANY_NUMBER),
        "mistral" => (&WORDS, 0, ANY_NUMBER),
        "bedrock" => (&WORDS, 1, ANY_NUMBER),
        "mcp" => (&MCP, 0, ANY_NUMBER),
        "portable" => (&PORTABLE, 0, 128),
        _ => return None,
    })
}

/// Tells what a provider would refuse about the list of tools in one request, judged by their names.
///
/// The path of a refusal is the tool's place in the list. No more than 100 refusals are listed.
///
/// ```
/// use toolwright_schema::{Dialect, validate_tools_for};
///
/// assert!(validate_tools_for(Dialect::GEMINI, ["shop.find"]).is_empty());
///
/// let refusals = validate_tools_for(Dialect::OPENAI, ["find", "shop.find"]);
/// assert_eq!(refusals[0].to_string(), "/1: the name `shop.find` does not match `^[a-zA-Z0-9_-]{1,64}$`");
/// ```
pub fn validate_tools_for<'n>(
    dialect: Dialect,
    names: impl IntoIterator<Item = &'n str>,
) -> Vec<Refusal> {
    let whole = |rule| Refusal {
        path: String::new(),
        rule,
    };
    let Some((rule, fewest, most)) = rules(dialect.name()) else {
        return vec![whole(format!(
            "nothing is known about the dialect `{}`",
            dialect.name()
        ))];
    };
    let mut refusals = Vec::new();
    let mut seen = HashSet::new();
    let mut count = 0_usize;
    for name in names {
        let mut refuse = |rule| {
            let path = format!("/{count}");
            if refusals.len() < Report::MOST {
                refusals.push(Refusal { path, rule });
            }
        };
        if !rule.admit(name) {
            refuse(format!(
                "the name `{}` does not match `{}`",
                short(name),
                rule.written
            ));
        }
        if !seen.insert(name) {
            refuse(format!("the name `{}` is taken", short(name)));
        }
        count += 1;
    }
    if count < fewest {
        refusals.insert(
            0,
            whole("an empty list of tools is not accepted: leave it out".to_owned()),
        );
    }
    if count > most {
        refusals.insert(
            0,
            whole(format!("{count} tools, and at most {most} are accepted")),
        );
    }
    refusals
}
