//! A text result in, the same with its placeholders filled in out.

use serde_json::Value;

use super::arguments::argument_text;
use crate::content::Content;
use crate::context::CallContext;
use crate::input::PROJECT_DIR;
use crate::registry::Entry;
use crate::result::ToolResult;
use crate::template::Template;

/// Fills placeholders in text with the arguments, because the tool's author asked for it.
///
/// What is hidden from the model stays hidden: the text may hold placeholders that the model wrote.
///
/// A prompt is filled in unasked, so it tells its author's words from those of others: the lines that
/// it copied from its arguments stay as they were sent. What a view has bound is filled in, unless
/// somebody asks for it by name.
pub(super) fn expand(
    result: &mut ToolResult,
    entry: &Entry,
    arguments: Option<&Value>,
    cx: &CallContext<'_>,
) {
    let Some(Value::Object(arguments)) = arguments else {
        return;
    };
    let mut foreign = Vec::new();
    if entry.policy.is_prompt {
        for value in arguments.values() {
            lines_with_placeholders(value, &mut foreign);
        }
    }
    let tells = |name: &str| {
        let asked_for = || foreign.iter().any(|line| line.contains(name));
        name == PROJECT_DIR || !entry.hides(name) || (entry.policy.is_prompt && !asked_for())
    };
    let lookup = |name: &str| match tells(name) {
        true => argument_text(name, arguments, cx),
        false => None,
    };
    for item in &mut result.content {
        if let Content::Text { text } = item {
            *text = Template::parse_around(text, &foreign).expand(lookup);
        }
    }
}

/// Collects the lines of an argument that hold something like a placeholder.
fn lines_with_placeholders<'a>(value: &'a Value, lines: &mut Vec<&'a str>) {
    let mut add = |text: &'a str| {
        let held = text.lines().filter(|line| line.contains("${"));
        lines.extend(held.map(str::trim));
    };
    match value {
        Value::String(text) => add(text),
        Value::Array(items) => {
            for item in items {
                lines_with_placeholders(item, lines);
            }
        }
        Value::Object(fields) => {
            fields.keys().for_each(|key| add(key));
            for field in fields.values() {
                lines_with_placeholders(field, lines);
            }
        }
        _ => {}
    }
}
