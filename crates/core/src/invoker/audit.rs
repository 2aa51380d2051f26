//! One record per call, however it ended.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant, SystemTime};

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::call::context::{CallScope, SessionId};
use crate::call::result::{Outcome, ToolResult};
use crate::call::{CallId, ToolCall, ToolName};
use crate::tool::encode_hex;

/// Somebody who keeps a record of every call.
///
/// Any function that takes an [`AuditRecord`] is one.
pub trait AuditSink: Send + Sync {
    /// Takes one record; called on whatever thread the call ended on.
    fn record(&self, record: AuditRecord);
}

impl<F: Fn(AuditRecord) + Send + Sync> AuditSink for F {
    fn record(&self, record: AuditRecord) {
        self(record);
    }
}

/// What is kept of one call: who called what, when, and how it ended; never what was said.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct AuditRecord {
    /// When it began.
    pub at: SystemTime,
    /// The call's id.
    pub call: CallId,
    /// The tool's name as the model sent it.
    pub tool: ToolName,
    /// On whose behalf; `None` for an anonymous caller.
    pub caller: Option<String>,
    /// In which session, if any.
    pub session: Option<SessionId>,
    /// The SHA-256 of the argument text, which tells equal calls without telling what they were.
    pub arguments: String,
    /// How it ended; `cancelled` also when nobody waited for its end.
    pub outcome: Outcome,
    /// How long it took.
    pub elapsed: Duration,
}

/// A call that is being watched; dropped without an end, it was cancelled.
pub(crate) struct AuditGuard<'a> {
    audit: &'a dyn AuditSink,
    call: &'a ToolCall,
    scope: &'a CallScope,
    at: SystemTime,
    started_at: Instant,
    outcome: Outcome,
}

impl<'a> AuditGuard<'a> {
    pub(crate) fn new(audit: &'a dyn AuditSink, call: &'a ToolCall, scope: &'a CallScope) -> Self {
        Self {
            audit,
            call,
            scope,
            at: SystemTime::now(),
            started_at: Instant::now(),
            outcome: Outcome::Cancelled,
        }
    }

    pub(crate) fn finish(mut self, result: &ToolResult) {
        self.outcome = result.outcome;
    }
}

impl Drop for AuditGuard<'_> {
    fn drop(&mut self) {
        let record = AuditRecord {
            at: self.at,
            call: self.call.id.clone(),
            tool: self.call.name.clone(),
            caller: self.scope.caller.name().map(str::to_owned),
            session: self.scope.session.clone(),
            arguments: encode_hex(&Sha256::digest(self.call.arguments.as_str())),
            outcome: self.outcome,
            elapsed: self.started_at.elapsed(),
        };
        // A call may end while another panic unwinds: a second one would end the process.
        let recorded = catch_unwind(AssertUnwindSafe(|| self.audit.record(record)));
        if recorded.is_err() {
            tracing::error!(call = self.call.id.as_str(), "a call could not be recorded");
        }
    }
}
