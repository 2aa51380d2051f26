//! A result in; what swiftide's agent does next, and what its model reads, out.

use std::io;

use swiftide_core::chat_completion::ToolOutput;
use swiftide_core::chat_completion::errors::ToolError;
use toolwright::{ErrorKind, ToolResult};

/// Converts a result to swiftide's output or error.
pub(crate) fn to_tool_output(result: &ToolResult, direct: bool) -> Result<ToolOutput, ToolError> {
    let text = result.to_text();
    match result.error {
        None if direct => Ok(ToolOutput::stop_with_args(text)),
        None => Ok(ToolOutput::text(text)),
        // Only errors are counted against the agent's limit of retries; this one adds no words of its own.
        Some(ErrorKind::Retry) => Err(ToolError::unknown(io::Error::other(text.into_owned()))),
        Some(ErrorKind::Fatal) => Ok(ToolOutput::agent_failed(text)),
        Some(_) => Ok(ToolOutput::fail(text)),
    }
}
