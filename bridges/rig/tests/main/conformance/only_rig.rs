//! What the suite does not see: the wire, rig's words for failures, slots, dropped runs, typed tools.

use std::error::Error;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use rig::AgentBuilder;
use rig::completion::PromptError;
use rig::message::ToolResultContent;
use rig::tool::{ContextValue, DynamicTool, ToolContext, ToolErrorKind, ToolExecutionError};
use rig::tool::{ToolOutput, ToolSet};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use tokio::sync::Notify;
use toolwright::{
    Bridge, CallScope, Caller, Content, ErrorKind, Invoker, Outcome, Registry, SessionId, State,
    Tool, ToolCall, ToolError, ToolResult, tool,
};
use toolwright_rig::{CallerName, EndOnFatal, SessionName, from_rig, from_rig_tool, tools};

use super::script::{ScriptedClient, call_delta, text_delta};

/// An error with a message for the model and a cause that must not leak.
#[derive(Debug)]
struct Jammed(std::io::Error);

impl fmt::Display for Jammed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the safe is jammed")
    }
}

impl Error for Jammed {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}

/// Opens the safe.
#[tool(read_only)]
fn open_safe(code: u32) -> Result<String, ToolError> {
    let jammed = Jammed(std::io::Error::other("the code is 1234"));
    match code {
        0 => Err(ToolError::fatal(jammed)),
        1 => Err(ToolError::retry("another code")),
        _ => Err(jammed.into()),
    }
}

/// Returns the caller and the session.
#[tool(read_only)]
fn who_asks(caller: Caller, session: SessionId) -> String {
    format!("{} in {session}", caller.name().unwrap_or("nobody"))
}

/// Counts, in words.
#[tool(read_only)]
fn count_in_words() -> ToolResult {
    ToolResult::success("two").with_structured(json!(2))
}

#[derive(Clone, Default)]
struct CallProbe {
    entered: Arc<Notify>,
    left: Arc<Notify>,
}

struct NotifyOnDrop(Arc<Notify>);

