//! A model with random answers.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures::StreamExt as _;
use tokio::task::yield_now;
use toolwright::ToolCall;
use toolwright::chat::{
    Item, Model, ModelErrorKind, ModelId, ModelRequest, ModelStream, StopReason,
};
use toolwright::testing::ModelReply;

use super::monitor::Monitor;
use super::random_choices::RandomChoices;

/// Counts calls over all cases, so that no two have one id.
static CALLS: AtomicUsize = AtomicUsize::new(0);

pub(super) struct FaultyModel {
    id: ModelId,
    dice: RandomChoices,
    watch: Monitor,
}

impl FaultyModel {
    pub(super) fn new(dice: RandomChoices, watch: Monitor) -> Self {
        Self { id: ModelId::new("erratic", ""), dice, watch }
    }

    fn call(&self) -> Item {
        let n = CALLS.fetch_add(1, Ordering::SeqCst);
        let tool = ["look", "write", "again", "pay", "fail", "nobody", "burn", "run", "plain"];
        let tool = tool[usize::from(self.dice.below(9))];
        let arguments = match self.dice.below(8) {
            0 => r#"{"n": "#.to_owned(),
            1 => r#"{"n": "x"}"#.to_owned(),
            2 => String::new(),
            _ => format!(r#"{{"n": {n}}}"#),
        };
        Item::call(ToolCall::new(tool, arguments).with_id(format!("call-{n}")))
    }

    fn reply(&self) -> ModelReply {
        let mut reply = ModelReply::text("Let me see. ");
        for _ in 0..self.dice.below(4) {
            let item = self.call();
            if self.dice.below(8) == 7 {
                // The same id twice.
                reply = reply.with_item(item.clone());
            }
            reply = reply.with_item(item);
        }
        match self.dice.below(10) {
            8 => reply.then_error(ModelErrorKind::Network, "the line is cut"),
            9 => reply.stop(StopReason::Length),
            _ => reply,
        }
    }
}

impl Model for FaultyModel {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        self.watch.asked(&request);
        let events = self.reply().into_stream();
        let slowly = events.then(async |event| {
            yield_now().await;
            event
        });
        Box::pin(slowly)
    }
}
