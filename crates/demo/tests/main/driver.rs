//! A conversation with the demo model: it is asked, its calls run, it is asked again.

use std::sync::Arc;

use futures::StreamExt as _;
use serde_json::Value;
use toolwright_chat::{
    Item, Message, Model as _, ModelEvent, ModelRequest, ResponseFormat, Step, StopReason,
    ToolChoice, Usage,
};
use toolwright_core::{Bundle, Content, Invoker, RegisteredTool, Registry, ToolCall, ToolResult};
use toolwright_demo::DemoModel;

/// How many steps a turn may take before something is wrong.
const STEPS: usize = 8;

pub(crate) struct Talk {
    model: DemoModel,
    invoker: Invoker,
    tools: Arc<[RegisteredTool]>,
    pub(crate) messages: Vec<Message>,
    pub(crate) choice: ToolChoice,
    pub(crate) form: Option<ResponseFormat>,
}

/// What came of one question.
#[derive(Debug)]
pub(crate) struct Turn {
    /// The calls of each step.
    pub(crate) steps: Vec<Vec<(String, Value)>>,
    pub(crate) results: Vec<ToolResult>,
    pub(crate) text: String,
}

impl Turn {
    pub(crate) fn calls(&self) -> Vec<(String, Value)> {
        self.steps.concat()
    }
}

impl Talk {
    pub(crate) fn new(bundle: impl Bundle) -> Self {
        let registry = Registry::new();
        registry.add(bundle).unwrap();
        let tools = registry.snapshot().iter().cloned().collect();
        Self {
            model: DemoModel::new(),
            invoker: Invoker::new(&registry).unwrap(),
            tools,
            messages: Vec::new(),
            choice: ToolChoice::Auto,
            form: None,
        }
    }

    pub(crate) fn request(&self) -> ModelRequest {
        let mut request = ModelRequest::default();
        request.messages = self.messages.clone();
        request.tools = Arc::clone(&self.tools);
        request.tool_choice = self.choice.clone();
        request.response_format = self.form.clone();
        request
    }

    pub(crate) async fn events(&self) -> Vec<ModelEvent> {
        let events = self.model.stream(self.request());
        events.map(Result::unwrap).collect().await
    }

    /// Says something, without asking the model.
    pub(crate) fn say(&mut self, text: &str) {
        self.messages.push(Message::User(vec![Content::text(text)]));
    }

    /// Asks, and lets the calls run until there is an answer.
    pub(crate) async fn ask(&mut self, question: &str) -> Turn {
        self.say(question);
        let mut turn = Turn { steps: Vec::new(), results: Vec::new(), text: String::new() };
        for _ in 0..STEPS {
            let step = self.step().await;
            let calls: Vec<ToolCall> = step.calls().cloned().collect();
            turn.text = step.text();
            self.messages.push(Message::Step(Arc::new(step)));
            if calls.is_empty() {
                return turn;
            }
            let arguments =
                |call: &ToolCall| serde_json::from_str(call.arguments.as_str()).unwrap();
            let shown = calls.iter().map(|call| (call.name.to_string(), arguments(call)));
            turn.steps.push(shown.collect());
            let mut results = Vec::new();
            for call in &calls {
                results.push(self.invoker.invoke(call).await);
            }
            turn.results.extend(results.clone());
            self.messages.push(Message::Results(results));
        }
        panic!("`{question}` has no end: {turn:?}");
    }

    async fn step(&self) -> Step {
        let mut items: Vec<Item> = Vec::new();
        let (mut stop, mut usage) = (StopReason::End, Usage::default());
        for event in self.events().await {
            match event {
                ModelEvent::Item(item) => items.push(item),
                ModelEvent::Finished { stop: why, usage: took } => (stop, usage) = (why, took),
                _ => {}
            }
        }
        Step::new(self.model.id().clone(), items, stop, usage)
    }
}
