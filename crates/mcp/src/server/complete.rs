//! The beginning of an argument in, what it could become out.

use serde::Deserialize;
use serde_json::json;
use toolwright_core::Scope;

use super::McpServer;
use super::error::RpcError;
use super::exchange::Exchange;
use super::message::Message;
use super::reply::{Reply, write_json};
use crate::export::schema::choices;

/// How many values are told at once, says the protocol.
const MOST: usize = 100;

#[derive(Deserialize)]
#[serde(tag = "type")]
enum Reference {
    #[serde(rename = "ref/prompt")]
    Prompt { name: String },
    #[serde(rename = "ref/resource")]
    Resource { uri: String },
}

#[derive(Deserialize)]
struct Argument {
    name: String,
    value: String,
}

impl McpServer {
    /// Completes an argument whose values its schema counts.
    pub(crate) fn complete(
        &self,
        message: &Message<'_>,
        exchange: &Exchange,
    ) -> Result<Reply, RpcError> {
        let wrong =
            |what: &str| RpcError::invalid_params(format!("`{what}` is missing or unclear"));
        let (reference, argument) = (message.params.reference, message.params.argument);
        let reference = reference.and_then(|raw| serde_json::from_str(raw.get()).ok());
        let argument = argument.and_then(|raw| serde_json::from_str(raw.get()).ok());
        let reference = reference.ok_or_else(|| wrong("ref"))?;
        let argument: Argument = argument.ok_or_else(|| wrong("argument"))?;
        let schema = match reference {
            Reference::Prompt { name } => {
                let scope = Scope::new().caller(exchange.caller.clone());
                let prompts = exchange.reach(&self.0.whole).invoker.list_prompts(&scope)?;
                let prompt = prompts.iter().find(|prompt| prompt.name() == &*name);
                prompt
                    .ok_or_else(|| {
                        RpcError::invalid_params(format!("there is no prompt `{name}`"))
                    })?
                    .spec()
                    .input
                    .clone()
            }
            Reference::Resource { uri } => {
                let reach = exchange.reach(&self.0.whole);
                let mut shown = self
                    .0
                    .resources
                    .iter()
                    .filter(|it| reach.shows(it.tool.spec()));
                let resource = shown.find(|it| it.uri() == uri);
                let missing = || RpcError::invalid_params(format!("there is no resource `{uri}`"));
                resource.ok_or_else(missing)?.tool.spec().input.clone()
            }
        };
        let begun = argument.value.to_lowercase();
        let mut values = choices(schema.as_value(), &argument.name);
        values.retain(|value| value.to_lowercase().starts_with(&begun));
        let total = values.len();
        values.truncate(MOST);
        let more = total > values.len();
        let completion = json!({ "values": values, "total": total, "hasMore": more });
        Ok(Reply::result(message.id(), |body| {
            body.extend_from_slice(br#"{"completion":"#);
            write_json(body, &completion);
            body.extend_from_slice(self.tail(exchange.revision).as_bytes());
            body.push(b'}');
        }))
    }
}
