//! `resources/list`, `resources/templates/list` and `resources/read`.

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
        context: &RequestContext,
        templates: bool,
    ) -> RpcResponse {
        let (list, address) = match templates {
            true => ("resourceTemplates", "uriTemplate"),
            false => ("resources", "uri"),
        };
        let tools = self.scoped_tools(context);
        let listed = self.0.resources.iter().filter(|resource| {
            resource.is_template() == templates && tools.allows(resource.tool.spec())
        });
        let entries: Vec<Value> =
            listed.map(|resource| resource_entry(resource, address, context.revision)).collect();
        RpcResponse::result(message.id(), |body| {
            body.extend_from_slice(br#"{""#);
            body.extend_from_slice(list.as_bytes());
            body.extend_from_slice(br#"":"#);
            write_json(body, &entries);
            self.write_cacheable_end(body, context.revision);
        })
    }

    /// Finds the resource at an address, and the call that reads it.
    pub(crate) fn find_resource(
        &self,
        uri: &str,
        context: &RequestContext,
    ) -> Result<(usize, ToolCall), RpcError> {
        let tools = self.scoped_tools(context);
        let mut all = self.0.resources.iter().enumerate();
        let mut not_granted = None;
        let found = all.find_map(|(index, resource)| {
            let arguments = Value::Object(resource.match_uri(uri)?);
            if !tools.allows(resource.tool.spec()) {
                not_granted = not_granted.or(Some(resource));
                return None;
            }
            Some((index, ToolCall::new(resource.name(), arguments)))
        });
        if let (None, Some(resource)) = (&found, not_granted) {
            self.check_scope(resource.tool.spec(), context)?;
        }
        found.ok_or_else(|| {
            let code = if context.revision.is_stateless() { -32602 } else { -32002 };
            RpcError::new(code, format!("there is no resource `{uri}`"))
                .with_data(json!({ "uri": uri }))
        })
    }

    pub(crate) async fn run_read_resource(
        &self,
        id: &str,
        index: usize,
        uri: &str,
        call: &ToolCall,
        context: &Arc<RequestContext>,
    ) -> Result<RpcResponse, RpcError> {
        let scope = call_scope(context);
        let reading = self.0.resource_invoker.invoke_in(&scope, call);
        let result = match context.run_until_input_required(reading).await {
            Ok(result) => result,
            Err(pause) => {
                return self.input_required_response(id, "resources/read", call, context, pause);
            }
        };
        check_missing_capability(&result, context)?;
        if result.outcome == Outcome::InvalidArguments {
            return Err(RpcError::invalid_params(result.text()).with_data(json!({ "uri": uri })));
        }
        if result.is_error() {
            return Err(RpcError::internal(result.text()));
        }
        let mime_type = self.0.resources.get(index).and_then(ServedResource::declared_mime_type);
        let contents: Vec<Value> = result
            .content
            .iter()
            .map(|item| export::content::resource_contents(item, uri, mime_type))
            .collect();
        Ok(RpcResponse::result(id, |body| {
            body.extend_from_slice(br#"{"contents":"#);
            write_json(body, &contents);
            self.write_cacheable_end(body, context.revision);
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
    if let Some(title) = spec.title.as_deref().filter(|_| revision.has_structured_content()) {
        set_field(&mut entry, "title", title);
    }
    if let Some(mime_type) = resource.declared_mime_type() {
        set_field(&mut entry, "mimeType", mime_type);
    }
    entry
}
