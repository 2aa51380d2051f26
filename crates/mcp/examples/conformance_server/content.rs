//! Tools whose results are of every kind, with progress and log messages on the way.

use std::time::Duration;

use tokio::time::sleep;
use toolwright::{Content, DefineError, Progress, Tool, ToolError, tool};
use toolwright_mcp::{ClientPeer, LogLevel};

/// A picture of one red pixel.
pub(crate) const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8/5+hHgAHggJ/PchI7wAAAABJRU5ErkJggg==";
/// A sound of nothing.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

/// Makes a picture of what is base64 already.
pub(crate) fn picture() -> Content {
    let mut picture = Content::image("image/png", b"");
    if let Content::Image { data, .. } = &mut picture {
        PNG.clone_into(data);
    }
    picture
}

/// Makes a resource of a kind.
pub(crate) fn resource(uri: &str, kind: &str, text: &str) -> Content {
    let mut content = Content::resource(uri, text);
    if let Content::Resource { resource } = &mut content {
        resource.mime_type = Some(kind.to_owned());
    }
    content
}

/// Returns simple text.
#[tool(read_only)]
fn test_simple_text() -> &'static str {
    // Over stdio, printed text must not get between the lines of the protocol.
    println!("a tool prints");
    "This is a simple text response for testing."
}

/// Returns a picture.
#[tool(read_only)]
fn test_image_content() -> Content {
    picture()
}

/// Returns a sound.
#[tool(read_only)]
fn test_audio_content() -> Content {
    let mut sound = Content::audio("audio/wav", b"");
    if let Content::Audio { data, .. } = &mut sound {
        WAV.clone_into(data);
    }
    sound
}

/// Returns a resource.
#[tool(read_only)]
fn test_embedded_resource() -> Content {
    let text = "This is an embedded resource content.";
    resource("test://embedded-resource", "text/plain", text)
}

/// Returns several kinds of content.
#[tool(read_only)]
fn test_multiple_content_types() -> Vec<Content> {
    let json = r#"{"test":"data","value":123}"#;
    vec![
        Content::text("Multiple content types test:"),
        picture(),
        resource("test://mixed-content-resource", "application/json", json),
    ]
}

/// Logs as it goes.
#[tool]
async fn test_tool_with_logging(client: ClientPeer) -> &'static str {
    for message in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        client.log(LogLevel::Info, "conformance", message);
        sleep(Duration::from_millis(50)).await;
    }
    "Logging test completed"
}

/// Logs once.
#[tool]
async fn test_logging_tool(client: ClientPeer) -> &'static str {
    client.log(LogLevel::Emergency, "conformance", "somebody wants to hear this");
    "Logging tool completed"
}

/// Fails.
#[tool]
fn test_error_handling() -> Result<String, ToolError> {
    Err(ToolError::failed("This tool intentionally returns an error for testing"))
}

/// Says how far it is.
#[tool]
async fn test_tool_with_progress(progress: Progress) -> &'static str {
    for (done, message) in [(0.0, "Starting"), (50.0, "Halfway"), (100.0, "Complete")] {
        progress.report(done, 100.0, message);
        sleep(Duration::from_millis(50)).await;
    }
    "Progress test completed"
}

/// Takes a while, so that a client can lose its connection.
#[tool]
async fn test_reconnection(client: ClientPeer) -> &'static str {
    client.log(LogLevel::Info, "conformance", "this makes it a stream");
    sleep(Duration::from_millis(100)).await;
    "Reconnection test completed"
}

const EVERY_KEYWORD: &str = r##"{
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}}
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"}
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}, {"required": ["name"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["name"]},
    "additionalProperties": false
}"##;

const MIRRORED: &str = r#"{
    "type": "object",
    "properties": {"value": {"type": "string", "x-mcp-header": "Value"}},
    "required": ["value"]
}"#;

pub(crate) fn tools() -> Result<Vec<Tool>, DefineError> {
    let keywords = Tool::from_schema(
        "json_schema_2020_12_tool",
        "Has every keyword of JSON Schema 2020-12.",
        EVERY_KEYWORD,
    )?;
    let mirrored = Tool::from_schema(
        "test_custom_header",
        "Has an argument that is repeated in a header.",
        MIRRORED,
    )?;
    Ok(vec![
        test_simple_text::tool(),
        test_image_content::tool(),
        test_audio_content::tool(),
        test_embedded_resource::tool(),
        test_multiple_content_types::tool(),
        test_tool_with_logging::tool(),
        test_logging_tool::tool(),
        test_error_handling::tool(),
        test_tool_with_progress::tool(),
        test_reconnection::tool(),
        keywords.run(|_, _| Ok::<_, ToolError>("Hello!"))?,
        mirrored.run(|args, _| args.get::<String>("value"))?,
    ])
}
