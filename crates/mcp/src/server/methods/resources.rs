//! `resources/…`: what there is, and what is there.

use std::sync::Arc;

use serde_json::{Value, json};
use toolwright_core::{Outcome, ToolCall};

use crate::export;
use crate::server::McpServer;
use crate::server::error::RpcError;
use crate::server::methods::served_resource::ServedResource;
use crate::server::request::execute::{call_scope, check_missing_capability};
use crate::server::request::request_context::RequestContext;
use crate::server::rpc::message::RpcMessage;
use crate::server::rpc::response::{RpcResponse, set_field, write_json};
use crate::server::rpc::revision::Revision;

impl McpServer {
    /// Lists the resources, or the templates of those with parameters.
    pub(crate) fn list_resources(
        &self,
        message: &RpcMessage<'_>,
        exchange: &RequestContext,
        templates: bool,
    ) -> RpcResponse {
        let (list, address) = match templates {
            true => ("resourceTemplates", "uriTemplate"),
            false => ("resources", "uri"),
        };
        let listed = self.0.resources.iter();
        let reach = self.scoped_tools(exchange);
        let listed = listed.filter(|resource| {
            resource.is_template() == templates && reach.allows(resource.tool.spec())
        });
        let entries: Vec<Value> = listed
            .map(|resource| resource_entry(resource, address, exchange.revision))
            .collect();
        RpcResponse::result(message.id(), |body| {
            body.extend_from_slice(br#"{""#);
            body.extend_from_slice(list.as_bytes());
            body.extend_from_slice(br#"":"#);
            write_json(body, &entries);
            self.write_cacheable_end(body, exchange.revision);
        })
    }

    /// Finds the resource at an address, and the call that reads it.
    pub(crate) fn find_resource(
        &self,
        uri: &str,
        exchange: &RequestContext,
    ) -> Result<(usize, ToolCall), RpcError> {
        let reach = self.scoped_tools(exchange);
        let mut all = self.0.resources.iter().enumerate();
        let mut closed = None;
        let found = all.find_map(|(number, resource)| {
            let arguments = Value::Object(resource.match_uri(uri)?);
            if !reach.allows(resource.tool.spec()) {
                closed = closed.or(Some(resource));
                return None;
            }
            Some((number, ToolCall::new(resource.name(), arguments)))
        });
        if let (None, Some(closed)) = (&found, closed) {
            self.check_scope(closed.tool.spec(), exchange)?;
        }
        found.ok_or_else(|| {
            let code = if exchange.revision.is_stateless() {
                -32602
            } else {
                -32002
            };
            RpcError::new(code, format!("there is no resource `{uri}`")).data(json!({ "uri": uri }))
        })
    }

    pub(crate) async fn run_read_resource(
        &self,
        id: &str,
        number: usize,
        uri: &str,
        call: &ToolCall,
        exchange: &Arc<RequestContext>,
    ) -> Result<RpcResponse, RpcError> {
        let scope = call_scope(exchange);
        let reading = self.0.resource_invoker.invoke_in(&scope, call);
        let result = match exchange.run_until_input_required(reading).await {
            Ok(result) => result,
            Err(pause) => {
                return self.input_required_response(id, "resources/read", call, exchange, pause);
            }
        };
        check_missing_capability(&result, exchange)?;
        if result.outcome == Outcome::InvalidArguments {
            return Err(RpcError::invalid_params(result.text()).data(json!({ "uri": uri })));
        }
        if result.is_error() {
            return Err(RpcError::internal(result.text()));
        }
        let mime_type = self
            .0
            .resources
            .get(number)
            .and_then(ServedResource::declared_mime_type);
        let contents: Vec<Value> = result
            .content
            .iter()
            .map(|item| export::content::resource_contents(item, uri, mime_type))
            .collect();
        Ok(RpcResponse::result(id, |body| {
            body.extend_from_slice(br#"{"contents":"#);
            write_json(body, &contents);
            self.write_cacheable_end(body, exchange.revision);
        }))
    }
}

fn resource_entry(resource: &ServedResource, address: &str, revision: Revision) -> Value {
    let spec = resource.tool.spec();
    let mut entry = json!({
        address: resource.uri(),
        "name": spec.name,
        "description": spec.description,
    });
    if let Some(title) = spec
        .title
        .as_deref()
        .filter(|_| revision.has_structured_content())
    {
        set_field(&mut entry, "title", title);
    }
    if let Some(mime_type) = resource.declared_mime_type() {
        set_field(&mut entry, "mimeType", mime_type);
    }
    entry
}
