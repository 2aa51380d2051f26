//! An invoker's tools in, swiftide's tool objects out.

use std::borrow::Cow;

use async_trait::async_trait;
use swiftide_core::AgentContext;
use swiftide_core::chat_completion::errors::ToolError;
use swiftide_core::chat_completion::{Tool, ToolCall, ToolOutput, ToolSpec};
use toolwright::schemars::Schema;
use toolwright::wire::Shape;
use toolwright::{Bridge, BridgeError, ExportedTool, ExportedTools};

use crate::{pause, result};

/// Offers an invoker's tools to swiftide, for `Agent::builder().tools(tools(&invoker)?)`.
///
/// # Errors
///
/// When the tools cannot be listed, one of them cannot be lowered to the dialect, or swiftide does not take its schema.
pub fn tools(bridge: impl Into<Bridge>) -> Result<Vec<Box<dyn Tool>>, BridgeError> {
    // A spec has no `strict`, but swiftide's client for OpenAI sets it for every tool: so all that can be strict is.
    let offer = bridge.into().export_as(Shape::OpenAiChat)?;
    let boxed = |tool| Ok(SwiftideToolAdapter::new(&offer, tool)?.boxed());
    offer.tools().iter().map(boxed).collect()
}

/// One of our tools as swiftide sees it.
#[derive(Clone)]
struct SwiftideToolAdapter {
    offer: ExportedTools,
    spec: ToolSpec,
    return_direct: bool,
}

impl SwiftideToolAdapter {
    /// Makes the spec once and for all: swiftide asks for it where nothing may fail.
    fn new(offer: &ExportedTools, tool: &ExportedTool) -> Result<Self, BridgeError> {
        let schema = Schema::try_from(tool.schema.clone())
            .map_err(|error| BridgeError::rejected(&tool.name, error))?;
        let spec = ToolSpec::builder()
            .name(&tool.name)
            .description(&tool.description)
            .parameters_schema(schema)
            .build()
            .map_err(|error| BridgeError::rejected(&tool.name, error))?;
        Ok(Self {
            offer: offer.clone(),
            spec,
            return_direct: tool.registered_tool.policy().return_direct,
        })
    }
}

#[async_trait]
impl Tool for SwiftideToolAdapter {
    async fn invoke(
        &self,
        context: &dyn AgentContext,
        call: &ToolCall,
    ) -> Result<ToolOutput, ToolError> {
        let ours = toolwright::ToolCall::new(call.name(), call.args().unwrap_or_default())
            .with_id(call.id());
        let (invoker, scope) = (self.offer.invoker(), self.offer.scope());
        // Taken in any case: feedback that is left behind keeps the agent running for ever.
        let feedback = context.has_received_feedback(call).await;
        let pending = match invoker.has_approver() {
            true => None,
            false => invoker.pending_call(&scope, &self.offer.lift(ours.clone())),
        };
        let result = match pending {
            None => self.offer.invoke(ours).await,
            Some(pending) => match pause::resume_with_feedback(context, feedback).await {
                None => return Ok(pause::to_feedback_request(&pending)),
                Some(answer) => {
                    let invoker = invoker.with_approver(answer);
                    invoker.invoke_in(&scope, &pending.call).await
                }
            },
        };
        result::to_tool_output(&result, self.return_direct)
    }

    fn name(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.spec.name)
    }

    fn tool_spec(&self) -> ToolSpec {
        self.spec.clone()
    }
}
