//! A [`ToolSpec`] in, an entry of `tools/list` out.

use serde_json::{Map, Value, json};
use toolwright_core::{ToolSpec, wire};

use crate::server::Revision;

/// Returns the JSON of a tool in `tools/list`.
pub(crate) fn tool_entry(spec: &ToolSpec, revision: Revision) -> String {
    let mut fields = Map::new();
    fields.insert("name".to_owned(), spec.name.as_str().into());
    if let Some(title) = spec.title.as_deref().filter(|_| revision.has_structured_content()) {
        fields.insert("title".to_owned(), title.into());
    }
    if let Some(icon) = spec.icon.as_deref().filter(|_| revision.has_icons()) {
        fields.insert("icons".to_owned(), json!([{ "src": icon }]));
    }
    fields.insert("description".to_owned(), spec.description.as_str().into());
    fields.insert("inputSchema".to_owned(), object_input_schema(spec));
    if let Some(output) = spec.output.as_ref().filter(|_| revision.has_structured_content()) {
        let output = match revision.requires_object_output() {
            true => wire::wrap_output_schema(output),
            false => output.as_value().clone(),
        };
        fields.insert("outputSchema".to_owned(), output);
    }
    if revision.has_annotations() {
        let mut hints = serde_json::to_value(spec.hints).unwrap_or_default();
        if let (Some(title), Some(hints)) = (&spec.title, hints.as_object_mut()) {
            hints.insert("title".to_owned(), title.as_str().into());
        }
        if hints.as_object().is_some_and(|hints| !hints.is_empty()) {
            fields.insert("annotations".to_owned(), hints);
        }
    }
    Value::Object(fields).to_string()
}

/// Adds `"type": "object"` to the input schema, which the protocol requires.
fn object_input_schema(spec: &ToolSpec) -> Value {
    let mut input = spec.input.as_value().clone();
    if let Value::Object(fields) = &mut input
        && fields.get("type").and_then(Value::as_str) != Some("object")
    {
        fields.insert("type".to_owned(), "object".into());
    }
    input
}
