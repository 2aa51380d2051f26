//! [`CustomToolFormat`]: the format of the text that is the only argument of a custom tool.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolwright_schema::Schema;

/// The format of the text that is the only argument of a custom tool.
///
/// Newer models of OpenAI write the text as it is, without JSON around it, and a grammar is enforced while they write. All
/// other models call a function with one parameter, whose description has the grammar; there nothing enforces it, so the
/// tool itself has to reject other text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CustomToolFormat {
    /// Any text.
    #[default]
    Text,
    /// Text in a grammar of [Lark](https://lark-parser.readthedocs.io).
    Lark(String),
    /// Text that a regular expression matches as a whole.
    Regex(String),
}

impl CustomToolFormat {
    /// Returns the description of the parameter that has the text, for models that call a function.
    pub(crate) fn description(&self) -> String {
        match self.grammar() {
            None => "Any text.".to_owned(),
            Some((syntax, definition)) => {
                format!("Text in this grammar ({syntax}):\n{definition}")
            }
        }
    }

    /// Returns the `format` of a definition in OpenAI's Responses API.
    pub(crate) fn to_responses_json(&self) -> Value {
        match self.grammar() {
            None => json!({"type": "text"}),
            Some((syntax, definition)) => {
                json!({"type": "grammar", "syntax": syntax, "definition": definition})
            }
        }
    }

    /// Returns the `format` of a definition in OpenAI's Chat Completions.
    pub(crate) fn to_chat_json(&self) -> Value {
        match self.grammar() {
            None => json!({"type": "text"}),
            Some((syntax, definition)) => {
                json!({"type": "grammar", "grammar": {"syntax": syntax, "definition": definition}})
            }
        }
    }

    fn grammar(&self) -> Option<(&'static str, &str)> {
        match self {
            Self::Text => None,
            Self::Lark(definition) => Some(("lark", definition)),
            Self::Regex(definition) => Some(("regex", definition)),
        }
    }
}

/// Returns the parameter that has the text of a custom tool; `None` if the schema has others, as after a view has bound it.
pub(crate) fn text_param(input: &Schema) -> Option<&str> {
    let properties = input.as_value().get("properties")?.as_object()?;
    let (name, schema) = properties.iter().next().filter(|_| properties.len() == 1)?;
    (schema.get("type")? == "string").then_some(name)
}
