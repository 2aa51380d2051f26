//! A model whose answers follow from the message, and tools that count their effects.

use std::sync::{Arc, Weak};

use futures::StreamExt as _;
use futures::stream;
use toolwright_chat::{
    Item, Message, Model, ModelError, ModelErrorKind, ModelEvent, ModelId, ModelRequest,
    ModelStream, StopReason, Usage,
};
use toolwright_core::{Content, Invoker, Registry, Tool, ToolBuilder, ToolCall, ToolError};

use super::scheduler::pause;
use super::world::World;

/// The tools, by the letter that calls them in a message.
const TOOLS: [(char, &str); 4] = [('l', "look"), ('s', "set"), ('w', "write"), ('p', "pay")];

/// Reads a message `ID STEP STEP …`, calls the tools whose letters a step has, and then answers.
///
/// The id of a call follows from the message: asked again after a crash, the model makes the same call.
pub(crate) struct LetterModel {
    id: ModelId,
    world: Arc<World>,
}

impl LetterModel {
    pub(crate) fn new(world: &Arc<World>) -> Self {
        Self { id: ModelId::new("simulation", "letters"), world: Arc::clone(world) }
    }
}

impl Model for LetterModel {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn stream(&self, request: ModelRequest) -> ModelStream {
        let (mut message, mut steps) = (String::new(), 0);
        for item in &request.messages {
            match item {
                Message::User(content) => {
                    steps = 0;
                    message = match content.first() {
                        Some(Content::Text { text }) => text.clone(),
                        _ => String::new(),
                    };
                }
                Message::Step(_) => steps += 1,
                _ => {}
            }
        }
        let mut words = message.split(' ');
        let id = words.next().unwrap_or_default();
        let letters = words.nth(steps).unwrap_or_default();
        let mut events = vec![Ok(ModelEvent::Text("Let me see. ".to_owned()))];
        for (index, letter) in letters.chars().enumerate() {
            let (_, tool) = TOOLS.iter().find(|(known, _)| *known == letter).unwrap();
            let call = format!("{id}/{steps}{index}{letter}");
            let arguments = format!("{{\"id\":\"{call}\"}}");
            events.push(Ok(ModelEvent::Item(Item::call(
                ToolCall::new(*tool, arguments.as_str()).with_id(call),
            ))));
        }
        let stop = match letters {
            "" => StopReason::End,
            _ => StopReason::Calls,
        };
        if !self.world.is_calm() && self.world.scheduler.chance(20) {
            events.truncate(1);
            events.push(Err(ModelError::new(ModelErrorKind::Overloaded, "too many requests")));
        } else {
            events.push(Ok(ModelEvent::Item(Item::text("Let me see."))));
            events.push(Ok(ModelEvent::Finished { stop, usage: Usage::default() }));
        }
        let world = Arc::clone(&self.world);
        let delayed = stream::iter(events).then(move |event| {
            let delay = work_time(&world);
            async move {
                pause(delay).await;
                event
            }
        });
        delayed.boxed()
    }
}

/// Milliseconds that a step of the model or of a tool takes.
fn work_time(world: &World) -> u64 {
    match world.scheduler.below(10) {
        0..5 => 0,
        5..9 => world.scheduler.below(300),
        _ => world.scheduler.below(6_000),
    }
}

pub(crate) fn invoker(world: &Weak<World>) -> Invoker {
    let registry = Registry::new();
    for (_, name) in TOOLS {
        let tool = Tool::builder(name, "Is counted.");
        let tool = match name {
            "look" => tool.read_only(true),
            "set" => tool.idempotent(true),
            "pay" => tool.destructive(true),
            _ => tool,
        };
        registry.add(counted_tool(tool, world)).unwrap();
    }
    Invoker::new(&registry).unwrap()
}

fn counted_tool(tool: ToolBuilder, world: &Weak<World>) -> Tool {
    let world = Weak::clone(world);
    let tool = tool.param::<String>("id", "The id of the call.");
    let tool = tool.run_async(move |_, cx| {
        let (world, call) = (world.upgrade().unwrap(), cx.info().id.to_string());
        async move {
            pause(work_time(&world)).await;
            world.scheduler.trace(|| format!("effect of {call}"));
            *world.history.lock().unwrap().effects.entry(call).or_default() += 1;
            pause(work_time(&world)).await;
            Ok::<_, ToolError>("done")
        }
    });
    tool.unwrap()
}

/// True if the effect of a call must not happen twice.
pub(crate) fn runs_once(call: &str) -> bool {
    call.ends_with(['w', 'p'])
}
