//! Calls of custom tools, whose only argument is a text: the text as JSON arguments, whole and piece by piece.
//!
//! The arguments of a text that is cut off are cut off as well. They are no JSON, so that no tool runs with half of a text.

use toolwright_core::wire::ToolPlan;

/// The parameter of a tool that the request did not define as a custom tool; validation rejects such a call.
const UNKNOWN_PARAM: &str = "input";

/// The end of the arguments.
pub(crate) const ARGUMENTS_END: &str = "\"}";

/// Returns the start of the arguments, up to the text.
pub(crate) fn arguments_start(tools: &ToolPlan, wire_name: &str) -> String {
    let param = tools.custom_param(wire_name).unwrap_or(UNKNOWN_PARAM);
    format!("{{\"{}\":\"", escape(param))
}

/// Escapes a text, or a piece of it, as part of a JSON string.
pub(crate) fn escape(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default().to_owned()
}

/// Returns true if a model of OpenAI calls custom tools. The name of a deployment does not show its model.
pub(crate) fn is_supported(model: &str) -> bool {
    gpt_version(model)
        .is_some_and(|(version, variant)| version >= FIRST_VERSION && !variant.contains("chat"))
}

/// The first version of `gpt-` models that call custom tools.
const FIRST_VERSION: (u32, u32) = (5, 0);

/// The version and the variant of a `gpt-` model of OpenAI.
pub(crate) fn gpt_version(model: &str) -> Option<((u32, u32), &str)> {
    let base = model.strip_prefix("ft:").unwrap_or(model);
    let name = base.strip_prefix("gpt-")?;
    let (version, variant) = name.split_once('-').unwrap_or((name, ""));
    let (major, minor) = version.split_once('.').unwrap_or((version, "0"));
    Some(((major.parse().ok()?, minor.parse().ok()?), variant))
}

#[cfg(test)]
mod tests {
    use super::{escape, is_supported};

    #[test]
    fn pieces_of_a_text_are_escaped_one_by_one() {
        assert_eq!(escape("a \"b\"\n\\"), r#"a \"b\"\n\\"#);
        assert_eq!(escape(""), "");
    }

    #[test]
    fn models_call_custom_tools_from_version_five() {
        for model in ["gpt-5", "gpt-5-mini", "gpt-5.1-codex", "ft:gpt-6-2026-04-23:me"] {
            assert!(is_supported(model), "{model}");
        }
        for model in ["gpt-4.1", "gpt-4o", "gpt-5-chat-latest", "o3", "openai/gpt-5", "my-model"] {
            assert!(!is_supported(model), "{model}");
        }
    }
}
