//! The suite that every bridge runs, through rig's agent loop; and what only rig has.

use std::sync::{Arc, Mutex};

use conformance::{CONVERSATION, CallOutcome, Framework, ListedTool};
use futures::StreamExt as _;
use rig::AgentBuilder;
use rig::agent::{AgentHook, HookContext, MultiTurnStreamItem, OutcomeAction, OutcomeEvent};
use rig::completion::PromptError;
use rig::memory::InMemoryConversationMemory;
use rig::message::{MimeType as _, ToolResultContent};
use rig::providers::openai::OpenAIConfig;
use rig::tool::{ToolContext, ToolSet};
use toolwright::{Bridge, BridgeError, Tool, ToolCall};
use toolwright_rig::{CallerName, EndOnFatal, from_rig, tools};

use script::{ScriptedClient, call_delta, text_delta};

mod events;
mod only_rig;
mod script;

struct Rig;

impl Framework for Rig {
    const NAME: &'static str = "rig";
    const CALLER: Option<&'static str> = Some("a user of rig's");

    fn listed_tools(bridge: &Bridge) -> Result<Vec<ListedTool>, BridgeError> {
        let tools = ToolSet::from_dynamic_tools(tools(bridge)?);
        let shown = tools.tool_definitions().into_iter().map(|tool| ListedTool {
            name: tool.name.to_string(),
            description: tool.description,
            schema: tool.parameters,
            ..ListedTool::default()
        });
        Ok(shown.collect())
    }

    async fn call(bridge: &Bridge, call: ToolCall) -> Option<CallOutcome> {
        let script = ScriptedClient::new([vec![call_delta(0, &call)], vec![text_delta("done")]]);
        let seen = Seen::default();
        let agent = AgentBuilder::new(script.model()).dynamic_tools(tools(bridge).ok()?);
        let agent = agent.add_hook(seen.clone()).add_hook(EndOnFatal).build();
        let mut context = ToolContext::new();
        let caller = CallerName(Self::CALLER?.to_owned());
        context.insert(caller).ok()?;
        let run = agent.prompt("Go on.").max_turns(2).tool_context(context);
        let items: Vec<_> = run.stream().collect().await;
        // What no tool answered, rig has answered itself.
        let retry = seen.0.lock().ok()?.take()?;
        let mut heard = CallOutcome { retry: Some(retry), ..CallOutcome::default() };
        for item in items {
            match item {
                Ok(MultiTurnStreamItem::ToolResult { tool_result }) => {
                    heard.failed = Some(tool_result.is_error);
                    hear(&tool_result.content, &mut heard);
                }
                Ok(MultiTurnStreamItem::FinalResponse(answer)) => {
                    heard.returns_directly = answer.output() != "done";
                }
                Err(PromptError::Cancelled { reason, .. }) => {
                    (heard.text, heard.failed, heard.ends_run) = (reason, Some(true), true);
                }
                _ => {}
            }
        }
        Some(heard)
    }

    async fn run_conversation(bridge: &Bridge, model: &str) -> Vec<String> {
        let client = OpenAIConfig::new("no key").with_base_url(format!("{model}/v1"));
        let agent = AgentBuilder::new(client.client().chat("gpt-5"))
            .dynamic_tools(tools(bridge).unwrap_or_default())
            .memory(InMemoryConversationMemory::new())
            .conversation("talk")
            .default_max_turns(3)
            .build();
        let mut answers = Vec::new();
        for question in CONVERSATION {
            let answer = agent.prompt(question.question).await;
            answers.push(match answer {
                Ok(answer) => answer.output(),
                Err(error) => error.to_string(),
            });
        }
        answers
    }

    fn import_tools(bridge: &Bridge) -> Option<Vec<Tool>> {
        let tools = tools(bridge).ok()?.into_iter();
        tools.map(|tool| from_rig(tool).ok()).collect()
    }
}

fn hear(content: &[ToolResultContent], heard: &mut CallOutcome) {
    let mut texts = Vec::new();
    for block in content {
        match block {
            ToolResultContent::Text(text) => texts.push(text.text.clone()),
            ToolResultContent::Json { value } => {
                texts.push(value.to_string());
                heard.structured = Some(value.clone());
            }
            ToolResultContent::Image(image) => {
                let kind = image.media_type.as_ref().map(|kind| kind.to_mime_type());
                heard.media.push(kind.unwrap_or_default().to_owned());
            }
        }
    }
    heard.text = texts.join("\n");
}

/// Sees what rig knows of a result beside what the model reads: whether it may be tried again.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Option<bool>>>);

impl AgentHook for Seen {
    async fn on_outcome(&self, _: &HookContext, event: OutcomeEvent<'_>) -> OutcomeAction {
        if let Some(result) = event.tool_result()
            && let Ok(mut seen) = self.0.lock()
        {
            let error = result.error().or(result.refusal());
            *seen = Some(error.and_then(|error| error.retryable()) == Some(true));
        }
        OutcomeAction::proceed()
    }
}

conformance::suite!(Rig);
