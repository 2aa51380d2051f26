//! Wraps exported tools as adk tools, and runs adk's calls of them.

use std::pin::pin;
use std::sync::Arc;

use adk_core::{Tool, ToolContext};
use async_trait::async_trait;
use futures::StreamExt as _;
use futures::channel::mpsc;
use futures::future::{Either, select};
use serde_json::Value;
use toolwright::{
    Bridge, BridgeError, CallContext, CallEvent, Caller, ExportedTool, ExportedTools, Param,
    ToolCall, ToolError,
};

use crate::result;

/// Makes an invoker's tools those of adk.
///
/// # Errors
///
/// When the tools cannot be listed, or one of them cannot be offered.
pub fn tools(bridge: impl Into<Bridge>) -> Result<Vec<Arc<dyn Tool>>, BridgeError> {
    let offer = bridge.into().export()?;
    let wrap = |tool: &ExportedTool| match tool.name.as_str() {
        name @ "transfer_to_agent" => Err(BridgeError::rejected(name, "adk has its own")),
        _ => Ok(Arc::new(AdkToolAdapter(tool.clone(), offer.clone())) as Arc<dyn Tool>),
    };
    offer.tools().iter().map(wrap).collect()
}

struct AdkToolAdapter(ExportedTool, ExportedTools);

#[async_trait]
impl Tool for AdkToolAdapter {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn description(&self) -> &str {
        &self.0.description
    }

    fn parameters_schema(&self) -> Option<Value> {
        Some(self.0.schema.clone())
    }

    fn response_schema(&self) -> Option<Value> {
        Some(self.0.registered_tool.spec().output.as_ref()?.as_value().clone())
    }

    fn is_read_only(&self) -> bool {
        self.0.registered_tool.spec().hints.read_only == Some(true)
    }

    fn is_concurrency_safe(&self) -> bool {
        self.0.registered_tool.policy().concurrency > 1
    }

    async fn execute(&self, cx: Arc<dyn ToolContext>, args: Value) -> adk_core::Result<Value> {
        let Self(tool, offer) = self;
        let (sender, mut progress) = mpsc::unbounded();
        let scope = offer.scope().caller(Caller::new(cx.user_id())).session(cx.session_id());
        let scope = scope.extension(Arc::new(AdkContext(Arc::clone(&cx))));
        let scope = scope.on_event(move |event| {
            if let CallEvent::Progress { message, .. } = event {
                // The receiver is dropped when the call has ended.
                let _ = message.map(|words| sender.unbounded_send(words));
            }
        });
        let call = ToolCall::new(self.name(), args).with_id(cx.function_call_id());
        let mut running = pin!(offer.invoke_in(&scope, call));
        let result = loop {
            match select(&mut running, progress.select_next_some()).await {
                Either::Left((result, _)) => break result,
                Either::Right((words, _)) => cx.emit_progress("progress", &words).await,
            }
        };
        while let Ok(words) = progress.try_recv() {
            cx.emit_progress("progress", &words).await;
        }
        result::to_adk_response(&result, &tool.registered_tool, &*cx)
    }
}

/// adk's context of a call: its session, memory, artifacts, secrets, actions.
///
/// As a parameter of a tool it is filled in where the call comes out of an adk run; the model never sees it.
#[derive(Clone)]
pub struct AdkContext(pub Arc<dyn ToolContext>);

impl Param for AdkContext {
    fn from_call(cx: &CallContext<'_>) -> Result<Self, ToolError> {
        let brought = cx.extension::<Self>().as_deref().cloned();
        brought.ok_or_else(|| ToolError::fatal("it needs adk's context: call it from an adk agent"))
    }
}
