//! OpenAI's Responses API.
//!
//! `store` is off, so that the vendor keeps no conversation. Therefore each request has all earlier items as they came, the
//! encrypted reasoning included.

mod error;
mod input;
mod item;
mod pending_items;
mod request;
mod stream;
mod tool_search;
mod wire;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use toolwright_chat::{HostedTool, ModelError, ModelRequest, ToolDeferral};
use toolwright_core::schema::{Dialect, Schema};
use toolwright_core::wire::ToolPlan;

use crate::protocol::custom_call;
use crate::protocol::json::JsonObject;
use crate::protocol::response_format::strict_if_lossless;
use crate::protocol::{Protocol, ResponseParser};

/// The key under which the API's raw JSON is stored with an item.
const NAME: &str = "openai_responses";

/// The Responses API, of OpenAI and of vendors that imitate it.
#[derive(Debug)]
pub(crate) struct OpenAiResponses;

impl Protocol for OpenAiResponses {
    fn dialect(&self) -> Dialect {
        Dialect::OPENAI
    }

    fn path(&self, _: &str, _: bool) -> String {
        "/responses".to_owned()
    }

    fn body(&self, request: &ModelRequest, tools: &ToolPlan, model: &str) -> JsonObject {
        request::request_body(request, tools, model)
    }

    fn response_format_dialect(&self, schema: &Schema) -> Option<Dialect> {
        strict_if_lossless(schema, Dialect::OPENAI)
    }

    fn tool_deferral(&self, model: &str) -> Option<ToolDeferral> {
        tool_search::is_supported(model).then_some(ToolDeferral::Definitions)
    }

    fn supports_custom_tools(&self, model: &str) -> bool {
        custom_call::is_supported(model)
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
