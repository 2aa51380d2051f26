//! Schema in, what the provider would refuse out: a second opinion on what lowering produced.
//!
//! Written from the providers' rules alone. It shares neither code nor tables with `dialect`, `lower` and `pass`, so that
//! each side can find the other's mistakes. Where a rule is not known for sure, the stricter reading is taken.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::Dialect;

mod bounds;
mod outline;
mod report;

mod definition;
mod draft;
mod keyword;
mod kind;
mod object;
mod pattern;
mod reference;
mod root;

mod anthropic;
mod compatible;
mod google;
mod mcp;
mod ollama;
mod openai;
mod portable;
mod tools;

#[cfg(test)]
mod tests;

pub use tools::validate_tools_for;

/// One thing a provider would not accept.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Refusal {
    /// A JSON pointer to the guilty part; empty for the whole.
    pub path: String,
    /// The rule it breaks, as one sentence.
    pub rule: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() {
            "root"
        } else {
            &self.path
        };
        write!(f, "{path}: {}", self.rule)
    }
}

/// Tells what a provider would refuse about the schema of a tool's parameters; nothing when it is accepted.
///
/// Takes any JSON. What is larger than 100,000 values or deeper than 128 is refused unread, and no more than 100 refusals
/// are listed. Limits that hold for a request as a whole are applied as if this tool were the only one.
///
/// ```
/// use serde_json::json;
/// use toolwright_schema::{Dialect, validate_for};
///
/// let schema = json!({
///     "type": "object",
///     "properties": {"page": {"type": "string", "format": "uri"}},
///     "required": ["page"],
///     "additionalProperties": false
/// });
/// assert!(validate_for(Dialect::ANTHROPIC_STRICT, &schema).is_empty());
///
/// let refusals = validate_for(Dialect::OPENAI_STRICT, &schema);
/// assert_eq!(refusals[0].to_string(), "/properties/page: format `uri` is not accepted");
/// ```
pub fn validate_for(dialect: Dialect, schema: &Value) -> Vec<Refusal> {
    let refusal = |rule| {
        vec![Refusal {
            path: String::new(),
            rule,
        }]
    };
    if let Some(rule) = bounds::exceeded(schema) {
        return refusal(rule);
    }
    match check_named(dialect.name()) {
        Some(check) => check(schema),
        None => refusal(format!(
            "nothing is known about the dialect `{}`",
            dialect.name()
        )),
    }
}

type Check = fn(&Value) -> Vec<Refusal>;

fn check_named(dialect: &str) -> Option<Check> {
    Some(match dialect {
        "openai" | "groq" | "deepseek" => openai::plain,
        "openai-strict" => openai::strict,
        "anthropic" => anthropic::plain,
        "anthropic-strict" => anthropic::strict,
        "gemini" => google::json_schema,
        "gemini-openapi" => google::openapi,
        "ollama" => ollama::tool,
        "mistral" => compatible::mistral,
        "deepseek-strict" => compatible::deepseek_strict,
        "xai" => compatible::xai,
        "bedrock" => compatible::bedrock,
        "mcp" => mcp::tool,
        "portable" => portable::tool,
        _ => return None,
    })
}
