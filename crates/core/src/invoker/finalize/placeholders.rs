//! Fills in the placeholders of a text result.
//!
//! Only placeholders of the tool's own text are filled in, not those that came with the arguments. A result is
//! one string, so there are two checks: a copy of a line of an argument is not expanded, and a confidential
//! value is not filled in at all if the arguments could have spelled its placeholder, because a tool may
//! split, join or convert arguments before it returns them.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use serde_json::Value;

use crate::call::content::Content;
use crate::call::context::CallContext;
use crate::call::result::ToolResult;
use crate::invoker::arguments::argument_text;
use crate::registry::RegisteredTool;
use crate::tool::input_schema::{PROJECT_DIR_PARAM, has_param};
use crate::tool::template::Template;

/// The maximum number of bytes filled into one result: a long argument with a thousand placeholders could exhaust
/// the memory.
const MAX_EXPANDED_BYTES: usize = 16 << 20;

/// Replaces placeholders in text items by the arguments, in prompts and in tools with `expand_result`.
///
/// Bound arguments are filled in in prompts only.
pub(super) fn expand_placeholders(
    result: &mut ToolResult,
    tool: &RegisteredTool,
    arguments: Option<&Value>,
    cx: &CallContext<'_>,
) {
    let Some(Value::Object(arguments)) = arguments else {
        return;
    };
    let mut sent = Vec::new();
    for (name, value) in arguments.iter().filter(|(name, _)| !tool.hides_param(name)) {
        let mut texts = Vec::new();
        collect_text(value, &mut texts);
        // The name of an argument that is not a parameter is text of the model too.
        texts.extend((!has_param(&tool.spec.input, name)).then_some(name.as_str()));
        sent.extend(texts.into_iter().map(|text| (name.as_str(), text)));
    }
    let foreign_lines: Vec<String> =
        sent.iter().flat_map(|(_, text)| placeholder_lines(text)).collect();
    let hidden = arguments.keys().filter(|name| tool.hides_param(name));
    let confidential: Vec<String> = hidden
        .map(String::as_str)
        .chain([PROJECT_DIR_PARAM])
        .filter_map(|name| argument_text(name, arguments, cx))
        .filter(|text| !text.is_empty())
        .collect();
    // Cached by name: there may be a thousand placeholders, and megabytes of arguments.
    let spelled_cache = RefCell::new(HashMap::new());
    let is_spelled = |name: &str| {
        let in_argument = |(argument, text): &(&str, &str)| {
            *argument != name && could_spell_placeholder(text, name)
        };
        let mut cache = spelled_cache.borrow_mut();
        *cache.entry(name.to_owned()).or_insert_with(|| sent.iter().any(in_argument))
    };
    let filled_bytes = Cell::new(0_usize);
    let lookup = |name: &str| {
        if name != PROJECT_DIR_PARAM && tool.hides_param(name) && !tool.policy.is_prompt {
            return None;
        }
        let value = argument_text(name, arguments, cx)?;
        // A default may contain the project directory too.
        let is_confidential = confidential.iter().any(|text| value.contains(text.as_str()));
        filled_bytes.set(filled_bytes.get().saturating_add(value.len()));
        let fits = filled_bytes.get() <= MAX_EXPANDED_BYTES;
        (fits && !(is_confidential && is_spelled(name))).then_some(value)
    };
    for item in &mut result.content {
        if let Content::Text { text } = item
            && text.contains("${")
        {
            *text = Template::parse_escaping(text, &foreign_lines).expand(lookup);
        }
    }
}

/// Collects every string of a value, keys included.
fn collect_text<'a>(value: &'a Value, texts: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => texts.push(text),
        Value::Array(items) => {
            for item in items {
                collect_text(item, texts);
            }
        }
        Value::Object(fields) => {
            for (key, field) in fields {
                texts.push(key);
                collect_text(field, texts);
            }
        }
        _ => {}
    }
}

/// Returns the lines that can contain the start of a placeholder, as they are and with quotes escaped.
fn placeholder_lines(text: &str) -> impl Iterator<Item = String> {
    let is_relevant =
        |line: &&str| line.contains("${") || (line.starts_with('{') && line.len() > 1);
    let lines = text.lines().map(str::trim).filter(is_relevant);
    lines.flat_map(|line| {
        let quoted = line.contains(['"', '\\']).then(|| escape_quotes(line));
        [Some(line.to_owned()), quoted].into_iter().flatten()
    })
}

fn escape_quotes(line: &str) -> String {
    line.replace('\\', r"\\").replace('"', "\\\"")
}

/// Returns true if text of an argument could be, start or name the placeholder `${name}`, also after it was
/// joined with other text, or changed in case, spacing or escapes.
fn could_spell_placeholder(text: &str, name: &str) -> bool {
    let normalise = |text: &str| -> String {
        let kept = text.chars().filter(|c| c.is_alphanumeric() || "{}".contains(*c));
        kept.flat_map(char::to_lowercase).collect()
    };
    let (normalised, name) = (normalise(text), normalise(name));
    let is_encoded = || text.contains(['$', '{', '%', '&', '\\']) && normalised.contains(&name);
    let starts_name = |(brace, _): (usize, &str)| {
        let rest = normalised.get(brace + 1..).unwrap_or_default();
        name.starts_with(rest) || rest.starts_with(&name)
    };
    normalised == name
        || text.trim_end().ends_with('$')
        || is_encoded()
        || normalised.match_indices('{').any(starts_name)
}
