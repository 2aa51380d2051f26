//! A call in, the decision it has to wait for out.

use std::sync::Arc;

use toolwright_schema::Schema;

use super::{Invoker, arguments};
use crate::approve::Pending;
use crate::call::ToolCall;
use crate::context::{CallContext, CancelSlot, PermitSlot, Scope};
use crate::options::Hints;
use crate::tool::ToolSpec;

impl Invoker {
    /// Finds out whether somebody has to decide before a call runs, without running it.
    ///
    /// Nobody has to where the call would be refused in any case: running it says why.
    pub fn pending(&self, scope: &Scope, call: &ToolCall) -> Option<Pending> {
        let snapshot = self.snapshot().ok()?;
        let entry = snapshot.find(call.name.as_str())?;
        if !entry.needs_approval() || !entry.shows_to(&scope.caller) {
            return None;
        }
        let (cancel, permit) = (CancelSlot::default(), PermitSlot::default());
        let cx = CallContext {
            call,
            setup: &self.0.setup,
            scope,
            encoders: &snapshot.encoders,
            cancel: &cancel,
            permit: &permit,
        };
        let (limits, coerce) = (&self.0.terms.limits, self.0.terms.coerce);
        let text = call.arguments.as_str();
        let accepted = arguments::accept(entry, text, &cx, limits, coerce).ok()?;
        Some(Pending {
            call: call.clone(),
            tool: Arc::clone(&entry.spec),
            arguments: accepted.arguments,
            caller: scope.caller.clone(),
            fingerprint: entry.tool.fingerprint().into(),
            approvals: Arc::clone(&self.0.approvals),
        })
    }

    /// Makes a decision possible about a call that somebody else would run: a vendor's own tool.
    pub fn pending_elsewhere(&self, scope: &Scope, call: ToolCall, description: &str) -> Pending {
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
        Pending {
            tool: Arc::new(tool),
            arguments: arguments.unwrap_or_else(|_| call.arguments.as_str().into()),
            caller: scope.caller.clone(),
            fingerprint: call.name.as_str().into(),
            approvals: Arc::clone(&self.0.approvals),
            call,
        }
    }
}
