//! Tools for orders that append to a file, and a model that calls them; servers that are killed use both.
//!
//! The setting `effects.file` names the file.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;

use serde_json::json;
use toolwright::chat::{Item, Message, ModelRequest};
use toolwright::testing::ModelReply;
use toolwright::{Config, ConfigError, Content, State, Tool, ToolCall, ToolError, tool};

/// The file to which tools append a line.
pub(crate) struct Effects(PathBuf);

impl Effects {
    pub(crate) async fn open(config: Config) -> Result<Self, ConfigError> {
        Ok(Self(config.get("effects.file")?))
    }

    pub(crate) fn append(&self, line: &str) -> Result<String, ToolError> {
        let mut file = OpenOptions::new().create(true).append(true).open(&self.0)?;
        file.write_all(format!("{line}\n").as_bytes())?;
        Ok(format!("{line}: done"))
    }
}

/// Looks an order up, which changes nothing.
#[tool(read_only)]
fn look(order: String, effects: State<Effects>) -> Result<String, ToolError> {
    effects.append(&format!("look {order}"))
}

/// Charges an order to a card; twice is once too often.
#[tool(approval = never)]
fn charge(order: String, effects: State<Effects>) -> Result<String, ToolError> {
    effects.append(&format!("charge {order}"))
}

/// Refunds an order, after approval.
#[tool(destructive)]
fn refund(order: String, effects: State<Effects>) -> Result<String, ToolError> {
    effects.append(&format!("refund {order}"))
}

/// Waits for a parcel that never arrives.
#[tool(read_only, timeout = "24h")]
async fn hang(order: String) -> String {
    std::future::pending::<()>().await;
    order
}

pub(crate) fn tools() -> [Tool; 4] {
    [look::tool(), charge::tool(), refund::tool(), hang::tool()]
}

/// The text of the last message, and what follows it.
pub(crate) fn last_message(request: &ModelRequest) -> (&str, &[Message]) {
    let last = request.messages.iter().rposition(|it| matches!(it, Message::User(_)));
    let since = request.messages.get(last.unwrap_or_default()..).unwrap_or_default();
    let text = match since.first() {
        Some(Message::User(content)) => content.iter().find_map(|it| match it {
            Content::Text { text } => Some(text.as_str()),
            _ => None,
        }),
        _ => None,
    };
    (text.unwrap_or_default(), since)
}

/// Calls the tool that the last message `TOOL ORDER` names, then answers with its outcome; depends on the history only.
///
/// `more` returns the end of the answer about an order.
pub(crate) fn reply(request: &ModelRequest, more: impl FnOnce(&str) -> String) -> ModelReply {
    let (text, since) = last_message(request);
    let (tool, order) = text.split_once(' ').unwrap_or_default();
    let results = since.iter().find_map(|it| match it {
        Message::Results(results) => results.first(),
        _ => None,
    });
    match results {
        None if tool != "greet" => {
            let call = ToolCall::new(tool, json!({ "order": order }));
            ModelReply::from_items(vec![Item::call(call.with_id(text.replace(' ', "-")))])
        }
        None => ModelReply::text(format!("{text} is answered.{}", more(order))),
        Some(result) => {
            ModelReply::text(format!("{text} is answered: {}.{}", result.outcome, more(order)))
        }
    }
}
