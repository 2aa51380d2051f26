//! A model that answers whatever the dice say, and a store that takes its time.

use std::sync::atomic::{AtomicUsize, Ordering};

use futures::future::BoxFuture;
use futures::{FutureExt as _, StreamExt as _};
use tokio::task::yield_now;
use toolwright::ToolCall;
use toolwright::chat::testing::Reply;
use toolwright::chat::{
    Entry, Item, Lease, MemoryStore, Model, ModelErrorKind, ModelId, ModelRequest, ModelStream,
    Stop, Store, StoreError,
};

use super::dice::Dice;
use super::watch::Watch;
use crate::scene::rest_of_store;

/// Counts calls over all cases, so that no two have one id.
static CALLS: AtomicUsize = AtomicUsize::new(0);

pub(super) struct Erratic {
    id: ModelId,
    dice: Dice,
    watch: Watch,
}

impl Erratic {
    pub(super) fn new(dice: Dice, watch: Watch) -> Self {
        Self {
            id: ModelId::new("erratic", ""),
            dice,
            watch,
        }
    }

    fn call(&self) -> Item {
        let n = CALLS.fetch_add(1, Ordering::SeqCst);
        let tool = ["look", "write", "again", "pay", "fail", "nobody", "burn"];
        let tool = tool[usize::from(self.dice.roll(7))];
        let arguments = match self.dice.roll(8) {
            0 => r#"{"n": "#.to_owned(),
            1 => r#"{"n": "x"}"#.to_owned(),
            2 => String::new(),
            _ => format!(r#"{{"n": {n}}}"#),
        };
        Item::call(ToolCall::new(tool, arguments).with_id(format!("call-{n}")))
    }

    fn reply(&self) -> Reply {
        let mut reply = Reply::text("Let me see. ");
        for _ in 0..self.dice.roll(4) {
            let item = self.call();
            if self.dice.roll(8) == 7 {
                // The same id twice.
                reply = reply.and(item.clone());
            }
            reply = reply.and(item);
        }
        match self.dice.roll(10) {
            8 => reply.then_error(ModelErrorKind::Network, "the line is cut"),
            9 => reply.stop(Stop::Length),
            _ => reply,
        }
    }
}

impl Model for Erratic {
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

/// A store that can be left alone before and after it has kept something.
#[derive(Default)]
pub(super) struct Hesitant(MemoryStore);

impl Hesitant {
    pub(super) fn entries(&self, conversation: &str) -> Vec<Entry> {
        let loaded = self.0.load(conversation).now_or_never();
        loaded.unwrap().unwrap()
    }
}

impl Store for Hesitant {
    fn append<'a>(
        &'a self,
        lease: &'a Lease,
        entries: &'a [Entry],
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            yield_now().await;
            self.0.append(lease, entries).await?;
            yield_now().await;
            Ok(())
        })
    }

    rest_of_store!(0, tail);
}
