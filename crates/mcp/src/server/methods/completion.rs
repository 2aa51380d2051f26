//! The beginning of an argument in, what it could become out.

use serde::Deserialize;
use serde_json::json;
use toolwright_core::CallScope;

use crate::export::enum_values::enum_values;
use crate::server::McpServer;
use crate::server::error::RpcError;
use crate::server::request::request_context::RequestContext;
use crate::server::rpc::message::RpcMessage;
use crate::server::rpc::response::{RpcResponse, write_json};

/// How many values are told at once, says the protocol.
const MAX_VALUES: usize = 100;

#[derive(Deserialize)]
#[serde(tag = "type")]
enum CompletionReference {
    #[serde(rename = "ref/prompt")]
    Prompt { name: String },
    #[serde(rename = "ref/resource")]
    Resource { uri: String },
}

#[derive(Deserialize)]
struct CompletionArgument {
    name: String,
    value: String,
}

impl McpServer {
    /// Completes an argument whose values its schema counts.
    pub(crate) fn complete(
        &self,
        message: &RpcMessage<'_>,
        exchange: &RequestContext,
    ) -> Result<RpcResponse, RpcError> {
        let wrong =
            |what: &str| RpcError::invalid_params(format!("`{what}` is missing or unclear"));
        let (reference, argument) = (message.params.reference, message.params.argument);
        let reference = reference.and_then(|raw| serde_json::from_str(raw.get()).ok());
        let argument = argument.and_then(|raw| serde_json::from_str(raw.get()).ok());
        let reference = reference.ok_or_else(|| wrong("ref"))?;
        let argument: CompletionArgument = argument.ok_or_else(|| wrong("argument"))?;
        let schema = match reference {
            CompletionReference::Prompt { name } => {
                let scope = CallScope::new().caller(exchange.caller.clone());
                let prompts = self.scoped_tools(exchange).invoker().list_prompts(&scope)?;
                let prompt = prompts.iter().find(|prompt| prompt.name() == &*name);
                prompt
                    .ok_or_else(|| {
                        RpcError::invalid_params(format!("there is no prompt `{name}`"))
                    })?
                    .spec()
                    .input
                    .clone()
            }
            CompletionReference::Resource { uri } => {
                let reach = self.scoped_tools(exchange);
                let mut shown = self
                    .0
                    .resources
                    .iter()
                    .filter(|it| reach.allows(it.tool.spec()));
                let resource = shown.find(|it| it.uri() == uri);
                let missing = || RpcError::invalid_params(format!("there is no resource `{uri}`"));
                resource.ok_or_else(missing)?.tool.spec().input.clone()
            }
        };
        let begun = argument.value.to_lowercase();
        let mut values = enum_values(schema.as_value(), &argument.name);
        values.retain(|value| value.to_lowercase().starts_with(&begun));
        let total = values.len();
        values.truncate(MAX_VALUES);
        let more = total > values.len();
        let completion = json!({ "values": values, "total": total, "hasMore": more });
        Ok(RpcResponse::result(message.id(), |body| {
            body.extend_from_slice(br#"{"completion":"#);
            write_json(body, &completion);
            body.extend_from_slice(self.result_suffix(exchange.revision).as_bytes());
            body.push(b'}');
        }))
    }
}
