//! Tool results and progress events as text.

use toolwright_core::{CallEvent, Content, ToolResult};

use super::output;
use crate::cli::cli_error::CliError;

/// Prints the progress and the partial results of a call to stderr.
pub(crate) fn print_event(event: CallEvent) {
    match event {
        CallEvent::Progress { done, total, message, .. } => {
            output::print_stderr(&format!("{}\n", format_progress(done, total, message.as_deref())))
        }
        CallEvent::Update { result, .. } => {
            output::print_stderr(&format!("[....] {}\n", result.text()))
        }
        _ => {}
    }
}

/// Progress in one line: a percentage if the total is known, and the message.
pub(crate) fn format_progress(
    done: Option<f64>,
    total: Option<f64>,
    message: Option<&str>,
) -> String {
    let message = message.unwrap_or_default();
    match (done, total) {
        (Some(done), Some(total)) if total > 0.0 => {
            format!("[{:3.0}%] {message}", 100.0 * done / total)
        }
        _ => format!("[....] {message}"),
    }
}

/// Prints a result: its text on stdout, notes and errors on stderr; with `json`, the whole result on stdout.
pub(crate) fn print_result(result: &ToolResult, json: bool) -> Result<(), CliError> {
    if json {
        return output::print_json(result);
    }
    for note in &result.notes {
        output::print_stderr(&format!("note: {note}\n"));
    }
    let text = content_to_text(&result.content);
    if result.is_error() {
        output::print_stderr(&format!("error: {text}"));
        return Ok(());
    }
    output::print_text(&text)
}

/// Content as plain text, each item on its own lines; binary data is described by its type and size.
pub(crate) fn content_to_text(content: &[Content]) -> String {
    let mut text = String::new();
    for item in content {
        match item {
            Content::Text { text: plain } => text.push_str(plain),
            Content::Image { mime_type, .. } | Content::Audio { mime_type, .. } => {
                text.push_str(&format!("[{mime_type}, {} bytes of base64]", item.len()));
            }
            Content::Resource { resource } => match &resource.text {
                Some(plain) => text.push_str(plain),
                None => text.push_str(&format!("[{}]", resource.uri)),
            },
            Content::Link { uri, name, .. } => text.push_str(&format!("{name}: {uri}")),
            other => text.push_str(&format!("[{} bytes]", other.len())),
        }
        text.push('\n');
    }
    text
}
