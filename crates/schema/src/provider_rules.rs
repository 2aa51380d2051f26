//! Checks a schema against the rules of a provider, as an independent test of what lowering produced.
//!
//! Written from the providers' documentation alone. It shares neither code nor tables with `dialect` and `lower`, so that
//! each side can reveal mistakes of the other. Where a rule is uncertain, the stricter reading is used.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::Dialect;

mod checks;
mod providers;
mod report;
mod size_limit;
mod subschemas;

mod tool_names;

#[cfg(test)]
mod tests;

use checks::{
    definition_refs, keywords, local_refs, meta_schema, object_properties, pattern, root,
    value_types,
};
use providers::{ProviderRules, anthropic, google, mcp, ollama, openai, other_providers, portable};
pub use tool_names::validate_tools_for;

/// One rule of a provider that a schema violates.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Rejection {
    /// The JSON pointer of the rejected part; empty for the whole.
    pub path: String,
    /// The rule that it violates, as one sentence.
    pub rule: String,
}

impl fmt::Display for Rejection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = if self.path.is_empty() { "root" } else { &self.path };
        write!(f, "{path}: {}", self.rule)
    }
}

/// Lists what a provider would reject in the schema of a tool's parameters; empty if it is accepted.
///
/// Accepts any JSON. A schema with more than 100,000 values or 128 levels is rejected unread, and at most 100 rejections
/// are listed. Limits that hold for a request as a whole are applied as if this tool were the only one.
///
/// ```
/// # mod toolwright { pub use serde_json::json; pub extern crate toolwright_schema as schema; }
/// use toolwright::json;
/// use toolwright::schema::{Dialect, validate_for};
///
/// let schema = json!({
///     "type": "object",
///     "properties": {"page": {"type": "string", "format": "uri"}},
///     "required": ["page"],
///     "additionalProperties": false
/// });
/// assert!(validate_for(Dialect::ANTHROPIC_STRICT, &schema).is_empty());
///
/// let rejections = validate_for(Dialect::OPENAI_STRICT, &schema);
/// assert_eq!(rejections[0].to_string(), "/properties/page: format `uri` is not accepted");
/// ```
pub fn validate_for(dialect: Dialect, schema: &Value) -> Vec<Rejection> {
    let refusal = |rule| vec![Rejection { path: String::new(), rule }];
    if let Some(rule) = size_limit::exceeded_limit(schema) {
        return refusal(rule);
    }
    match rules_of_dialect(dialect.name()) {
        Some(rules) => rules.check(schema),
        None => refusal(format!("nothing is known about the dialect `{}`", dialect.name())),
    }
}

fn rules_of_dialect(dialect: &str) -> Option<ProviderRules> {
    Some(match dialect {
        "openai" | "groq" | "deepseek" => openai::NON_STRICT,
        "openai-strict" => openai::STRICT,
        "anthropic" => anthropic::NON_STRICT,
        "anthropic-strict" => anthropic::STRICT,
        "gemini" => google::JSON_SCHEMA,
        "gemini-openapi" => google::OPENAPI,
        "ollama" => ollama::RULES,
        "mistral" => other_providers::MISTRAL,
        "deepseek-strict" => other_providers::DEEPSEEK_STRICT,
        "xai" => other_providers::XAI,
        "bedrock" => other_providers::BEDROCK,
        "mcp" => mcp::RULES,
        "portable" => portable::RULES,
        _ => return None,
    })
}
