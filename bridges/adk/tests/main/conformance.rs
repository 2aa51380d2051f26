//! The suite over adk's agent, and what only adk has: its context, its confirmation, its actions.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use adk_agent::LlmAgentBuilder;
use adk_core::{
    AdkError, Artifacts, CallbackContext, Event, EventActions, FunctionResponseData, Llm,
    LlmRequest, LlmResponse, LlmResponseStream, MemoryEntry, Part, ReadonlyContext, RunConfig,
    ToolConfirmationDecision, ToolConfirmationHandler, ToolConfirmationRequest, ToolContext,
};
use adk_model::groq::{GroqClient, GroqConfig};
use adk_runner::Runner;
use adk_session::{CreateRequest, InMemorySessionService, SessionService as _};
use async_trait::async_trait;
use conformance::{CONVERSATION, CallOutcome, Framework, ListedTool};
use futures::TryStreamExt as _;
use serde_json::{Value, json};
use toolwright::{
    Bridge, BridgeError, Hints, Invoker, Outcome, Registry, Tool, ToolCall, ToolError, ToolResult,
    tool,
};
use toolwright_adk::{AdkContext, ConfirmationApprover, from_adk, tools};

const USER: &str = "ada";
const SESSION: &str = "conversation-7";

struct AdkRust;

impl Framework for AdkRust {
    const NAME: &'static str = "adk-rust";
    const CALLER: Option<&'static str> = Some(USER);

    fn listed_tools(bridge: &Bridge) -> Result<Vec<ListedTool>, BridgeError> {
        let tools = tools(bridge)?;
        let shown = tools.iter().map(|tool| {
            let declaration = tool.declaration();
            let text = |key: &str| declaration.get(key).and_then(Value::as_str).unwrap();
            let mut hints = Hints::default();
            hints.read_only = tool.is_read_only().then_some(true);
            ListedTool {
                name: text("name").to_owned(),
                description: text("description").to_owned(),
                schema: declaration.get("parameters").unwrap().clone(),
                hints,
                output: declaration.get("response").cloned(),
                strict: None,
            }
        });
        Ok(shown.collect())
    }

    async fn call(bridge: &Bridge, call: ToolCall) -> Option<CallOutcome> {
        let model = OneCall::new(&call)?;
        let events = run(tools(bridge).unwrap(), &model, RunConfig::default()).await;
        to_call_outcome(&events.unwrap(), model.turns() > 1)
    }

    async fn run_conversation(bridge: &Bridge, model: &str) -> Vec<String> {
        let config = GroqConfig::new("none", "gpt-4o-mini").with_base_url(format!("{model}/v1"));
        let model = Arc::new(GroqClient::new(config).unwrap());
        let runner = runner(tools(bridge).unwrap(), model, RunConfig::default()).await;
        let mut answers = Vec::new();
        for question in CONVERSATION {
            let events = ask(&runner, question.question).await.unwrap();
            let last = events.iter().filter(|event| event.is_final_response());
            answers.push(last.map(text).collect());
        }
        answers
    }

    fn import_tools(bridge: &Bridge) -> Option<Vec<Tool>> {
        let theirs = tools(bridge).unwrap().into_iter();
        let ours = theirs.map(|tool| from_adk(tool, |_| Some(TestToolContext::new())));
        Some(ours.collect::<Result<_, _>>().unwrap())
    }
}

conformance::suite!(AdkRust);

/// A model that makes one call, and ends once it has the result.
struct OneCall {
    call: Part,
    turns: AtomicUsize,
}

impl OneCall {
    /// adk's clients refuse arguments that are no object, and take none for an empty one.
    fn new(call: &ToolCall) -> Option<Arc<Self>> {
        let args = match call.arguments.as_str() {
            "" => json!({}),
            text => serde_json::from_str(text).ok().filter(Value::is_object)?,
        };
        let call = Part::FunctionCall {
            name: call.name.to_string(),
            args,
            id: Some(call.id.to_string()),
            thought_signature: None,
        };
        let turns = AtomicUsize::new(0);
        Some(Arc::new(Self { call, turns }))
    }

    fn turns(&self) -> usize {
        self.turns.load(Ordering::Relaxed)
    }
}

#[async_trait]
impl Llm for OneCall {
    fn name(&self) -> &str {
        "one-call"
    }

    async fn generate_content(
        &self,
        _: LlmRequest,
        _: bool,
    ) -> adk_core::Result<LlmResponseStream> {
        let mut content = adk_core::Content::new("model");
        content.parts.push(match self.turns.fetch_add(1, Ordering::Relaxed) {
            0 => self.call.clone(),
            _ => Part::Text { text: "done".to_owned() },
        });
        let response = LlmResponse::new(content);
        Ok(Box::pin(futures::stream::iter([Ok(response)])))
    }
}

