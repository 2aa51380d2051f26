//! What swiftide carries, measured: its tool objects, its agent loop, and what its client for OpenAI sends.

use std::sync::{Arc, Mutex};

use async_openai::Client;
use async_trait::async_trait;
use conformance::{CONVERSATION, CallOutcome, Framework, ListedTool};
use serde_json::{Value, json};
use swiftide_agents::tools::control::ApprovalRequired;
use swiftide_agents::{Agent, DefaultContext, StopReason};
use swiftide_core::chat_completion::errors::LanguageModelError;
use swiftide_core::chat_completion::{
    ChatCompletion, ChatCompletionRequest, ChatCompletionResponse, ChatMessage, ToolCall,
    ToolOutput,
};
use swiftide_core::{AgentContext, ToolFeedback};
use swiftide_integrations::openai::{OpenAI, OpenAIConfig};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use toolwright::schema::Dialect;
use toolwright::{Bridge, BridgeError, Invoker, Outcome, Registry, Tool, ToolError, tool};
use toolwright_swiftide::{from_swiftide, tools};

struct Swiftide;

impl Framework for Swiftide {
    const NAME: &'static str = "swiftide";

    fn listed_tools(bridge: &Bridge) -> Result<Vec<ListedTool>, BridgeError> {
        let specs = tools(bridge)?.into_iter().map(|tool| tool.tool_spec());
        let shown = specs.map(|spec| ListedTool {
            name: spec.name,
            description: spec.description,
            schema: spec.parameters_schema.unwrap().to_value(),
            // A spec has no field for it; the client for OpenAI sets it for every tool, as a test below shows.
            strict: Some(true),
            ..ListedTool::default()
        });
        Ok(shown.collect())
    }

    async fn call(bridge: &Bridge, call: toolwright::ToolCall) -> Option<CallOutcome> {
        let tools = tools(bridge).unwrap();
        // The agent skips a call of any other name.
        let tool = tools.iter().find(|tool| tool.name() == call.name.as_str())?;
        let call = called(call.name.as_str(), call.arguments.as_str());
        let output = tool.invoke(&DefaultContext::default(), &call).await;
        Some(to_call_outcome(output.map_err(|error| error.to_string())))
    }

    async fn run_conversation(bridge: &Bridge, model: &str) -> Vec<String> {
        let mut agent = agent(bridge, &openai(&format!("{model}/v1")));
        let mut answers = Vec::new();
        for question in CONVERSATION {
            agent.query(question.question).await.unwrap();
            answers.push(last(&agent).await);
        }
        answers
    }

    fn import_tools(bridge: &Bridge) -> Option<Vec<Tool>> {
        let tools = tools(bridge).unwrap().into_iter();
        Some(tools.map(|tool| from_swiftide(tool, ()).unwrap()).collect())
    }
}

conformance::suite!(Swiftide);

fn to_call_outcome(output: Result<ToolOutput, String>) -> CallOutcome {
    let words = |value: &Value| value.as_str().unwrap().to_owned();
    let (text, retry) = match &output {
        Ok(ToolOutput::Text(text) | ToolOutput::Fail(text)) => (text.clone(), false),
        Ok(ToolOutput::Stop(Some(value)) | ToolOutput::AgentFailed(Some(value))) => {
            (words(value), false)
        }
        Ok(ToolOutput::FeedbackRequired(_)) => (String::new(), false),
        Err(error) => (error.clone(), true),
        Ok(other) => panic!("{other:?}"),
    };
    let is = |test: fn(&ToolOutput) -> bool| output.as_ref().is_ok_and(test);
    CallOutcome {
        text,
        failed: Some(retry || is(ToolOutput::is_fail) || is(ToolOutput::is_agent_failed)),
        retry: Some(retry),
        ends_run: is(ToolOutput::is_agent_failed),
        asks_person: is(ToolOutput::is_feedback_required),
        returns_directly: is(ToolOutput::is_stop),
        ..CallOutcome::default()
    }
}

fn called(name: &str, arguments: &str) -> ToolCall {
    let call = ToolCall::builder().id("call_1").name(name).args(arguments).build();
    call.unwrap()
}

fn openai(address: &str) -> OpenAI {
    let config = OpenAIConfig::new().with_api_base(address).with_api_key("none");
    let openai =
        OpenAI::builder().client(Client::with_config(config)).default_prompt_model("gpt-5").build();
    openai.unwrap()
}

