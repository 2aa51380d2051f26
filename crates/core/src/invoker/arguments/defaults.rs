//! Fills in the defaults of absent arguments.

use serde_json::{Map, Value};
use toolwright_schema::Violation;

use super::param_violation;
use crate::call::context::CallContext;
use crate::registry::RegisteredTool;
use crate::tool::input_schema::{PROJECT_DIR_PARAM, ParamDefault, coerce_to_param, has_param};

/// The result of [`fill_defaults`].
pub(super) struct FilledDefaults<'e> {
    /// The absent parameters that now have a value.
    pub(super) names: Vec<&'e str>,
    /// The parameters whose default has a placeholder without a value.
    pub(super) unfilled: Vec<Violation>,
}

/// Fills in the defaults of absent arguments, in the order of the parameters.
pub(super) fn fill_defaults<'e>(
    arguments: &mut Map<String, Value>,
    bound: &Map<String, Value>,
    tool: &'e RegisteredTool,
    cx: &CallContext<'_>,
) -> FilledDefaults<'e> {
    let input = &tool.spec.input;
    let (mut names, mut unfilled) = (Vec::new(), Vec::new());
    for (name, default) in tool.tool.0.defaults.iter() {
        let absent = match arguments.get(name) {
            None => has_param(input, name),
            // `null` means the default, unless the parameter accepts `null`.
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
                    argument_text(name, bound, cx).or_else(|| argument_text(name, arguments, cx))
                };
                if let Some(unresolved) = template.first_unresolved(lookup) {
                    let source = template.source();
                    let message = format!(
                        "missing; its default `{source}` needs `{unresolved}`, which is not set"
                    );
                    unfilled.push(param_violation(name, "required", message));
                    continue;
                }
                let text = template.expand(lookup);
                // A value of the wrong type is reported by validation, with all other errors.
                coerce_to_param(input, name, Value::from(text.as_str()))
                    .unwrap_or(Value::String(text))
            }
        };
        if arguments.insert(name.clone(), value).is_none() {
            names.push(name.as_str());
        }
    }
    FilledDefaults { names, unfilled }
}

/// Drops a `null` for an optional parameter that does not accept `null`. For imported tools only.
///
/// Tools of this program need it not: [`fill_defaults`] and `Option` treat `null` as absent.
pub(super) fn drop_optional_nulls(
    arguments: &mut Map<String, Value>,
    tool: &RegisteredTool,
    notes: &mut Vec<String>,
) {
    let input = &tool.spec.input;
    let required = input.as_value().get("required").and_then(Value::as_array);
    let is_required = |name: &str| required.is_some_and(|all| all.iter().any(|item| item == name));
    arguments.retain(|name, value| {
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

/// Returns the text that replaces `${name}` in a default or in a result: that argument of the call.
pub(in crate::invoker) fn argument_text(
    name: &str,
    arguments: &Map<String, Value>,
    cx: &CallContext<'_>,
) -> Option<String> {
    match arguments.get(name) {
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Null) => None,
        Some(value) => Some(value.to_string()),
        None if name == PROJECT_DIR_PARAM => {
            cx.invoker_context().project_dir().map(|path| path.to_string_lossy().into_owned())
        }
        None => None,
    }
}
