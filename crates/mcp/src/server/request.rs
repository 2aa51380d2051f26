//! One request from dispatch to response: its context, the tool call, questions to the client.

use std::sync::Arc;

use toolwright_auth::ScopedTools;

use crate::server::{McpServer, RequestContext, RpcResponse, write_json};

pub(crate) mod approval;
pub(crate) mod call_limit;
pub(crate) mod client_peer;
pub(crate) mod dispatch;
pub(crate) mod execute;
pub(crate) mod header_arguments;
pub(crate) mod request_context;
pub(crate) mod request_state;
pub(crate) mod response_stream;
pub(crate) mod scope_check;
#[cfg_attr(not(feature = "search"), path = "request/tool_gateway_disabled.rs")]
pub(crate) mod tool_gateway;

/// A request and the server that answers it.
pub(crate) struct Request {
    pub(crate) server: McpServer,
    pub(crate) context: Arc<RequestContext>,
    /// As raw JSON.
    pub(crate) id: Box<str>,
}

impl Request {
    pub(crate) fn new(server: &McpServer, context: &Arc<RequestContext>, id: &str) -> Self {
        Self { server: server.clone(), context: Arc::clone(context), id: id.into() }
    }

    /// Returns the tools that the sender may use.
    pub(crate) fn tools(&self) -> &Arc<ScopedTools> {
        self.server.scoped_tools(&self.context)
    }

    /// The response with this result.
    pub(crate) fn json_result(&self, result: &impl serde::Serialize) -> RpcResponse {
        RpcResponse::result(&self.id, |body| write_json(body, result))
    }

    /// The response with a result that clients may cache: one field, whose value `write` appends as JSON.
    pub(crate) fn cacheable_result(
        &self,
        field: &str,
        write: impl FnOnce(&mut Vec<u8>),
    ) -> RpcResponse {
        RpcResponse::result(&self.id, |body| {
            body.extend_from_slice(br#"{""#);
            body.extend_from_slice(field.as_bytes());
            body.extend_from_slice(br#"":"#);
            write(body);
            self.server.write_cacheable_end(body, self.context.revision);
        })
    }
}