impl Drop for NotifyOnDrop {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

/// Waits for ever.
#[tool(read_only)]
async fn wait_on_stage(State(stage): State<CallProbe>) -> String {
    let _leaving = NotifyOnDrop(Arc::clone(&stage.left));
    stage.entered.notify_one();
    std::future::pending().await
}

fn bridge(stage: CallProbe) -> Result<Bridge, Box<dyn Error>> {
    let registry = Registry::new();
    for tool in [open_safe::tool(), who_asks::tool(), count_in_words::tool(), wait_on_stage::tool()]
    {
        registry.add(tool)?;
    }
    let invoker = Invoker::builder(registry).state(stage).build()?;
    Ok(Bridge::new(&invoker))
}

#[tokio::test]
async fn the_wire_carries_what_was_offered_and_what_came_of_it() {
    let bridge = bridge(CallProbe::default()).unwrap();
    let call = ToolCall::new("open_safe", r#"{"code": 2}"#);
    let script = ScriptedClient::new([vec![call_delta(0, &call)], vec![text_delta("a pity")]]);
    let agent = AgentBuilder::new(script.model()).dynamic_tools(tools(&bridge).unwrap());
    let run = agent.build().prompt("Open it.").max_turns(2).stream();
    assert!(run.map(|item| item.is_ok()).all(std::future::ready).await);

    let asked = script.asked();
    let offer = bridge.export().unwrap();
    for (sent, tool) in asked[0]["tools"].as_array().unwrap().iter().zip(offer.tools()) {
        assert_eq!(sent["function"]["name"], tool.name);
        assert_eq!(sent["function"]["description"], tool.description);
        assert_eq!(sent["function"]["parameters"], tool.schema);
        assert_eq!(sent["function"]["strict"], Value::Null);
    }
    let tool_message = asked[1]["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(tool_message["role"], "tool");
    assert_eq!(tool_message["content"], *offer.invoke(call).await.text());
}

#[tokio::test]
async fn hooks_learn_the_kind_of_a_failure_and_nobody_its_cause() {
    let tools = ToolSet::from_dynamic_tools(tools(bridge(CallProbe::default()).unwrap()).unwrap());
    let fail = async |arguments: Value| {
        let mut context = ToolContext::new();
        let result = tools.execute("open_safe", arguments.to_string(), &mut context).await;
        let error = result.error().unwrap().clone();
        assert!(error.source().is_none(), "{error}");
        assert!(!error.message().contains("1234"), "{error}");
        assert_eq!(error.model_feedback(), Some(error.message()));
        (error.kind(), error.code().unwrap().to_owned(), error.retryable())
    };
    let code = |code: u32| json!({ "code": code });
    let (other, invalid) = (ToolErrorKind::Other, ToolErrorKind::InvalidArgs);
    assert_eq!(fail(code(0)).await, (other, "fatal".to_owned(), Some(false)));
    assert_eq!(fail(code(1)).await, (other, "failed".to_owned(), Some(true)));
    assert_eq!(fail(code(2)).await, (other, "failed".to_owned(), Some(false)));
    let unfit = fail(json!({"code": "no"})).await;
    assert_eq!(unfit, (invalid, "invalid_arguments".to_owned(), Some(true)));
}

#[tokio::test]
async fn a_fatal_failure_ends_a_run_only_where_the_hook_is() {
    let bridge = bridge(CallProbe::default()).unwrap();
    let call = ToolCall::new("open_safe", r#"{"code": 0}"#);
    for ends in [true, false] {
        let script = ScriptedClient::new([vec![call_delta(0, &call)], vec![text_delta("a pity")]]);
        let agent = AgentBuilder::new(script.model()).dynamic_tools(tools(&bridge).unwrap());
        let agent = if ends { agent.add_hook(EndOnFatal) } else { agent };
        let mut run = agent.build().prompt("Open it.").max_turns(2).stream();
        let mut end = None;
        while let Some(item) = run.next().await {
            end = Some(item);
        }
        let stopped = matches!(end, Some(Err(PromptError::Cancelled { .. })));
        assert_eq!((stopped, script.asked().len()), (ends, if ends { 1 } else { 2 }));
    }
}

/// A foreign value in our slot.
#[derive(Serialize, Deserialize)]
struct Intruder(u32);

impl ContextValue for Intruder {
    const KEY: &'static str = CallerName::KEY;
}

#[tokio::test]
async fn slots_say_who_calls_and_are_never_guessed() {
    let scope = CallScope::new().caller(Caller::new("ada")).session("home");
    let bridge = bridge(CallProbe::default()).unwrap().scope(scope);
    let tools = ToolSet::from_dynamic_tools(tools(&bridge).unwrap());
    let mut context = ToolContext::new();
    let who = async |context: &mut ToolContext| {
        let result = tools.execute("who_asks", "{}".to_owned(), context).await;
        result.output().render()
    };
    assert_eq!(who(&mut context).await, "ada in home");
    context.insert(SessionName("away".to_owned())).unwrap();
    assert_eq!(who(&mut context).await, "ada in away");
    context.insert(CallerName("bob".to_owned())).unwrap();
    assert_eq!(who(&mut context).await, "bob in away");
    context.insert(Intruder(7)).unwrap();
    assert_eq!(who(&mut context).await, "the tool failed");
}

#[tokio::test]
async fn json_goes_as_json_only_where_the_model_reads_the_same() {
    let tools = ToolSet::from_dynamic_tools(tools(bridge(CallProbe::default()).unwrap()).unwrap());
    let mut context = ToolContext::new();
    let result = tools.execute("count_in_words", "{}".to_owned(), &mut context).await;
    assert_eq!(result.output().as_text(), Some("two"));
}

#[tokio::test]
async fn a_run_that_is_dropped_ends_its_call() {
    let stage = CallProbe::default();
    let script = ScriptedClient::new([vec![call_delta(0, &ToolCall::new("wait_on_stage", "{}"))]]);
    let tools = tools(bridge(stage.clone()).unwrap()).unwrap();
    let agent = AgentBuilder::new(script.model()).dynamic_tools(tools).build();
    {
        let run = agent.prompt("Wait.").max_turns(2).stream();
        tokio::select! {
            () = run.for_each(|_| std::future::ready(())) => panic!("it waits for ever"),
            () = stage.entered.notified() => {}
        }
    }
    let left = tokio::time::timeout(Duration::from_secs(300), stage.left.notified());
    left.await.unwrap();
    drop(agent);
}

/// A tool as users of rig's write them.
struct Greet;

#[derive(Deserialize)]
struct Greeting {
    name: String,
}

impl rig::tool::Tool for Greet {
    const NAME: &'static str = "greet";
    type Args = Greeting;
    type Output = Value;
    type Error = ToolExecutionError;

    fn description(&self) -> String {
        "Greets somebody.".to_owned()
    }

    fn parameters(&self) -> Value {
        json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]})
    }

    async fn call(&self, context: &mut ToolContext, args: Greeting) -> Result<Value, Self::Error> {
        match &*args.name {
            "" => Err(ToolExecutionError::invalid_args("nobody has no name")),
            "Eve" => Err(ToolExecutionError::refused("not her")),
            "Zeno" => Err(ToolExecutionError::timeout("he never arrives")),
            name => {
                let CallerName(from) = context.require()?;
                Ok(json!({"to": name, "from": from}))
            }
        }
    }
}

async fn invoke(tool: Tool, arguments: Value) -> Result<ToolResult, Box<dyn Error>> {
    let registry = Registry::new();
    let call = ToolCall::new(tool.name().clone(), arguments.to_string());
    registry.add(tool)?;
    let scope = CallScope::new().caller(Caller::new("ada"));
    Ok(Invoker::new(&registry)?.invoke_in(&scope, &call).await)
}

#[tokio::test]
async fn a_typed_tool_joins_a_registry() {
    let greet = async |name: &str| {
        let tool = from_rig_tool(Greet).unwrap();
        invoke(tool, json!({ "name": name })).await.unwrap()
    };
    let result = greet("Bob").await;
    assert_eq!(result.text(), r#"{"to":"Bob","from":"ada"}"#);
    for (name, outcome, kind, text) in [
        ("", Outcome::InvalidArguments, ErrorKind::Retry, "nobody has no name"),
        ("Eve", Outcome::Denied, ErrorKind::Failed, "not her"),
        ("Zeno", Outcome::TimedOut, ErrorKind::Retry, "he never arrives"),
    ] {
        let result = greet(name).await;
        assert_eq!((result.outcome, result.error), (outcome, Some(kind)), "{name}");
        assert_eq!(result.text(), text);
    }
    let unfit = invoke(from_rig_tool(Greet).unwrap(), json!({"nom": "Bob"}));
    assert_eq!(unfit.await.unwrap().outcome, Outcome::InvalidArguments);
}

#[tokio::test]
async fn pictures_come_back() {
    let name = rig::message::ToolName::new("draw").unwrap();
    let tool = DynamicTool::new(name, "Draws.", json!({"type": "object"}), |_| {
        let picture = ToolResultContent::image_raw(b"\x89PNG".to_vec(), None, None);
        let address = ToolResultContent::image_url("https://example.com/a.png", None, None);
        Box::pin(async move { ToolOutput::content(vec![picture, address]) })
    });
    let result = invoke(from_rig(tool).unwrap(), json!({})).await.unwrap();
    let picture = Content::image("application/octet-stream", b"\x89PNG");
    let address = Content::link("https://example.com/a.png", "a picture");
    assert_eq!(result.content, [picture, address]);
}
