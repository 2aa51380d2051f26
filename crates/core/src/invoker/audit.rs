//! [`AuditSink`]: receives one record per call, however it ends.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant, SystemTime};

use data_encoding::HEXLOWER;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::call::context::{CallScope, SessionId};
use crate::call::result::{Outcome, ToolResult};
use crate::call::{CallId, ToolCall, ToolName};

/// Receives a record of every call.
///
/// Any function that takes an [`AuditRecord`] is one.
pub trait AuditSink: Send + Sync {
    /// Receives one record, on the thread that the call ended on.
    fn record(&self, record: AuditRecord);
}

impl<F: Fn(AuditRecord) + Send + Sync> AuditSink for F {
    fn record(&self, record: AuditRecord) {
        self(record);
    }
}

/// The metadata of one call; never its arguments or its result.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct AuditRecord {
    /// The start of the call.
    pub at: SystemTime,
    /// The call's id.
    pub call: CallId,
    /// The tool's name as the model sent it.
    pub tool: ToolName,
    /// The name of the caller; `None` for an anonymous one.
    pub caller: Option<String>,
    /// The session, if any.
    pub session: Option<SessionId>,
    /// The SHA-256 of the argument text, in hexadecimal: equal calls can be found without their content.
    pub arguments: String,
    /// How the call ended; `cancelled` also when its future was dropped.
    pub outcome: Outcome,
    /// The duration of the call.
    pub elapsed: Duration,
}

/// Records its call when it is dropped: as cancelled, unless [`finish`](Self::finish) was called.
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
            arguments: HEXLOWER.encode(&Sha256::digest(self.call.arguments.as_str())),
            outcome: self.outcome,
            elapsed: self.started_at.elapsed(),
        };
        // A call may end while a panic unwinds: a second panic would abort the process.
        let recorded = catch_unwind(AssertUnwindSafe(|| self.audit.record(record)));
        if recorded.is_err() {
            tracing::error!(call = self.call.id.as_str(), "a call could not be recorded");
        }
    }
}
