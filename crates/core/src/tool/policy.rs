//! [`Policy`]: approval, limits and error handling of a tool's calls.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::tool::approvers::Approvers;
use crate::tool::definition::Metadata;

/// Approval, limits and error handling of a tool's calls: set by its definition, changed by views and settings.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Policy {
    /// When a call needs approval.
    pub approval: ApprovalPolicy,
    /// Who may decide about a call that needs approval.
    pub approvers: Approvers,
    /// Whether providers may enforce the schema while the model generates arguments.
    pub strict: StrictMode,
    /// The handling of unknown arguments.
    pub unknown_arguments: UnknownArguments,
    /// The handling of errors.
    pub errors: ErrorPolicy,
    /// The handling of arguments that are not JSON.
    pub on_malformed: OnMalformed,
    /// Whether the result goes to the user directly, without another model step.
    pub return_direct: bool,
    /// Whether an interrupted call is run again from its beginning, with the recorded results of its child calls.
    pub replayable: bool,
    /// Whether only other tools call it, in the calls that they make: it is in no list, and a call of a model or a client does not find it.
    pub internal: bool,
    /// Whether requests to a model contain the tool even if the model searches for the others.
    pub pinned: bool,
    /// Who may call the tool in Anthropic's API: `direct` is the model, `code_execution_20260120` a program that it writes and the
    /// vendor runs. Without any, only the model may.
    pub allowed_callers: Vec<String>,
    /// The time limit of a call; `None` means the invoker's.
    pub timeout: Option<Duration>,
    /// The limit of concurrent calls.
    pub concurrency: usize,
    pub(crate) expand_result: bool,
    /// Whether it is a prompt, whose placeholders are always filled in.
    pub(crate) is_prompt: bool,
    /// Whether other software defines and runs it.
    pub(crate) imported: bool,
    pub(crate) blocking: bool,
}

/// The default limit of concurrent calls of one tool.
pub(crate) const DEFAULT_CONCURRENCY: usize = 64;

impl From<&Metadata> for Policy {
    fn from(meta: &Metadata) -> Self {
        Self {
            approval: meta.approval,
            // The macro has checked the text; an invalid one allows no approver.
            approvers: meta.approvers.map_or_else(Approvers::default, |text| {
                text.parse().unwrap_or_else(|_| Approvers::new([]))
            }),
            strict: meta.strict,
            unknown_arguments: meta.extra,
            errors: meta.errors,
            on_malformed: meta.on_malformed,
            expand_result: meta.expand_result,
            is_prompt: meta.role.is_some(),
            imported: false,
            return_direct: meta.return_direct,
            replayable: meta.replayable,
            internal: false,
            pinned: meta.pinned,
            allowed_callers: Vec::new(),
            blocking: meta.blocking,
            timeout: meta.timeout,
            concurrency: meta.concurrency.unwrap_or(DEFAULT_CONCURRENCY),
        }
    }
}

/// The declared effects of a tool; a hint that is `None` is not published.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Hints {
    /// It changes nothing.
    #[serde(rename = "readOnlyHint", default, skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// It may destroy something. Its calls need approval unless [`Policy::approval`] overrides that.
    #[serde(rename = "destructiveHint", default, skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    /// A second call with the same arguments has no further effect.
    #[serde(rename = "idempotentHint", default, skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    /// It reaches external systems.
    #[serde(rename = "openWorldHint", default, skip_serializing_if = "Option::is_none")]
    pub open_world: Option<bool>,
}

impl Hints {
    /// Returns true if a second call has no further effect: the tool is read-only or idempotent.
    pub fn is_repeatable(&self) -> bool {
        self.read_only == Some(true) || self.idempotent == Some(true)
    }

    pub(crate) const NONE: Self =
        Self { read_only: None, destructive: None, idempotent: None, open_world: None };
}

/// When a call needs approval before it runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ApprovalPolicy {
    /// If the tool is declared destructive.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

impl ApprovalPolicy {
    pub(crate) fn is_needed(self, hints: &Hints) -> bool {
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => hints.destructive == Some(true),
        }
    }
}

/// Whether providers may enforce the schema while the model generates arguments.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum StrictMode {
    /// If the schema can be expressed in strict mode without a loss.
    #[default]
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

/// The handling of an argument that is not a parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum UnknownArguments {
    /// The call is rejected, because a dropped `dry_run` must never become a real run.
    #[default]
    Refuse,
    /// The argument is dropped, with a note.
    Ignore,
}

/// The handling of a failed tool's error: the model reads it, or the turn ends.
///
/// It is set for one tool (`#[tool(errors = generic)]`), for a registry's tools
/// ([`View::map_policy`](crate::View::map_policy), or `errors` in the settings), or for a chat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorPolicy {
    /// The model reads the error's own message, after redaction, and continues.
    #[default]
    Message,
    /// The model reads only that the tool failed, and continues.
    Generic,
    /// The turn ends.
    End,
}

/// The handling of arguments that are not JSON and cannot be repaired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnMalformed {
    /// The model receives the position of the syntax error and tries again.
    #[default]
    Retry,
    /// The turn ends.
    Error,
}
