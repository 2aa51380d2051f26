//! Makes a [`PendingCall`] of a call that needs approval, without running it.

use std::sync::Arc;

use toolwright_schema::Schema;

use crate::call::ToolCall;
use crate::call::context::{CallScope, RunState};
use crate::invoker::approval::PendingCall;
use crate::invoker::{Invoker, arguments};
use crate::tool::ToolSpec;
use crate::tool::approvers::Approvers;
use crate::tool::policy::Hints;

impl Invoker {
    /// Returns the pending call if a call needs approval before it runs.
    ///
    /// A call that would be rejected in any case needs none: running it returns the error.
    pub fn pending_call(&self, scope: &CallScope, call: &ToolCall) -> Option<PendingCall> {
        let snapshot = self.snapshot().ok()?;
        let tool = snapshot.find(call.name.as_str())?;
        let is_hidden = tool.policy().internal && !scope.is_child;
        if !tool.needs_approval() || is_hidden || !tool.is_visible_to(&scope.caller) {
            return None;
        }
        let run = RunState::default();
        let cx = self.call_context(scope, call, &snapshot, &run);
        let (limits, coerce) = (&self.0.options.argument_limits, self.0.options.coerce);
        // Keeps the value for the call, which runs after the decision.
        call.arguments.as_value();
        let validated = arguments::validate(tool, &call.arguments, &cx, limits, coerce).ok()?;
        Some(PendingCall {
            call: call.clone(),
            tool: Arc::clone(&tool.spec),
            arguments: validated.arguments,
            approvers: tool.approvers().clone(),
            caller: scope.caller.clone(),
            fingerprint: tool.tool.fingerprint().into(),
            signer: Arc::clone(&self.0.signer),
        })
    }

    /// Makes the pending call of a hosted tool, which the model's provider runs.
    pub fn pending_hosted_call(
        &self,
        scope: &CallScope,
        call: ToolCall,
        description: &str,
    ) -> PendingCall {
        let input = Schema::trusted(serde_json::json!({"type": "object"}));
        let tool = ToolSpec {
            name: call.name.clone(),
            title: None,
            icon: None,
            description: description.to_owned(),
            input,
            output: None,
            hints: Hints::default(),
            bundle: "".into(),
            tags: Vec::new(),
            questions: Vec::new(),
            custom_format: None,
        };
        let arguments = serde_json::from_str(call.arguments.as_str());
        PendingCall {
            tool: Arc::new(tool),
            arguments: arguments.unwrap_or_else(|_| call.arguments.as_str().into()),
            approvers: Approvers::default(),
            caller: scope.caller.clone(),
            fingerprint: call.name.as_str().into(),
            signer: Arc::clone(&self.0.signer),
            call,
        }
    }
}
