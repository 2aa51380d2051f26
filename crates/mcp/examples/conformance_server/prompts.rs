//! Prompts and resources.

use toolwright::{Content, Prompt, Role, ToolError, prompt, tool};
use toolwright_mcp::{ClientPeer, ServedResource};

use crate::content::{picture, resource};
use crate::rounds::ask;

/// A prompt without arguments.
#[prompt(role = user)]
fn test_simple_prompt() -> &'static str {
    "This is a simple prompt for testing."
}

/// A prompt with arguments.
#[prompt(role = user)]
fn test_prompt_with_arguments(
    /// First test argument.
    arg1: String,
    /// Second test argument.
    arg2: String,
) -> String {
    format!("Prompt with arguments: arg1='{arg1}', arg2='{arg2}'")
}

/// A prompt with a resource in it.
#[tool(name = "test_prompt_with_embedded_resource", read_only)]
fn with_resource(
    /// The resource's address.
    #[param(name = "resourceUri", default = "test://example-resource")]
    resource_uri: String,
) -> Vec<Content> {
    let text = "Embedded resource content for testing.";
    vec![
        resource(&resource_uri, "text/plain", text),
        Content::text("Please process the embedded resource above."),
    ]
}

/// A prompt with a picture in it.
#[tool(name = "test_prompt_with_image", read_only)]
fn with_image() -> Vec<Content> {
    vec![picture(), Content::text("Please analyze the image above.")]
}

/// A prompt that asks for something first.
#[prompt(role = user)]
async fn test_input_required_result_prompt(client: ClientPeer) -> Result<String, ToolError> {
    let question = "What context should the prompt use?";
    let context = ask(&client, "user_context", question, "context", "string").await?;
    Ok(format!("Prompt with elicited context: {context}"))
}

pub(crate) fn prompts() -> Vec<Prompt> {
    vec![
        test_simple_prompt::prompt(),
        test_prompt_with_arguments::prompt(),
        Prompt::from_tool(with_resource::tool(), Role::User),
        Prompt::from_tool(with_image::tool(), Role::User),
        test_input_required_result_prompt::prompt(),
    ]
}

/// A text that never changes.
#[tool(read_only)]
fn static_text() -> &'static str {
    "This is the content of the static text resource."
}

/// A picture that never changes.
#[tool(read_only)]
fn static_binary() -> Content {
    picture()
}

/// Data of something.
#[tool(read_only)]
fn template_data(
    /// Which one.
    id: String,
) -> String {
    format!(r#"{{"id":"{id}","templateTest":true,"data":"Data for ID: {id}"}}"#)
}

/// Something that is watched.
#[tool(read_only)]
fn watched() -> &'static str {
    "Watched resource content"
}

pub(crate) fn resources() -> Vec<ServedResource> {
    let template = "test://template/{id}/data";
    vec![
        ServedResource::new("test://static-text", static_text::tool()).mime_type("text/plain"),
        ServedResource::new("test://static-binary", static_binary::tool()).mime_type("image/png"),
        ServedResource::new(template, template_data::tool()).mime_type("application/json"),
        ServedResource::new("test://watched-resource", watched::tool()).mime_type("text/plain"),
    ]
}