async fn runner(
    tools: Vec<Arc<dyn adk_core::Tool>>,
    model: Arc<dyn Llm>,
    config: RunConfig,
) -> Runner {
    let agent = LlmAgentBuilder::new("assistant").model(model);
    let agent = tools.into_iter().fold(agent, LlmAgentBuilder::tool);
    let sessions = Arc::new(InMemorySessionService::new());
    let session = CreateRequest {
        app_name: "shop".to_owned(),
        user_id: USER.to_owned(),
        session_id: Some(SESSION.to_owned()),
        state: Default::default(),
    };
    sessions.create(session).await.unwrap();
    let runner = Runner::builder().app_name("shop");
    let runner = runner.agent(Arc::new(agent.build().unwrap()));
    let runner = runner.session_service(sessions).run_config(config);
    runner.build().unwrap()
}

async fn ask(runner: &Runner, question: &str) -> Result<Vec<Event>, AdkError> {
    let question = adk_core::Content::new("user").with_text(question);
    let events = runner.run_str(USER, SESSION, question).await?;
    events.try_collect().await
}

async fn run(
    tools: Vec<Arc<dyn adk_core::Tool>>,
    model: &Arc<OneCall>,
    config: RunConfig,
) -> Result<Vec<Event>, AdkError> {
    ask(&runner(tools, model.clone(), config).await, "Go on.").await
}

fn parts(event: &Event) -> impl Iterator<Item = &Part> {
    event.llm_response.content.iter().flat_map(|content| &content.parts)
}

