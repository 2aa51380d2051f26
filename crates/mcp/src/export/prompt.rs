//! A prompt in, an entry of `prompts/list` out; a rendered one in, its messages out.

use serde_json::{Value, json};
use toolwright_core::{Prompt, RenderedPrompt};

use super::content;
use crate::server::Revision;
use crate::server::rpc::response::{set_field, write_json};

/// Writes out a prompt as the revision has it.
pub(crate) fn prompt_entry(prompt: &Prompt, revision: Revision) -> String {
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
    if let Some(title) = prompt
        .spec()
        .title
        .as_deref()
        .filter(|_| revision.has_structured_content())
    {
        set_field(&mut entry, "title", title);
    }
    if !arguments.is_empty() {
        set_field(&mut entry, "arguments", arguments);
    }
    entry.to_string()
}

/// Writes the result of `prompts/get`; `tail` is what every result of the revision ends with.
pub(crate) fn write_prompt_result(
    body: &mut Vec<u8>,
    rendered: &RenderedPrompt,
    revision: Revision,
    tail: &str,
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
    body.extend_from_slice(tail.as_bytes());
    body.push(b'}');
}
