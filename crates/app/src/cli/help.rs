//! Help texts with examples of the program's own tools.

use serde_json::Value;
use toolwright_core::{ParamInfo, Registry, ToolSpec};

/// The examples after the help of the program itself.
pub(crate) fn root_help(registry: Option<&Registry>) -> String {
    let mut examples = vec![
        ("serve --open".to_owned(), "the same in a browser"),
        ("tools list".to_owned(), "every tool there is"),
    ];
    if let Some(spec) = registry.and_then(example_tool) {
        examples.push((format!("tools show {}", spec.name), "what one takes and returns"));
        examples.push((call_example(&spec), "run it"));
    }
    examples.push(("chat".to_owned(), "let a model call them"));
    examples.push(("check".to_owned(), "what each provider makes of the tools"));
    let width = examples.iter().map(|(command, _)| command.len()).max().unwrap_or_default();
    let lines = examples.iter().map(|(command, about)| format!("  {command:width$} {about}\n"));
    format!(
        "Try next:\n{}\nWith cargo, put `cargo run -q --` before them. Results go to stdout, everything else to stderr.\n\
         Exit codes: 0 done, 1 a call failed or something is wrong, 2 the command line was wrong.",
        lines.collect::<String>()
    )
}

/// The examples after the help of `tools call`.
pub(crate) fn call_help(registry: Option<&Registry>) -> String {
    let example = registry.and_then(example_tool);
    let (pairs, name, json) = match &example {
        Some(spec) => (call_example(spec), spec.name.as_str(), json_example(spec)),
        None => {
            let pairs = "tools call get_weather city=Paris".to_owned();
            (pairs, "get_weather", r#"{"city":"Paris"}"#.to_owned())
        }
    };
    format!(
        "Examples:\n  {pairs}\n  tools call {name} '{json}'\n  echo '{json}' | tools call {name} -\n\n\
         A value is read by the type its parameter has: text stays text, numbers become numbers, objects and\n\
         lists are written as JSON. A key written several times makes a list."
    )
}

/// The first tool with required arguments whose valid values are known, else the first; one that changes nothing, if there is
/// one.
fn example_tool(registry: &Registry) -> Option<ToolSpec> {
    let snapshot = registry.snapshot();
    let rank = |spec: &ToolSpec| {
        let required = required_params(spec);
        let has_valid_example =
            !required.is_empty() && required.iter().all(|param| valid_value(spec, param).is_some());
        (spec.hints.read_only != Some(true), !has_valid_example)
    };
    snapshot.iter().map(|tool| tool.spec()).min_by_key(|spec| rank(spec)).cloned()
}

fn required_params(spec: &ToolSpec) -> Vec<ParamInfo> {
    spec.params().into_iter().filter(|param| param.required).collect()
}

/// `tools call NAME key=value …` with the required parameters.
fn call_example(spec: &ToolSpec) -> String {
    let pairs = required_params(spec)
        .into_iter()
        .map(|param| format!(" {}={}", param.name, shell_word(example_value(spec, &param))));
    format!("tools call {}{}", spec.name, pairs.collect::<String>())
}

/// Quotes a word of a command line where a shell would change it.
fn shell_word(word: String) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_.,:/@%+".contains(c);
    match word.chars().all(is_plain) {
        true => word,
        false => format!("'{}'", word.replace('\'', r"'\''")),
    }
}

fn json_example(spec: &ToolSpec) -> String {
    let pairs = required_params(spec).into_iter().map(|param| {
        let value = example_value(spec, &param);
        let value = match param.json_type.as_str() {
            "string" => Value::from(value),
            _ => serde_json::from_str(&value).unwrap_or_default(),
        };
        (param.name, value)
    });
    Value::Object(pairs.collect()).to_string()
}

/// A value for the example of a parameter; a placeholder if no valid one is known.
fn example_value(spec: &ToolSpec, param: &ParamInfo) -> String {
    valid_value(spec, param).unwrap_or_else(|| param.name.to_uppercase())
}

/// The first example or permitted value of a parameter, for text also the one in backticks in its description, else a number
/// or boolean; `None` for other types.
fn valid_value(spec: &ToolSpec, param: &ParamInfo) -> Option<String> {
    let properties = spec.input.as_value().get("properties")?;
    let property = properties.get(&param.name);
    let first = |key: &str| property?.get(key)?.as_array()?.first().cloned();
    let quoted = || {
        let description = property?.get("description")?.as_str()?;
        let mut quoted = description.split('`').skip(1).step_by(2);
        // Names of other parameters are in backticks, too.
        quoted.find(|text| properties.get(*text).is_none()).map(str::to_owned)
    };
    match first("examples").or_else(|| first("enum")) {
        Some(Value::String(text)) => Some(text),
        Some(value) => Some(value.to_string()),
        None => match param.json_type.as_str() {
            "integer" | "number" => Some("1".to_owned()),
            "boolean" => Some("true".to_owned()),
            "string" => quoted(),
            _ => None,
        },
    }
}
