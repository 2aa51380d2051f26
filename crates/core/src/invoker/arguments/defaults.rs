//! Arguments in, the same with their defaults out.

use serde_json::{Map, Value};
use toolwright_schema::Violation;

use super::param_violation;
use crate::call::context::CallContext;
use crate::registry::RegisteredTool;
use crate::tool::input_schema::{PROJECT_DIR_PARAM, ParamDefault, coerce_to_param, has_param};

/// What filling in defaults came to.
pub(super) struct FilledDefaults<'e> {
    /// The parameters that were not sent and now have a value.
    pub(super) names: Vec<&'e str>,
    /// The parameters whose default needs a value that is not there.
    pub(super) unfilled: Vec<Violation>,
}

/// Fills in what was not sent, in the order of the parameters.
pub(super) fn fill_defaults<'e>(
    sent: &mut Map<String, Value>,
    bound: &Map<String, Value>,
    entry: &'e RegisteredTool,
    cx: &CallContext<'_>,
) -> FilledDefaults<'e> {
    let input = &entry.spec.input;
    let (mut names, mut unfilled) = (Vec::new(), Vec::new());
    for (name, default) in &entry.tool.0.defaults {
        let absent = match sent.get(name) {
            None => has_param(input, name),
            // `null` asks for the default, unless it is a value of its own.
            Some(Value::Null) => coerce_to_param(input, name, Value::Null).is_err(),
            Some(_) => false,
        };
        if !absent {
            continue;
        }
        let value = match default {
            ParamDefault::Value(value) => value.clone(),
            ParamDefault::Template(template) => {
                let lookup = |name: &str| {
                    argument_text(name, bound, cx).or_else(|| argument_text(name, sent, cx))
                };
                if let Some(lacking) = template.first_unresolved(lookup) {
                    let source = template.source();
                    let message = format!(
                        "missing; its default `{source}` needs `{lacking}`, which is not set"
                    );
                    unfilled.push(param_violation(name, "required", message));
                    continue;
                }
                let text = template.expand(lookup);
                // One that does not fit is told with all that is wrong.
                coerce_to_param(input, name, Value::from(text.as_str()))
                    .unwrap_or(Value::String(text))
            }
        };
        if sent.insert(name.clone(), value).is_none() {
            names.push(name.as_str());
        }
    }
    FilledDefaults { names, unfilled }
}

/// Takes `null` for an argument that was not sent, where it may be left out and `null` is no value of its own.
///
/// Of our own tools, parameters with a default and those that are an `Option` are read so in any case.
pub(super) fn drop_optional_nulls(
    sent: &mut Map<String, Value>,
    entry: &RegisteredTool,
    notes: &mut Vec<String>,
) {
    let input = &entry.spec.input;
    let required = input.as_value().get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|it| it == name));
    sent.retain(|name, value| {
        let keep = !value.is_null()
            || is_required(name)
            || !has_param(input, name)
            || coerce_to_param(input, name, Value::Null).is_ok();
        if !keep {
            notes.push(format!("/{name}: null read as not sent"));
        }
        keep
    });
}

/// Returns an argument as a placeholder shows it.
pub(in crate::invoker) fn argument_text(
    name: &str,
    arguments: &Map<String, Value>,
    cx: &CallContext<'_>,
) -> Option<String> {
    match arguments.get(name) {
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Null) => None,
        Some(value) => Some(value.to_string()),
        None if name == PROJECT_DIR_PARAM => cx
            .invoker_context()
            .project_dir()
            .map(|path| path.to_string_lossy().into_owned()),
        None => None,
    }
}
