//! A call in, the decision it has to wait for out.

use std::sync::Arc;

use toolwright_schema::Schema;

use crate::call::ToolCall;
use crate::call::context::{BlockingPermit, CallContext, CallScope, LazyCancellationToken};
use crate::invoker::approval::PendingCall;
use crate::invoker::{Invoker, arguments};
use crate::tool::ToolSpec;
use crate::tool::policy::Hints;

impl Invoker {
    /// Finds out whether somebody has to decide before a call runs, without running it.
    ///
    /// Nobody has to where the call would be refused in any case: running it says why.
    pub fn pending_call(&self, scope: &CallScope, call: &ToolCall) -> Option<PendingCall> {
        let snapshot = self.snapshot().ok()?;
        let entry = snapshot.find(call.name.as_str())?;
        if !entry.needs_approval() || !entry.is_visible_to(&scope.caller) {
            return None;
        }
        let (cancel, permit) = (LazyCancellationToken::default(), BlockingPermit::default());
        let cx = CallContext {
            call,
            invoker_context: &self.0.invoker_context,
            scope,
            encoders: &snapshot.encoders,
            cancel: &cancel,
            blocking_permit: &permit,
        };
        let (limits, coerce) = (&self.0.options.argument_limits, self.0.options.coerce);
        let text = call.arguments.as_str();
        let accepted = arguments::validate(entry, text, &cx, limits, coerce).ok()?;
        Some(PendingCall {
            call: call.clone(),
            tool: Arc::clone(&entry.spec),
            arguments: accepted.arguments,
            caller: scope.caller.clone(),
            fingerprint: entry.tool.fingerprint().into(),
            signer: Arc::clone(&self.0.signer),
        })
    }

    /// Makes a decision possible about a call that somebody else would run: a vendor's own tool.
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
        };
        let arguments = serde_json::from_str(call.arguments.as_str());
        PendingCall {
            tool: Arc::new(tool),
            arguments: arguments.unwrap_or_else(|_| call.arguments.as_str().into()),
            caller: scope.caller.clone(),
            fingerprint: call.name.as_str().into(),
            signer: Arc::clone(&self.0.signer),
            call,
        }
    }
}
