//! The program whose `serve` command is killed.
//!
//! The setting `effects.file` names the file to which tools append.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::json;
use toolwright::chat::{Item, Message, ModelRequest};
use toolwright::testing::{FnModel, ModelReply};
use toolwright::{Config, ConfigError, Content, State, ToolCall, ToolError, tool};

/// The file to which tools append a line.
struct Effects(PathBuf);

impl Effects {
    async fn open(config: Config) -> Result<Self, ConfigError> {
        Ok(Self(config.get("effects.file")?))
    }

    fn append(&self, line: &str) -> Result<String, ToolError> {
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

/// Calls the tool that the last message `TOOL ORDER` names, then answers with its outcome; depends on the history only.
fn reply(request: &ModelRequest) -> ModelReply {
    let last = request.messages.iter().rposition(|it| matches!(it, Message::User(_)));
    let last = last.unwrap_or_default();
    let text = match request.messages.get(last) {
        Some(Message::User(content)) => content.iter().find_map(|it| match it {
            Content::Text { text } => Some(text.clone()),
            _ => None,
        }),
        _ => None,
    };
    let text = text.unwrap_or_default();
    let (tool, order) = text.split_once(' ').unwrap_or_default();
    let results = request.messages.iter().skip(last).find_map(|it| match it {
        Message::Results(results) => results.first(),
        _ => None,
    });
    match results {
        None if tool != "greet" => {
            let call = ToolCall::new(tool, json!({ "order": order }));
            ModelReply::from_items(vec![Item::call(call.with_id(text.replace(' ', "-")))])
        }
        None => ModelReply::text(format!("{text} is answered.")),
        Some(result) => ModelReply::text(format!("{text} is answered: {}.", result.outcome)),
    }
}

fn main() -> ExitCode {
    toolwright::app!()
        .state_with(Effects::open)
        .model(FnModel::new(reply))
        .server(|server| {
            server.limits(|limits| {
                limits.shutdown_grace = Duration::from_secs(1);
                limits.sweep_interval = Duration::from_secs(1);
            })
        })
        .run()
}
