//! Renders a prompt: its name and arguments become one message.
//!
//! A prompt runs like a call, layers included, except that it needs no approval and has no audit record: a
//! person has picked it.

use super::{ANONYMOUS_SCOPE, Invoker, resolve};
use crate::call::context::{CallScope, RunState};
use crate::call::result::ToolResult;
use crate::call::{Arguments, ToolCall, ToolName};
use crate::error::{RegistryError, ToolError};
use crate::tool::prompt::{Prompt, RenderedPrompt};

impl Invoker {
    /// Renders a prompt for an anonymous caller.
    ///
    /// # Errors
    ///
    /// When there is no such prompt, its arguments are not valid, or it fails: the result that a call would have.
    pub async fn render_prompt(
        &self,
        name: impl Into<ToolName>,
        arguments: impl Into<Arguments>,
    ) -> Result<RenderedPrompt, ToolResult> {
        self.render_prompt_in(&ANONYMOUS_SCOPE, name, arguments).await
    }

    /// Renders a prompt for the scope's caller.
    ///
    /// # Errors
    ///
    /// As [`render_prompt`](Invoker::render_prompt).
    pub async fn render_prompt_in(
        &self,
        scope: &CallScope,
        name: impl Into<ToolName>,
        arguments: impl Into<Arguments>,
    ) -> Result<RenderedPrompt, ToolResult> {
        let call = ToolCall::new(name, arguments);
        self.render_call(scope, &call).await.map_err(|failure| failure.for_call(call.id, call.name))
    }

    /// Returns the prompts that the scope's caller may see.
    ///
    /// # Errors
    ///
    /// As [`snapshot`](Invoker::snapshot).
    pub fn list_prompts(&self, scope: &CallScope) -> Result<Vec<Prompt>, RegistryError> {
        let snapshot = self.snapshot()?;
        let visible =
            snapshot.prompts().filter(|prompt| prompt.registered_tool.is_visible_to(&scope.caller));
        Ok(visible.cloned().collect())
    }

    async fn render_call(
        &self,
        scope: &CallScope,
        call: &ToolCall,
    ) -> Result<RenderedPrompt, ToolResult> {
        let snapshot = self.snapshot().map_err(ToolError::from)?;
        let (prompt, note) = resolve::resolve_name(&snapshot.prompts, call.name.as_str(), scope)?;
        let run = RunState::default();
        let cx = self.call_context(scope, call, &snapshot, &run);
        let result = Box::pin(self.run_outer_layers(&prompt.registered_tool, &cx)).await;
        if result.is_error() {
            return Err(result);
        }
        Ok(RenderedPrompt {
            role: prompt.role(),
            text: result.text().into_owned(),
            content: result.content,
            notes: note.into_iter().chain(result.notes).collect(),
        })
    }
}
