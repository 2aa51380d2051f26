//! A model whose answers depend on the history only, so that a conversation continues after a crash.

use futures::stream::StreamExt as _;
use serde_json::json;
use toolwright::chat::{Item, Message, Model, ModelEvent, ModelId, ModelRequest, ModelStream};
use toolwright::testing::ModelReply;
use toolwright::{Content, ToolCall};

use super::kill_points::{KillPoints, Stage};

/// Calls the four tools in turn, then summarizes their outcomes.
pub(crate) struct OrderModel {
    id: ModelId,
    points: KillPoints,
}

impl OrderModel {
    pub(crate) fn new(points: KillPoints) -> Self {
        Self { id: ModelId::new("clerk", ""), points }
    }
}

/// The order in the last user message, and the results since.
fn order(messages: &[Message]) -> (u32, &[Message]) {
    let question = messages.iter().rposition(|it| matches!(it, Message::User(_)));
    let at = question.unwrap_or_default();
    let order = match messages.get(at) {
        Some(Message::User(content)) => content.iter().find_map(|item| match item {
            Content::Text { text } => text.strip_prefix("Order ")?.parse().ok(),
            _ => None,
        }),
        _ => None,
    };
    (order.unwrap_or_default(), messages.get(at + 1..).unwrap_or_default())
}

fn answer(messages: &[Message]) -> ModelReply {
    let (order, since) = order(messages);
    let steps = since.iter().filter(|it| matches!(it, Message::Step(_)));
    let call = |tool: &str, arguments: serde_json::Value| {
        Item::call(ToolCall::new(tool, arguments).with_id(format!("{order}-{tool}")))
    };
    match steps.count() {
        0 => ModelReply::from_items(vec![
            call("look", json!({ "order": order })),
            call("put", json!({ "order": order })),
        ]),
        1 => ModelReply::from_items(vec![call(
            "charge",
            json!({ "order": order, "euros": 10 + order }),
        )]),
        2 => {
            ModelReply::from_items(vec![call("refund", json!({ "order": order, "euros": order }))])
        }
        _ => {
            let results = since.iter().filter_map(|message| match message {
                Message::Results(results) => Some(results),
                _ => None,
            });
            let results = results.flatten();
            let outcomes =
                results.map(|it| format!("{} was {}: {}", it.tool, it.outcome, it.text()));
            let outcomes: Vec<String> = outcomes.collect();
            ModelReply::text(format!("Order {order}. {}", outcomes.join(". ")))
        }
    }
}

impl Model for OrderModel {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        self.points.reach(Stage::Before, "the model is asked");
        let points = self.points.clone();
        let heard = answer(&request.messages).into_stream();
        let observed = heard.inspect(move |event| {
            if let Ok(ModelEvent::Text(word)) = event {
                points.reach(Stage::Answering, &format!("the model says {word:?}"));
            }
        });
        observed.boxed()
    }
}
