//! The rules for the names and the number of tools in a request.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::{
    Rejection,
    report::{Report, excerpt},
};
use crate::{Dialect, Schema, Tape};

/// The pattern of tool names of a dialect, and the minimum and maximum number of tools.
fn tool_rules(dialect: &str) -> Option<(&'static str, usize, usize)> {
    const ANY_NUMBER: usize = usize::MAX;
    const WORD_OR_DASH: &str = "^[a-zA-Z0-9_-]{1,64}$";
    const ANTHROPIC: &str = "^[a-zA-Z0-9_-]{1,128}$";
    Some(match dialect {
        "openai" | "openai-strict" | "groq" | "deepseek" | "deepseek-strict" | "xai" => {
            (WORD_OR_DASH, 0, 128)
        }
        "anthropic" => (ANTHROPIC, 0, ANY_NUMBER),
        "anthropic-strict" => (ANTHROPIC, 0, 20),
        "gemini" | "gemini-openapi" => ("^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$", 0, 512),
        // No documented rule, but a tool without a name cannot be called.
        "ollama" => ("^.+$", 0, ANY_NUMBER),
        "mistral" => (WORD_OR_DASH, 0, ANY_NUMBER),
        "bedrock" => (WORD_OR_DASH, 1, ANY_NUMBER),
        "mcp" => ("^[a-zA-Z0-9_.-]{1,128}$", 0, ANY_NUMBER),
        "portable" => ("^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$", 0, 128),
        _ => return None,
    })
}

/// Lists what a provider would reject in the names of the tools of one request.
///
/// The path of a rejection is the tool's index in the list. At most 100 rejections are listed.
///
/// ```
/// # mod toolwright { pub extern crate toolwright_schema as schema; }
/// use toolwright::schema::{Dialect, validate_tools_for};
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
    let Some((pattern, min, max)) = tool_rules(dialect.name()) else {
        return vec![whole(format!("nothing is known about the dialect `{}`", dialect.name()))];
    };
    let schema = Schema::trusted(json!({"pattern": pattern}));
    // For `.` a line break is no character; no other pattern accepts a space either.
    let is_valid = |name: &str| {
        let name = Value::from(name.replace('\n', " "));
        schema.is_valid(Tape::from_value(&name).root())
    };
    let mut refusals = Vec::new();
    let mut seen = HashSet::new();
    let mut count = 0_usize;
    for name in names {
        let mut refuse = |rule| {
            let path = format!("/{count}");
            if refusals.len() < Report::MAX_REJECTIONS {
                refusals.push(Rejection { path, rule });
            }
        };
        if !is_valid(name) {
            refuse(format!("the name `{}` does not match `{}`", excerpt(name), pattern));
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
