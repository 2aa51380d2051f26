//! The demo model: a question in, tool calls or plain words out, by rules alone.
//!
//! It needs no key and no network, and says the same to the same every time; so a first visit, a test and a recorded transcript
//! have somebody to talk to. It is no language model, and says so. It knows no tool by name: whatever it is given, it ranks by
//! words, fills in from the sentence and the conversation, and asks for what it cannot find.

mod words;

mod quantity;
mod units;

mod meaning;
mod shape;

mod index;
mod recall;

mod fill;

mod desk;
mod plan;
mod talk;

mod progress;
mod wish;

mod decide;
mod form;
mod say;
mod stream;

use std::sync::{Arc, Mutex, PoisonError, Weak};

use futures::stream::{StreamExt as _, iter, once};
use toolwright_chat::{Model, ModelId, ModelRequest, ModelStream};
use toolwright_core::RegisteredTool;

use crate::decide::decide;
use crate::index::Index;

/// The vendor it is known by.
const VENDOR: &str = "demo";

/// How many sets of tools are kept indexed: one for each endpoint of a usual server.
const KEPT: usize = 8;

/// A stand-in for a language model: rules that pick a tool and fill in its arguments.
///
/// # Examples
///
/// ```
/// use toolwright_chat::Model as _;
/// use toolwright_demo::DemoModel;
///
/// assert_eq!(DemoModel::new().id().to_string(), "demo");
/// ```
#[derive(Debug)]
pub struct DemoModel {
    id: ModelId,
    indexes: Arc<Mutex<Vec<Kept>>>,
}

/// An index, and the tools it was made of; they may be gone, but nothing else comes to their address meanwhile.
#[derive(Debug)]
struct Kept {
    tools: Weak<[RegisteredTool]>,
    index: Arc<Index>,
}

impl DemoModel {
    /// Makes the model.
    pub fn new() -> Self {
        Self {
            id: ModelId::new(VENDOR, ""),
            indexes: Arc::default(),
        }
    }
}

impl Default for DemoModel {
    fn default() -> Self {
        Self::new()
    }
}

impl Model for DemoModel {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        let indexes = Arc::clone(&self.indexes);
        let answer = async move {
            let index = index_of(&indexes, &request.tools);
            let decision = decide(&request, &index);
            iter(stream::events(&request, decision, index.bytes)).map(Ok)
        };
        once(answer).flatten().boxed()
    }
}

/// Returns the index of these tools, made when they are first seen.
fn index_of(indexes: &Mutex<Vec<Kept>>, tools: &Arc<[RegisteredTool]>) -> Arc<Index> {
    let lock = || indexes.lock().unwrap_or_else(PoisonError::into_inner);
    let same = |kept: &Kept| std::ptr::eq(kept.tools.as_ptr(), Arc::as_ptr(tools));
    if let Some(kept) = lock().iter().find(|kept| same(kept)) {
        return Arc::clone(&kept.index);
    }
    let index = Arc::new(Index::new(tools));
    let mut kept = lock();
    kept.retain(|kept| kept.tools.strong_count() > 0);
    if kept.len() >= KEPT {
        kept.remove(0);
    }
    kept.push(Kept {
        tools: Arc::downgrade(tools),
        index: Arc::clone(&index),
    });
    index
}
