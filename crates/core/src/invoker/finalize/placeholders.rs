//! A text result in, the same with its placeholders filled in out.
//!
//! Only the author's placeholders are filled in. A result is one string, so those that came with the
//! arguments are recognised twice: a copy of a line of an argument stays as it was sent, and what is
//! confidential is not filled in at all if the arguments could have spelled its placeholder, because
//! a tool may split, join or convert what it was sent before it returns it.

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

/// How many bytes are filled into one result; a text that names itself a thousand times could fill the memory.
const MAX_EXPANDED_BYTES: usize = 16 << 20;

/// Fills placeholders in text with the arguments: in every prompt, and where a tool asks for it.
///
/// A tool never shows a bound argument; a prompt may.
pub(super) fn expand_placeholders(
    result: &mut ToolResult,
    entry: &RegisteredTool,
    arguments: Option<&Value>,
    cx: &CallContext<'_>,
) {
    let Some(Value::Object(arguments)) = arguments else {
        return;
    };
    let mut sent = Vec::new();
    for (name, value) in arguments
        .iter()
        .filter(|(name, _)| !entry.hides_param(name))
    {
        let mut texts = Vec::new();
        collect_text(value, &mut texts);
        // The name of an argument that no parameter has is the model's choice too.
        texts.extend((!has_param(&entry.spec.input, name)).then_some(name.as_str()));
        sent.extend(texts.into_iter().map(|text| (name.as_str(), text)));
    }
    let copied: Vec<String> = sent
        .iter()
        .flat_map(|(_, text)| placeholder_lines(text))
        .collect();
    let hidden = arguments.keys().filter(|name| entry.hides_param(name));
    let confidential: Vec<String> = hidden
        .map(String::as_str)
        .chain([PROJECT_DIR_PARAM])
        .filter_map(|name| argument_text(name, arguments, cx))
        .filter(|text| !text.is_empty())
        .collect();
    // Each name is looked for once: there may be a thousand placeholders, and megabytes to look through.
    let spelled = RefCell::new(HashMap::new());
    let is_spelled = |name: &str| {
        let in_argument =
            |(of, text): &(&str, &str)| *of != name && could_spell_placeholder(text, name);
        let mut known = spelled.borrow_mut();
        *known
            .entry(name.to_owned())
            .or_insert_with(|| sent.iter().any(in_argument))
    };
    let filled = Cell::new(0_usize);
    let lookup = |name: &str| {
        if name != PROJECT_DIR_PARAM && entry.hides_param(name) && !entry.policy.is_prompt {
            return None;
        }
        let value = argument_text(name, arguments, cx)?;
        // A default may hold the project directory too.
        let is_confidential = confidential.iter().any(|it| value.contains(it.as_str()));
        filled.set(filled.get().saturating_add(value.len()));
        let fits = filled.get() <= MAX_EXPANDED_BYTES;
        (fits && !(is_confidential && is_spelled(name))).then_some(value)
    };
    for item in &mut result.content {
        if let Content::Text { text } = item
            && text.contains("${")
        {
            *text = Template::parse_escaping(text, &copied).expand(lookup);
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

/// Returns the lines that can begin a placeholder, as they are and as they look when quoted.
fn placeholder_lines(text: &str) -> impl Iterator<Item = String> {
    let marked = |line: &&str| line.contains("${") || (line.starts_with('{') && line.len() > 1);
    let lines = text.lines().map(str::trim).filter(marked);
    lines.flat_map(|line| {
        let quoted = line.contains(['"', '\\']).then(|| escape_quotes(line));
        [Some(line.to_owned()), quoted].into_iter().flatten()
    })
}

fn escape_quotes(line: &str) -> String {
    line.replace('\\', r"\\").replace('"', "\\\"")
}

/// Returns true if text from an argument could be, begin or name the placeholder `${name}`, also
/// after it was joined with other text, or changed in case, spacing or escapes.
fn could_spell_placeholder(text: &str, name: &str) -> bool {
    let reduce = |text: &str| -> String {
        let kept = text
            .chars()
            .filter(|c| c.is_alphanumeric() || "{}".contains(*c));
        kept.flat_map(char::to_lowercase).collect()
    };
    let (reduced, name) = (reduce(text), reduce(name));
    let is_encoded = || text.contains(['$', '{', '%', '&', '\\']) && reduced.contains(&name);
    let begins = |(at, _): (usize, &str)| {
        let rest = reduced.get(at + 1..).unwrap_or_default();
        name.starts_with(rest) || rest.starts_with(&name)
    };
    reduced == name
        || text.trim_end().ends_with('$')
        || is_encoded()
        || reduced.match_indices('{').any(begins)
}