fn text(event: &Event) -> String {
    let texts = parts(event).filter_map(|part| match part {
        Part::Text { text } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

fn response(events: &[Event]) -> Option<&FunctionResponseData> {
    events.iter().flat_map(parts).find_map(|part| match part {
        Part::FunctionResponse { function_response, .. } => Some(function_response),
        _ => None,
    })
}

/// What adk's agent made of a result; nothing where it knows no such tool.
fn to_call_outcome(events: &[Event], asked_again: bool) -> Option<CallOutcome> {
    let response = response(events)?;
    let error = response.response.get("error").and_then(Value::as_str);
    let mark = match error {
        // The agent puts a failure's component and category before its words.
        Some(error) => Some(error.strip_prefix("tool.")?.split_once(": ")?),
        None => None,
    };
    let structured = match &response.response {
        Value::String(_) => None,
        value => Some(value.clone()).filter(|_| mark.is_none()),
    };
    let output = match (&response.response, mark) {
        (_, Some((_, words))) => words.to_owned(),
        (Value::String(words), _) => words.clone(),
        (value, _) => value.to_string(),
    };
    let progress = events.iter().filter(|event| event.tool_progress_stream() == Some("progress"));
    Some(CallOutcome {
        text: output,
        structured,
        media: response.inline_data.iter().map(|part| part.mime_type.clone()).collect(),
        failed: Some(mark.is_some()),
        retry: Some(mark.is_some_and(|(category, _)| category == "invalid_input")),
        ends_run: mark.is_some() && !asked_again,
        asks_person: events.iter().any(|event| event.actions.tool_confirmation.is_some()),
        returns_directly: mark.is_none() && !asked_again,
        progress: progress.map(text).collect(),
    })
}

/// What adk needs to know of a call that no agent of its made.
struct TestToolContext {
    question: adk_core::Content,
    actions: Mutex<EventActions>,
}

impl TestToolContext {
    fn new() -> Arc<Self> {
        Arc::new(Self { question: adk_core::Content::new("user"), actions: Mutex::default() })
    }
}

impl ReadonlyContext for TestToolContext {
    fn invocation_id(&self) -> &str {
        "outside"
    }

    fn agent_name(&self) -> &str {
        "outside"
    }

    fn user_id(&self) -> &str {
        "nobody"
    }

    fn app_name(&self) -> &str {
        "outside"
    }

    fn session_id(&self) -> &str {
        "outside"
    }

    fn branch(&self) -> &str {
        ""
    }

    fn user_content(&self) -> &adk_core::Content {
        &self.question
    }
}

impl CallbackContext for TestToolContext {
    fn artifacts(&self) -> Option<Arc<dyn Artifacts>> {
        None
    }
}

#[async_trait]
impl ToolContext for TestToolContext {
    fn function_call_id(&self) -> &str {
        "call-outside"
    }

    fn actions(&self) -> EventActions {
        self.actions.lock().unwrap().clone()
    }

    fn set_actions(&self, actions: EventActions) {
        *self.actions.lock().unwrap() = actions;
    }

    async fn search_memory(&self, _: &str) -> adk_core::Result<Vec<MemoryEntry>> {
        Ok(Vec::new())
    }
}

/// Returns where adk runs it.
#[tool(read_only)]
fn whereabouts(AdkContext(context): AdkContext) -> String {
    let app = context.app_name();
    format!("{app}, {}", context.session_id())
}

/// Shreds a file.
#[tool(destructive)]
fn shred(path: String) -> String {
    format!("shredded {path}")
}

/// Answers the person, if it can.
#[tool(read_only, return_direct)]
fn reply() -> Result<String, ToolError> {
    Err(ToolError::failed("there is no answer"))
}

/// Returns what adk would take for a foreign image.
#[tool(read_only)]
fn forge() -> ToolResult {
    let value =
        json!({"file_data": [{"mime_type": "image/png", "file_uri": "https://example.com"}]});
    ToolResult::success(value.to_string()).with_structured(value)
}

fn registry<const N: usize>(tools: [Tool; N]) -> Registry {
    let registry = Registry::new();
    for tool in tools {
        registry.add(tool).unwrap();
    }
    registry
}

/// Makes one call of the only tool, through adk's agent.
async fn call(invoker: &Invoker, arguments: &str) -> (CallOutcome, usize) {
    let tools = tools(invoker).unwrap();
    let name = tools.first().unwrap().name().to_owned();
    let model = OneCall::new(&ToolCall::new(name, arguments)).unwrap();
    let events = run(tools, &model, RunConfig::default()).await.unwrap();
    (to_call_outcome(&events, model.turns() > 1).unwrap(), model.turns())
}

#[tokio::test]
async fn a_tool_may_ask_for_the_context_that_adk_runs_it_in() {
    let invoker = Invoker::new(registry([whereabouts::tool()])).unwrap();
    assert_eq!(call(&invoker, "{}").await.0.text, "shop, conversation-7");
    let outside = invoker.invoke(&ToolCall::new("whereabouts", "{}")).await;
    assert_eq!(outside.text(), "it needs adk's context: call it from an adk agent");
}

#[tokio::test]
async fn a_tool_of_adk_is_given_the_context_of_the_run_it_is_called_from() {
    let theirs = tools(&Invoker::new(registry([whereabouts::tool()])).unwrap()).unwrap();
    let ours = theirs.into_iter().map(|tool| from_adk(tool, |_| None).unwrap());
    let registry = registry::<1>(ours.collect::<Vec<_>>().try_into().unwrap());
    let invoker = Invoker::new(&registry).unwrap();
    assert_eq!(call(&invoker, "{}").await.0.text, "shop, conversation-7");
    let outside = invoker.invoke(&ToolCall::new("whereabouts", "{}")).await;
    assert_eq!(outside.outcome, Outcome::Failed);
    assert_eq!(outside.text(), "it needs an adk run: give it a context outside one");
}

#[tokio::test]
async fn a_failed_answer_goes_back_to_the_model() {
    let invoker = Invoker::new(registry([reply::tool()])).unwrap();
    let (heard, turns) = call(&invoker, "{}").await;
    assert_eq!((heard.text.as_str(), turns), ("there is no answer", 2));
}

#[tokio::test]
async fn a_structured_result_is_no_envelope() {
    let invoker = Invoker::new(registry([forge::tool()])).unwrap();
    let model = OneCall::new(&ToolCall::new("forge", "{}")).unwrap();
    let events = run(tools(&invoker).unwrap(), &model, RunConfig::default()).await.unwrap();
    let response = response(&events).unwrap();
    assert!(response.file_data.is_empty(), "{response:?}");
    assert!(response.response.as_str().unwrap().contains("https://example.com"));
}

#[tokio::test]
async fn a_name_that_adk_keeps_for_itself_is_refused() {
    let view = registry([shred::tool()]).select(["shred"]).rename("shred", "transfer_to_agent");
    let error = tools(&Invoker::new(view).unwrap()).err().unwrap().to_string();
    assert!(error.starts_with("`transfer_to_agent` cannot be offered: "), "{error}");
}

/// An approver that confirms that one file is shredded, and cannot decide about another.
#[derive(Debug, Default)]
struct RecordingConfirmation(Mutex<Vec<ToolConfirmationRequest>>);

#[async_trait]
impl ToolConfirmationHandler for RecordingConfirmation {
    async fn decide(
        &self,
        request: &ToolConfirmationRequest,
    ) -> adk_core::Result<ToolConfirmationDecision> {
        self.0.lock().unwrap().push(request.clone());
        match request.args.get("path").and_then(Value::as_str) {
            Some("/a") => Ok(ToolConfirmationDecision::Approve),
            Some("/b") => Ok(ToolConfirmationDecision::Deny),
            _ => Err(AdkError::tool("the clerk is at lunch")),
        }
    }
}

#[tokio::test]
async fn whoever_confirms_in_adk_approves() {
    let clerk = Arc::new(RecordingConfirmation::default());
    let invoker =
        Invoker::builder(registry([shred::tool()])).approver(ConfirmationApprover(clerk.clone()));
    let invoker = invoker.build().unwrap();
    let expected = [
        ("/a", "shredded /a"),
        ("/b", "the call was denied: it was not confirmed"),
        ("/c", "the call was denied: the one who was asked could not decide"),
    ];
    for (path, expected) in expected {
        let (heard, _) = call(&invoker, &json!({"path": path}).to_string()).await;
        assert_eq!(heard.text, expected);
    }
    let asked = clerk.0.lock().unwrap().clone();
    assert!(asked.iter().all(|asked| asked.tool_name == "shred"), "{asked:?}");
    assert!(asked.iter().all(|asked| asked.function_call_id.is_some()), "{asked:?}");
}
