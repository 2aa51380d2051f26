//! A prompt as an entry of `prompts/list`, and a rendered prompt as the result of `prompts/get`.

use serde_json::{Value, json};
use toolwright_core::{Prompt, RenderedPrompt};

use super::content;
use crate::server::{Revision, set_field, write_json};

/// Writes the entry of a prompt in `prompts/list`.
pub(crate) fn write_prompt_entry(body: &mut Vec<u8>, prompt: &Prompt, revision: Revision) {
    let arguments: Vec<Value> = prompt
        .params()
        .into_iter()
        .map(|param| {
            let mut argument = json!({ "name": param.name, "required": param.required });
            if let Some(description) = param.description {
                set_field(&mut argument, "description", description);
            }
            argument
        })
        .collect();
    let mut entry = json!({ "name": prompt.name(), "description": prompt.description() });
    if let Some(title) =
        prompt.spec().title.as_deref().filter(|_| revision.has_structured_content())
    {
        set_field(&mut entry, "title", title);
    }
    if !arguments.is_empty() {
        set_field(&mut entry, "arguments", arguments);
    }
    write_json(body, &entry);
}

/// Writes the result of `prompts/get`; `suffix` is the last fields of every result.
pub(crate) fn write_prompt_result(
    body: &mut Vec<u8>,
    rendered: &RenderedPrompt,
    revision: Revision,
    suffix: &str,
) {
    body.extend_from_slice(br#"{"messages":["#);
    for (index, item) in rendered.content.iter().enumerate() {
        if index > 0 {
            body.push(b',');
        }
        body.extend_from_slice(br#"{"role":"#);
        write_json(body, &rendered.role);
        body.extend_from_slice(br#","content":"#);
        content::write_content(body, item, revision);
        body.push(b'}');
    }
    body.push(b']');
    body.extend_from_slice(suffix.as_bytes());
    body.push(b'}');
}