fn agent(bridge: &Bridge, model: &(impl ChatCompletion + Clone + 'static)) -> Agent {
    let agent = Agent::builder()
        .llm(model)
        .no_system_prompt()
        .limit(20)
        .without_default_stop_tool()
        .tools(tools(bridge).unwrap())
        .build();
    agent.unwrap()
}

async fn last(agent: &Agent) -> String {
    match agent.history().await.unwrap().pop() {
        Some(ChatMessage::Assistant(Some(text), _)) => text,
        Some(ChatMessage::ToolOutput(_, output)) => output.to_string(),
        other => panic!("no answer: {other:?}"),
    }
}

/// A model that makes the scripted calls, step by step, and then answers that it is done.
#[derive(Clone)]
struct ScriptedModel(Arc<Mutex<Vec<Vec<ToolCall>>>>);

impl ScriptedModel {
    fn calling(name: &str, arguments: &str, times: usize) -> Self {
        Self::steps(vec![vec![called(name, arguments)]; times])
    }

    fn steps(mut steps: Vec<Vec<ToolCall>>) -> Self {
        steps.reverse();
        Self(Arc::new(Mutex::new(steps)))
    }
}

#[async_trait]
impl ChatCompletion for ScriptedModel {
    async fn complete(
        &self,
        _: &ChatCompletionRequest,
    ) -> Result<ChatCompletionResponse, LanguageModelError> {
        let calls = self.0.lock().unwrap().pop();
        let message = calls.is_none().then(|| "I am done.".to_owned());
        let response = ChatCompletionResponse::builder()
            .maybe_message(message)
            .maybe_tool_calls(calls)
            .build();
        Ok(response.unwrap())
    }
}

/// Erases a file.
#[tool(destructive)]
fn erase_file(path: String) -> String {
    format!("erased {path}")
}

/// Fails as its arguments demand.
#[tool(read_only)]
fn fail_as_told(fatal: bool, why: Option<String>) -> Result<String, ToolError> {
    let why = why.unwrap_or_else(|| "no reason".to_owned());
    match fatal {
        true => Err(ToolError::fatal(why)),
        false => Err(ToolError::retry(why)),
    }
}

/// Answers the person.
#[tool(read_only, return_direct)]
fn answer_person() -> String {
    "forty-two".to_owned()
}

/// Looks around.
#[tool(read_only)]
fn look() -> String {
    "nothing".to_owned()
}

fn bridge() -> Bridge {
    let registry = Registry::new();
    for tool in [erase_file::tool(), fail_as_told::tool(), answer_person::tool(), look::tool()] {
        registry.add(tool).unwrap();
    }
    Bridge::new(&Invoker::new(&registry).unwrap())
}

/// Runs an agent until it pauses, gives it feedback, and returns what became of its calls.
async fn decided(
    model: ScriptedModel,
    feedback: impl FnOnce(Value) -> ToolFeedback,
) -> Vec<String> {
    let mut agent = agent(&bridge(), &model);
    agent.query("Erase /a").await.unwrap();
    let (call, payload) = match agent.stop_reason() {
        Some(StopReason::FeedbackRequired { tool_call, payload }) => (tool_call, payload),
        other => panic!("it does not pause: {other:?}"),
    };
    let payload = payload.clone().unwrap();
    assert_eq!(payload["arguments"], json!({"path": "/a"}));
    let (context, feedback) = (agent.context(), feedback(payload));
    context.feedback_received(call, &feedback).await.unwrap();
    agent.run().await.unwrap();
    assert_eq!(last(&agent).await, "I am done.");
    let outputs = agent.history().await.unwrap().into_iter();
    let outputs = outputs.filter_map(|message| match message {
        ChatMessage::ToolOutput(_, output) => Some(output.to_string()),
        _ => None,
    });
    outputs.collect()
}

fn erase() -> ToolCall {
    called("erase_file", r#"{"path":"/a"}"#)
}

fn erasing() -> ScriptedModel {
    ScriptedModel::steps(vec![vec![erase()]])
}

fn denied(why: &str) -> String {
    format!("Tool call failed: the call was denied: {why}")
}

#[tokio::test]
async fn a_paused_call_runs_when_what_was_asked_comes_back_approved() {
    let approved = |asked| ToolFeedback::approved().with_payload(asked);
    assert_eq!(decided(erasing(), approved).await, ["erased /a"]);
    let look = called("look", "{}");
    let together = ScriptedModel::steps(vec![vec![look, erase()], vec![erase()]]);
    let alone = "it needs approval, so it has to be made alone, without calls beside it";
    let results = decided(together, approved).await;
    assert_eq!(results, ["nothing".to_owned(), denied(alone), "erased /a".to_owned()]);
}

#[tokio::test]
async fn a_paused_call_does_not_run_otherwise() {
    let refused = decided(erasing(), |_| ToolFeedback::refused()).await;
    assert_eq!(refused, [denied("the person said no")]);
    let because = |_| ToolFeedback::refused().with_payload("not that one".into());
    assert_eq!(decided(erasing(), because).await, [denied("not that one")]);
    let merely = decided(erasing(), |_| ToolFeedback::approved()).await;
    assert_eq!(merely, [denied("the feedback does not bring back what was asked")]);
    let forged = |mut asked: Value| {
        asked["grant"]["digest"] = "0000".into();
        ToolFeedback::approved().with_payload(asked)
    };
    assert_eq!(decided(erasing(), forged).await, [denied("the approval is not one of ours")]);
    // The empty context approves whatever it is asked.
    let tool = tools(bridge()).unwrap().remove(0);
    assert!(tool.invoke(&(), &erase()).await.unwrap().is_fail());
}

#[tokio::test]
async fn feedback_that_nobody_asked_for_is_not_left_behind() {
    let context = DefaultContext::default();
    let (call, feedback) = (called("look", "{}"), ToolFeedback::approved());
    context.feedback_received(&call, &feedback).await.unwrap();
    let look = tools(bridge()).unwrap().remove(3);
    assert_eq!(look.invoke(&context, &call).await.unwrap(), ToolOutput::text("nothing"));
    assert!(context.has_received_feedback(&call).await.is_none());
}

#[tokio::test]
async fn a_failure_to_retry_is_counted_by_the_agent() {
    let call = r#"{"fatal":false,"why":"say it otherwise"}"#;
    let mut patient = agent(&bridge(), &ScriptedModel::calling("fail_as_told", call, 3));
    patient.query("Fail thrice").await.unwrap();
    assert_eq!(last(&patient).await, "I am done.");
    let mut agent = agent(&bridge(), &ScriptedModel::calling("fail_as_told", call, 9));
    let error = agent.query("Fail for ever").await.unwrap_err();
    assert_eq!(error.to_string(), "say it otherwise");
    assert!(matches!(agent.stop_reason(), Some(StopReason::ToolCallsOverLimit(_))));
}

#[tokio::test]
async fn a_fatal_failure_and_an_answer_end_the_run() {
    let fatal = r#"{"fatal":true,"why":"it has burnt down"}"#;
    let mut failing = agent(&bridge(), &ScriptedModel::calling("fail_as_told", fatal, 9));
    failing.query("Fail").await.unwrap();
    let reason = StopReason::AgentFailed(Some("it has burnt down".into()));
    assert_eq!(failing.stop_reason(), Some(&reason));
    let mut answering = agent(&bridge(), &ScriptedModel::calling("answer_person", "{}", 9));
    answering.query("Answer").await.unwrap();
    let (_, answer) = answering.stop_reason().unwrap().as_requested_by_tool().unwrap();
    assert_eq!(answer, Some(&"forty-two".into()));
}

#[tokio::test]
async fn a_tool_of_swiftides_keeps_its_own_approval() {
    let invoker = |context: Arc<dyn AgentContext>| {
        let guarded = ApprovalRequired(tools(bridge()).unwrap().remove(2));
        let registry = Registry::new();
        registry.add(from_swiftide(guarded, context).unwrap()).unwrap();
        Invoker::new(&registry).unwrap()
    };
    let call = toolwright::ToolCall::new("answer_person", "{}");
    let denied = invoker(Arc::new(DefaultContext::default())).invoke(&call).await;
    assert_eq!(denied.outcome, Outcome::Denied, "{denied:?}");
    let approved = invoker(Arc::new(())).invoke(&call).await;
    assert_eq!(approved.text(), "forty-two");
}

/// Returns the body of the first request that the client for OpenAI makes.
async fn sent(bridge: &Bridge) -> Value {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut agent = agent(bridge, &openai(&format!("http://{address}/v1")));
    let asked = tokio::spawn(async move { agent.query("Anything").await });
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut request = Vec::new();
    let body = loop {
        stream.read_buf(&mut request).await.unwrap();
        let text = String::from_utf8_lossy(&request);
        let body = text.split_once("\r\n\r\n").map(|(_, body)| body);
        if let Some(Ok(body)) = body.map(serde_json::from_str) {
            break body;
        }
    };
    let answer = "HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n";
    stream.write_all(answer.as_bytes()).await.unwrap();
    asked.await.unwrap().expect_err("the server takes nothing");
    body
}

#[tokio::test]
async fn the_client_for_openai_is_always_strict_and_changes_what_is_not() {
    for dialect in [Dialect::OPENAI, Dialect::OPENAI_STRICT, Dialect::MCP] {
        let bridge = bridge().dialect(dialect);
        let body = sent(&bridge).await;
        let sent = body["tools"].as_array().unwrap();
        assert_eq!(sent.len(), 4, "{dialect}");
        for tool in sent {
            assert_eq!(tool["function"]["strict"], true, "{dialect}: {tool}");
        }
        for tool in tools(&bridge).unwrap() {
            let (name, schema) = (tool.name(), tool.tool_spec().parameters_schema.unwrap());
            let sent = sent.iter().find(|tool| tool["function"]["name"] == *name);
            let sent = &sent.unwrap()["function"]["parameters"];
            let changed = (dialect, &*name) == (Dialect::MCP, "fail_as_told");
            assert_eq!(sent != schema.as_value(), changed, "{dialect}: {name} {sent}");
        }
    }
}
