//! `resources/…`: what there is, and what is there.

use std::sync::Arc;

use serde_json::{Value, json};
use toolwright_core::{Outcome, ToolCall};

use super::McpServer;
use super::error::RpcError;
use super::exchange::Exchange;
use super::message::Message;
use super::reply::{Reply, set, write_json};
use super::resource::Resource;
use super::revision::Revision;
use super::work::{check_missing, scope};
use crate::export;

impl McpServer {
    /// Lists the resources, or the templates of those with parameters.
    pub(crate) fn list_resources(
        &self,
        message: &Message<'_>,
        exchange: &Exchange,
        templates: bool,
    ) -> Reply {
        let (list, address) = match templates {
            true => ("resourceTemplates", "uriTemplate"),
            false => ("resources", "uri"),
        };
        let listed = self.0.resources.iter();
        let reach = exchange.reach(&self.0.whole);
        let listed = listed.filter(|resource| {
            resource.is_template() == templates && reach.shows(resource.tool.spec())
        });
        let entries: Vec<Value> = listed
            .map(|resource| entry(resource, address, exchange.revision))
            .collect();
        Reply::result(message.id(), |body| {
            body.extend_from_slice(br#"{""#);
            body.extend_from_slice(list.as_bytes());
            body.extend_from_slice(br#"":"#);
            write_json(body, &entries);
            self.end_cached(body, exchange.revision);
        })
    }

    /// Finds the resource at an address, and the call that reads it.
    pub(crate) fn find_resource(
        &self,
        uri: &str,
        exchange: &Exchange,
    ) -> Result<(usize, ToolCall), RpcError> {
        let reach = exchange.reach(&self.0.whole);
        let mut all = self.0.resources.iter().enumerate();
        let mut closed = None;
        let found = all.find_map(|(number, resource)| {
            let arguments = Value::Object(resource.matches(uri)?);
            if !reach.shows(resource.tool.spec()) {
                closed = closed.or(Some(resource));
                return None;
            }
            Some((number, ToolCall::new(resource.name(), arguments)))
        });
        if let (None, Some(closed)) = (&found, closed) {
            self.check_open(closed.tool.spec(), exchange)?;
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

    pub(crate) async fn run_read(
        &self,
        id: &str,
        number: usize,
        uri: &str,
        call: &ToolCall,
        exchange: &Arc<Exchange>,
    ) -> Result<Reply, RpcError> {
        let scope = scope(exchange);
        let reading = self.0.reader.invoke_in(&scope, call);
        let result = match exchange.until_asked(reading).await {
            Ok(result) => result,
            Err(pause) => return self.pause(id, "resources/read", call, exchange, pause),
        };
        check_missing(&result, exchange)?;
        if result.outcome == Outcome::InvalidArguments {
            return Err(RpcError::invalid_params(result.text()).data(json!({ "uri": uri })));
        }
        if result.is_error() {
            return Err(RpcError::internal(result.text()));
        }
        let mime_type = self.0.resources.get(number).and_then(Resource::mime);
        let contents: Vec<Value> = result
            .content
            .iter()
            .map(|item| export::content::as_resource(item, uri, mime_type))
            .collect();
        Ok(Reply::result(id, |body| {
            body.extend_from_slice(br#"{"contents":"#);
            write_json(body, &contents);
            self.end_cached(body, exchange.revision);
        }))
    }
}

fn entry(resource: &Resource, address: &str, revision: Revision) -> Value {
    let spec = resource.tool.spec();
    let mut entry = json!({
        address: resource.uri(),
        "name": spec.name,
        "description": spec.description,
    });
    if let Some(title) = spec.title.as_deref().filter(|_| revision.has_structure()) {
        set(&mut entry, "title", title);
    }
    if let Some(mime_type) = resource.mime() {
        set(&mut entry, "mimeType", mime_type);
    }
    entry
}
