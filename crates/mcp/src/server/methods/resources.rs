//! `resources/list`, `resources/templates/list` and `resources/read`.

use serde_json::{Value, json};
use toolwright_core::{Outcome, ToolCall};

use crate::export;
use crate::server::request::execute::check_missing_capability;
use crate::server::{
    Request, Revision, RpcError, RpcResponse, ServedResource, set_field, write_json,
};

impl Request {
    /// Returns the resources that the sender may read.
    pub(crate) fn granted_resources(&self) -> impl Iterator<Item = &ServedResource> {
        let resources = self.server.0.resources.iter();
        resources.filter(|resource| self.tools().allows(resource.tool.spec()))
    }

    /// Lists the resources, or the templates of those with parameters.
    pub(crate) fn list_resources(&self, templates: bool) -> RpcResponse {
        let (list, address) = match templates {
            true => ("resourceTemplates", "uriTemplate"),
            false => ("resources", "uri"),
        };
        let listed = self.granted_resources().filter(|entry| entry.is_template() == templates);
        let entries: Vec<Value> =
            listed.map(|entry| resource_entry(entry, address, self.context.revision)).collect();
        self.cacheable_result(list, |body| write_json(body, &entries))
    }

    /// Finds the resource at an address, and the call that reads it.
    pub(crate) fn find_resource(&self, uri: &str) -> Result<(usize, ToolCall), RpcError> {
        let mut all = self.server.0.resources.iter().enumerate();
        let mut not_granted = None;
        let found = all.find_map(|(index, resource)| {
            let arguments = Value::Object(resource.match_uri(uri)?);
            if !self.tools().allows(resource.tool.spec()) {
                not_granted = not_granted.or(Some(resource));
                return None;
            }
            Some((index, ToolCall::new(resource.tool.name(), arguments)))
        });
        if let (None, Some(resource)) = (&found, not_granted) {
            self.check_scope(resource.tool.spec())?;
        }
        found.ok_or_else(|| {
            let code = if self.context.revision.is_stateless() { -32602 } else { -32002 };
            RpcError::new(code, format!("there is no resource `{uri}`"))
                .with_data(json!({ "uri": uri }))
        })
    }

    pub(crate) async fn run_read_resource(
        &self,
        index: usize,
        uri: &str,
        call: &ToolCall,
    ) -> Result<RpcResponse, RpcError> {
        let scope = self.call_scope();
        let reading = self.server.0.resource_invoker.invoke_in(&scope, call);
        let result = match self.context.run_until_input_required(reading).await {
            Ok(result) => result,
            Err(pause) => {
                return self.input_required_response("resources/read", call, pause).await;
            }
        };
        check_missing_capability(&result, &self.context)?;
        if result.outcome == Outcome::InvalidArguments {
            return Err(RpcError::invalid_params(result.text()).with_data(json!({ "uri": uri })));
        }
        if result.is_error() {
            return Err(RpcError::internal(result.text()));
        }
        let resource = self.server.0.resources.get(index);
        let mime_type = resource.and_then(|resource| resource.mime_type.as_deref());
        let contents = result.content.iter();
        let contents: Vec<Value> =
            contents.map(|item| export::content::resource_contents(item, uri, mime_type)).collect();
        Ok(self.cacheable_result("contents", |body| write_json(body, &contents)))
    }
}

fn resource_entry(resource: &ServedResource, address: &str, revision: Revision) -> Value {
    let spec = resource.tool.spec();
    let mut entry = json!({
        address: resource.uri,
        "name": spec.name,
        "description": spec.description,
    });
    if let Some(title) = spec.title.as_deref().filter(|_| revision.has_structured_content()) {
        set_field(&mut entry, "title", title);
    }
    if let Some(mime_type) = resource.mime_type.as_deref() {
        set_field(&mut entry, "mimeType", mime_type);
    }
    entry
}
