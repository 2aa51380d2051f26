//! `completion/complete`: the beginning of an argument in, its possible values out.

use serde::Deserialize;
use serde_json::json;
use toolwright_core::CallScope;

use crate::export::enum_values::enum_values;
use crate::server::{Request, RpcError, RpcMessage, RpcResponse, write_json};

/// The limit of the protocol.
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

impl Request {
    /// Completes an argument that has an enum in the schema.
    pub(crate) fn complete(&self, message: &RpcMessage<'_>) -> Result<RpcResponse, RpcError> {
        let invalid =
            |field: &str| RpcError::invalid_params(format!("`{field}` is missing or unclear"));
        let (reference, argument) = (message.params.reference, message.params.argument);
        let reference = reference.and_then(|raw| serde_json::from_str(raw.get()).ok());
        let argument = argument.and_then(|raw| serde_json::from_str(raw.get()).ok());
        let reference = reference.ok_or_else(|| invalid("ref"))?;
        let argument: CompletionArgument = argument.ok_or_else(|| invalid("argument"))?;
        let schema = match reference {
            CompletionReference::Prompt { name } => {
                let scope = CallScope::new().caller(self.context.caller.clone());
                let prompts = self.tools().invoker().list_prompts(&scope)?;
                let prompt = prompts.iter().find(|prompt| prompt.name() == &*name);
                let missing = || RpcError::invalid_params(format!("there is no prompt `{name}`"));
                prompt.ok_or_else(missing)?.spec().input.clone()
            }
            CompletionReference::Resource { uri } => {
                let mut granted = self.granted_resources();
                let resource = granted.find(|resource| resource.uri == uri);
                let missing = || RpcError::invalid_params(format!("there is no resource `{uri}`"));
                resource.ok_or_else(missing)?.tool.spec().input.clone()
            }
        };
        let prefix = argument.value.to_lowercase();
        let mut values = enum_values(schema.as_value(), &argument.name);
        values.retain(|value| value.to_lowercase().starts_with(&prefix));
        let total = values.len();
        values.truncate(MAX_VALUES);
        let more = total > values.len();
        let completion = json!({ "values": values, "total": total, "hasMore": more });
        Ok(RpcResponse::result(message.id(), |body| {
            body.extend_from_slice(br#"{"completion":"#);
            write_json(body, &completion);
            let suffix = self.server.result_suffix(self.context.revision);
            body.extend_from_slice(suffix.as_bytes());
            body.push(b'}');
        }))
    }
}
