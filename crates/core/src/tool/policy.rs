//! What a definition can say about how its calls are treated.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::tool::definition::Metadata;

/// How calls of a tool are treated: what its author says, and what a view changes of it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Policy {
    /// Whether somebody has to be asked before a call runs.
    pub approval: ApprovalPolicy,
    /// Whether providers may hold the model to the schema.
    pub strict: StrictMode,
    /// What becomes of unknown arguments.
    pub unknown_arguments: UnknownArguments,
    /// What becomes of an error.
    pub errors: ErrorPolicy,
    /// What becomes of arguments that are not JSON.
    pub on_malformed: OnMalformed,
    /// Whether the result answers the person without another model step.
    pub return_direct: bool,
    /// How long a call may take; `None` leaves it to the invoker.
    pub timeout: Option<Duration>,
    /// How many calls may run at once.
    pub concurrency: usize,
    pub(crate) expand_result: bool,
    /// Whether it is a prompt, whose text is filled in unasked.
    pub(crate) is_prompt: bool,
    /// Whether other software defines and runs it.
    pub(crate) imported: bool,
    pub(crate) blocking: bool,
}

/// How many calls of one tool run at once, unless it says otherwise.
pub(crate) const DEFAULT_CONCURRENCY: usize = 64;

impl From<&Metadata> for Policy {
    fn from(meta: &Metadata) -> Self {
        Self {
            approval: meta.approval,
            strict: meta.strict,
            unknown_arguments: meta.extra,
            errors: meta.errors,
            on_malformed: meta.on_malformed,
            expand_result: meta.expand_result,
            is_prompt: meta.role.is_some(),
            imported: false,
            return_direct: meta.return_direct,
            blocking: meta.blocking,
            timeout: meta.timeout,
            concurrency: meta.concurrency.unwrap_or(DEFAULT_CONCURRENCY),
        }
    }
}

/// What a tool's author declares about its effects; published only where declared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Hints {
    /// It changes nothing.
    #[serde(
        rename = "readOnlyHint",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub read_only: Option<bool>,
    /// It may destroy something; approval is asked unless the tool says otherwise.
    #[serde(
        rename = "destructiveHint",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub destructive: Option<bool>,
    /// Calling it twice is the same as calling it once.
    #[serde(
        rename = "idempotentHint",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub idempotent: Option<bool>,
    /// It reaches beyond this system.
    #[serde(
        rename = "openWorldHint",
        default,
        skip_serializing_if = "Option::is_none"
    )]
    pub open_world: Option<bool>,
}

impl Hints {
    /// Tells whether running it twice does no more than running it once.
    pub fn is_repeatable(&self) -> bool {
        self.read_only == Some(true) || self.idempotent == Some(true)
    }

    pub(crate) const NONE: Self = Self {
        read_only: None,
        destructive: None,
        idempotent: None,
        open_world: None,
    };
}

/// Whether somebody has to be asked before a call runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ApprovalPolicy {
    /// Asked when the tool is declared destructive.
    #[default]
    Auto,
    /// Always asked.
    Always,
    /// Never asked.
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

/// Whether providers may hold the model to the schema while it writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum StrictMode {
    /// Where the schema loses nothing by it.
    #[default]
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

/// What becomes of an argument that no parameter has the name of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum UnknownArguments {
    /// The call is refused, because a dropped `dry_run` must never become a real run.
    #[default]
    Refuse,
    /// It is left out, with a note.
    Ignore,
}

/// What becomes of a failed tool's error: told to the model, or the end of the turn.
///
/// It is set for one tool (`#[tool(errors = generic)]`), for a registry's tools
/// ([`View::adjust`](crate::View::adjust), or `errors` in the settings), or for a chat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorPolicy {
    /// The model reads the error's own message, after redaction, and goes on.
    #[default]
    Message,
    /// The model reads only that the tool failed, and goes on.
    Generic,
    /// The turn ends.
    End,
}

/// What becomes of arguments that are not JSON and cannot be repaired.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnMalformed {
    /// The model is told where they break, and tries again.
    #[default]
    Retry,
    /// The turn ends.
    Error,
}
