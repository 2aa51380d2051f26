//! The demo model: rules that pick a tool and fill in its arguments, without a key and without a network.
//!
//! It gives the same answer to the same request every time, so that a first visit, a test and a recorded transcript have a
//! model. It is no language model, and its answers state that. No tool is known by name: any tools are ranked by their
//! specs, filled from the sentence and the conversation, and the user is asked for what is missing.

mod quantity;
mod text;

mod params;

mod history;
mod memory;

mod arguments;
mod rank;

mod intent;

mod gateway;

mod reply;
mod structured;

mod stream;

use std::sync::{Arc, Mutex, PoisonError, Weak};

use futures::stream::{StreamExt as _, iter, once};
use toolwright_chat::{Model, ModelId, ModelRequest, ModelStream};
use toolwright_core::{RegisteredTool, ToolResult};
use toolwright_search::ToolIndex;

use crate::history::History;
use crate::intent::{MAX_QUESTIONS, Progress};
use crate::memory::Memory;
use crate::rank::Tools;

/// The vendor in the model's id.
const VENDOR: &str = "demo";

/// How many indexes are cached: one for each endpoint of a usual server.
const MAX_INDEXES: usize = 8;

/// How many tools are indexed.
const MAX_TOOLS: usize = 20_000;

/// A stand-in for a language model: rules that pick a tool and fill in its arguments.
///
/// # Examples
///
/// ```
/// use toolwright::chat::Model as _;
/// use toolwright::demo::DemoModel;
///
/// assert_eq!(DemoModel::new().id().to_string(), "demo");
/// ```
#[derive(Debug)]
pub struct DemoModel {
    id: ModelId,
    indexes: Arc<Mutex<Vec<CachedIndex>>>,
}

/// Tools and their index; the weak reference keeps the tools' address from being reused.
type CachedIndex = (Weak<[RegisteredTool]>, Arc<ToolIndex>);

impl DemoModel {
    /// Makes the model.
    pub fn new() -> Self {
        let (id, indexes) = (ModelId::new(VENDOR, ""), Arc::default());
        Self { id, indexes }
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
            let decision = gateway::decide_with_search(&request)
                .unwrap_or_else(|| decide(&request, &index, false));
            iter(stream::events(&request, decision)).map(Ok)
        };
        once(answer).flatten().boxed()
    }
}

/// Returns the index of these tools, from the cache or built now.
fn index_of(indexes: &Mutex<Vec<CachedIndex>>, tools: &Arc<[RegisteredTool]>) -> Arc<ToolIndex> {
    let lock = || indexes.lock().unwrap_or_else(PoisonError::into_inner);
    let is_same = |(known, _): &&CachedIndex| std::ptr::eq(known.as_ptr(), Arc::as_ptr(tools));
    if let Some((_, index)) = lock().iter().find(is_same) {
        return Arc::clone(index);
    }
    let index: Arc<ToolIndex> = Arc::new(ToolIndex::new(tools.iter().take(MAX_TOOLS)));
    let mut cached = lock();
    cached.retain(|(tools, _)| tools.strong_count() > 0);
    let surplus = (cached.len() + 1).saturating_sub(MAX_INDEXES);
    cached.drain(..surplus);
    cached.push((Arc::downgrade(tools), Arc::clone(&index)));
    index
}

/// What the model does next.
enum Decision {
    /// Calls these tools with these arguments.
    Call(Vec<(String, String)>),
    /// Answers with this text.
    Answer(String),
}

/// Decides what to do. Nothing is kept between requests: every request is decided from its messages alone.
fn decide(request: &ModelRequest, index: &ToolIndex, has_searched: bool) -> Decision {
    let mut tools = Tools::new(&request.tools, index, &request.tool_choice);
    tools.has_searched = has_searched;
    let history = History::new(&request.messages);
    let Some(turn) = history.last_turn() else {
        return Decision::Answer(reply::help(&tools));
    };
    let Some(tasks) = tools.tasks(&history, turn, MAX_QUESTIONS) else {
        return Decision::Answer("All right, nothing was done.".to_owned());
    };
    let progress = Progress::new(&tools, &tasks, &history, turn);
    if !progress.calls.is_empty() {
        return Decision::Call(progress.calls);
    }
    let question = history.question(turn);
    let calls = history.calls(turn);
    let results: Vec<&ToolResult> = calls.iter().filter_map(|(_, result)| *result).collect();
    let has_failed = results.iter().any(|result| result.is_error());
    if let Some(form) = &request.response_format
        && progress.open.is_empty()
        && !has_failed
    {
        // Results of this turn take precedence over everything before.
        let memory = Memory::new(match calls.is_empty() {
            true => history.before(turn),
            false => history.after_question(turn),
        });
        return Decision::Answer(structured::answer(form, &question, &memory));
    }
    let results = results.iter().map(|result| reply::result(&tools, result));
    let questions = progress.open.iter();
    let questions =
        questions.map(|(task, missing)| reply::ask(&tools, task.tool, missing, tasks.len() == 1));
    let skipped = progress.skipped.iter().map(|tool| reply::skipped(&tools, *tool));
    let lines: Vec<String> = results.chain(questions).chain(skipped).collect();
    Decision::Answer(match lines.is_empty() {
        true => reply::no_tool(&tools, &question),
        false => lines.join("\n"),
    })
}
