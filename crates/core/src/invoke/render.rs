//! A prompt's name and arguments in, the text of one message out.
//!
//! A prompt goes the way of a call, layers included, except that nobody has to approve of it and no
//! record is kept: a person has picked it.

use super::{ANONYMOUS, Invoker, find};
use crate::call::{Arguments, ToolCall, ToolName};
use crate::context::{CallContext, CancelSlot, PermitSlot, Scope};
use crate::error::{RegistryError, ToolError};
use crate::prompt::{Prompt, Rendered};
use crate::result::ToolResult;

impl Invoker {
    /// Fills in a prompt on behalf of an anonymous caller.
    ///
    /// # Errors
    ///
    /// The result that a call would have had: there is no such prompt, its arguments are not valid,
    /// or it failed.
    pub async fn render(
        &self,
        name: impl Into<ToolName>,
        arguments: impl Into<Arguments>,
    ) -> Result<Rendered, ToolResult> {
        self.render_in(&ANONYMOUS, name, arguments).await
    }

    /// Fills in a prompt on behalf of the scope's caller.
    ///
    /// # Errors
    ///
    /// As [`render`](Invoker::render).
    pub async fn render_in(
        &self,
        scope: &Scope,
        name: impl Into<ToolName>,
        arguments: impl Into<Arguments>,
    ) -> Result<Rendered, ToolResult> {
        let call = ToolCall::new(name, arguments);
        self.rendered(scope, &call)
            .await
            .map_err(|failure| ToolResult {
                call: call.id,
                tool: call.name,
                ..failure
            })
    }

    /// Returns the prompts that the scope's caller may see.
    ///
    /// # Errors
    ///
    /// As [`snapshot`](Invoker::snapshot).
    pub fn list_prompts(&self, scope: &Scope) -> Result<Vec<Prompt>, RegistryError> {
        let snapshot = self.snapshot()?;
        let shown = snapshot
            .prompts()
            .filter(|prompt| prompt.entry.shows_to(&scope.caller));
        Ok(shown.cloned().collect())
    }

    async fn rendered(&self, scope: &Scope, call: &ToolCall) -> Result<Rendered, ToolResult> {
        let snapshot = self.snapshot().map_err(ToolError::from)?;
        let (prompt, note) = find::find(&snapshot.prompts, call.name.as_str(), &scope.caller)?;
        let (cancel, permit) = (CancelSlot::default(), PermitSlot::default());
        let cx = CallContext {
            call,
            setup: &self.0.setup,
            scope,
            encoders: &snapshot.encoders,
            cancel: &cancel,
            permit: &permit,
        };
        let result = Box::pin(self.layered(&prompt.entry, &cx)).await;
        if result.is_error() {
            return Err(result);
        }
        Ok(Rendered {
            role: prompt.role(),
            text: result.text().into_owned(),
            content: result.content,
            notes: note.into_iter().chain(result.notes).collect(),
        })
    }
}
