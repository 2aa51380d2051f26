//! The values that the schema or the description of a parameter lists.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

/// Limits, because specs may come from foreign servers.
pub(crate) const MAX_OPTIONS: usize = 16;
const MAX_SUBSCHEMAS: usize = 64;

/// A regular expression; all of ours compile, so none is only what the type requires.
type Form = LazyLock<Option<Regex>>;

static EXAMPLE: Form = LazyLock::new(|| Regex::new(r"(?i)example|e\.g|such as|like ").ok());
/// Values to choose from: "`C` or `F`", but not "the unit of `value`".
static LIST: Form = LazyLock::new(|| {
    Regex::new(r"`[^`/:.@]{1,32}`(\s?(,|/|\||,?\s?or|,?\s?and)\s?`[^`/:.@]{1,32}`)+").ok()
});

/// Returns the values that a description has in backticks: the first list of options, and the examples.
pub fn quoted_values(description: &str) -> (Vec<&str>, Vec<&str>) {
    let example = EXAMPLE.as_ref().and_then(|form| form.find(description));
    let start = example.map_or(description.len(), |example| example.start());
    let (before, examples) = description.split_at_checked(start).unwrap_or_default();
    let options = LIST.as_ref().and_then(|form| form.find(before));
    (quoted(options.map_or("", |list| list.as_str())), quoted(examples))
}

fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// Returns the strings that a parameter's schema lists, itself or where it refers to.
pub(crate) fn options<'s>(root: &'s Value, schema: &'s Value) -> Vec<&'s str> {
    let mut options = Vec::new();
    let mut open = vec![schema];
    for _ in 0..MAX_SUBSCHEMAS {
        let Some(schema) = open.pop() else { break };
        // One pass over the keywords: a lookup of each costs more than all of a usual schema.
        for (keyword, value) in schema.as_object().into_iter().flatten() {
            match (keyword.as_str(), value) {
                ("enum", Value::Array(values)) => {
                    options.extend(values.iter().take(MAX_OPTIONS).filter_map(Value::as_str));
                }
                ("const", Value::String(value)) => options.push(value),
                ("anyOf" | "oneOf" | "allOf", Value::Array(branches)) => {
                    open.extend(branches.iter().take(MAX_OPTIONS));
                }
                ("$ref", Value::String(reference)) => {
                    let path = reference.strip_prefix('#');
                    open.extend(path.and_then(|path| root.pointer(path)));
                }
                _ => {}
            }
        }
    }
    options.truncate(MAX_OPTIONS);
    options
}
