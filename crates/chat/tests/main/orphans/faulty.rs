//! A model with random answers, and a store that yields before and after it writes.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures::{FutureExt as _, StreamExt as _};
use tokio::task::yield_now;
use toolwright::ToolCall;
use toolwright::chat::{
    Append, Entry, Item, Lease, MemoryStore, Model, ModelErrorKind, ModelId, ModelRequest,
    ModelStream, StopReason, Store, StoreFuture,
};
use toolwright::testing::ModelReply;

use super::monitor::Monitor;
use super::random_choices::RandomChoices;
use crate::support::delegate_store;

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

/// A store whose futures can be dropped before and after it has written.
#[derive(Default)]
pub(super) struct YieldingStore(MemoryStore);

impl YieldingStore {
    pub(super) fn entries(&self, conversation: &str) -> Vec<Entry> {
        let loaded = self.0.load(conversation).now_or_never();
        loaded.unwrap().unwrap()
    }
}

impl Store for YieldingStore {
    fn append<'a>(&'a self, lease: &'a Lease, append: Append<'a>) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            yield_now().await;
            self.0.append(lease, append).await?;
            yield_now().await;
            Ok(())
        })
    }

    delegate_store!(0, release, tail);
}
