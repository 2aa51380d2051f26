//! Anthropic's Messages API.
//!
//! Messages and responses are lists of content blocks. Blocks are replayed in their order and with all their fields: the API
//! verifies the signatures of its models' reasoning.

mod block;
mod code_execution;
mod content;
mod error;
mod messages;
mod model_traits;
mod request;
mod stream;
mod wire;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde::Deserialize;
use toolwright_chat::{HostedTool, Message, ModelError, ModelRequest, ToolDeferral};
use toolwright_core::schema::{Dialect, Schema};
use toolwright_core::wire::ToolPlan;

use crate::protocol::json::JsonObject;
use crate::protocol::{Protocol, ResponseParser};

/// The value of the `anthropic-version` header, which every request needs.
///
/// The newer `2026-10-21` rejects `temperature` and `top_p` even for models that still accept them.
const API_VERSION: &str = "2023-06-01";

/// The value of `anthropic-beta` that hosted MCP servers require.
const MCP_BETA: &str = "mcp-client-2025-11-20";

/// The key under which the API's raw JSON is stored with an item.
const NAME: &str = "anthropic";

/// The Messages API.
#[derive(Debug)]
pub(crate) struct Anthropic;

impl Protocol for Anthropic {
    fn dialect(&self) -> Dialect {
        Dialect::ANTHROPIC
    }

    fn constant_header(&self) -> Option<(&'static str, &'static str)> {
        Some(("anthropic-version", API_VERSION))
    }

    fn headers(&self, request: &ModelRequest) -> Vec<(&'static str, String)> {
        let mut hosted = request.hosted_tools.iter();
        let has_mcp = hosted.any(|tool| matches!(tool, HostedTool::Mcp(_)));
        // Earlier blocks require it as well, even if the server is no longer attached.
        let needs_mcp = has_mcp || request.messages.iter().any(contains_mcp_blocks);
        needs_mcp.then(|| ("anthropic-beta", MCP_BETA.to_owned())).into_iter().collect()
    }

    fn path(&self, _: &str, _: bool) -> String {
        "/v1/messages".to_owned()
    }

    fn body(&self, request: &ModelRequest, tools: &ToolPlan, model: &str) -> JsonObject {
        request::request_body(request, tools, model)
    }

    fn response_format_dialect(&self, schema: &Schema) -> Option<Dialect> {
        [Dialect::ANTHROPIC_STRICT, Dialect::ANTHROPIC]
            .into_iter()
            .find(|dialect| schema.lower(*dialect).is_ok())
    }

    fn tool_deferral(&self, model: &str) -> Option<ToolDeferral> {
        let traits = model_traits::ModelTraits::for_model(model);
        traits.loads_deferred_tools.then_some(ToolDeferral::References)
    }

    fn supports_hosted_tool(&self, hosted: &HostedTool) -> bool {
        matches!(hosted, HostedTool::WebSearch(_) | HostedTool::Mcp(_))
    }

    fn parse_error(&self, status: u16, body: &str) -> ModelError {
        error::parse_error_body(status, body)
    }

    fn parser(&self, tools: Arc<ToolPlan>) -> Box<dyn ResponseParser> {
        Box::new(stream::StreamParser::new(tools))
    }
}

fn contains_mcp_blocks(message: &Message) -> bool {
    #[derive(Deserialize)]
    struct Block<'a> {
        #[serde(borrow, rename = "type")]
        kind: std::borrow::Cow<'a, str>,
    }

    let Message::Step(step) = message else {
        return false;
    };
    let raw = step.items.iter().filter_map(|item| item.raw_json(NAME));
    raw.filter_map(|raw| serde_json::from_str::<Block<'_>>(raw.get()).ok())
        .any(|block| block.kind.starts_with("mcp_"))
}
