//! A [`ToolSpec`] in, an entry of `tools/list` out.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Value, json};
use toolwright_core::{ToolSpec, wire};

use crate::server::{Revision, write_json};

/// Writes the entry of a tool in `tools/list`.
pub(crate) fn write_tool_entry(body: &mut Vec<u8>, spec: &ToolSpec, revision: Revision) {
    body.extend_from_slice(br#"{"name":"#);
    write_json(body, spec.name.as_str());
    if let Some(title) = spec.title.as_deref().filter(|_| revision.has_structured_content()) {
        write_field(body, "title", title);
    }
    if let Some(icon) = spec.icon.as_deref().filter(|_| revision.has_icons()) {
        write_field(body, "icons", &json!([{ "src": icon }]));
    }
    write_field(body, "description", &spec.description);
    write_field(body, "inputSchema", &*object_input_schema(spec));
    if let Some(output) = spec.output.as_ref().filter(|_| revision.has_structured_content()) {
        if revision.requires_object_output() && wire::needs_result_wrapper(output) {
            write_field(body, "outputSchema", &wire::wrap_output_schema(output));
        } else {
            write_field(body, "outputSchema", output);
        }
    }
    if revision.has_annotations() {
        let mut hints = serde_json::to_value(spec.hints).unwrap_or_default();
        if let (Some(title), Some(hints)) = (&spec.title, hints.as_object_mut()) {
            hints.insert("title".to_owned(), title.as_str().into());
        }
        if hints.as_object().is_some_and(|hints| !hints.is_empty()) {
            write_field(body, "annotations", &hints);
        }
    }
    body.push(b'}');
}

/// Writes a field after the first of an object; the name needs no escapes.
fn write_field(body: &mut Vec<u8>, name: &str, value: &(impl Serialize + ?Sized)) {
    body.extend_from_slice(b",\"");
    body.extend_from_slice(name.as_bytes());
    body.extend_from_slice(b"\":");
    write_json(body, value);
}

/// Adds `"type": "object"` to the input schema, which the protocol requires, if it is not there.
fn object_input_schema(spec: &ToolSpec) -> Cow<'_, Value> {
    let input = spec.input.as_value();
    match input {
        Value::Object(fields) if fields.get("type").and_then(Value::as_str) != Some("object") => {
            let mut fields = fields.clone();
            fields.insert("type".to_owned(), "object".into());
            Cow::Owned(Value::Object(fields))
        }
        _ => Cow::Borrowed(input),
    }
}
