//! The result of lowering one tool to each dialect.

use serde::Serialize;
use toolwright_core::schema::{Dialect, Loss, Rejection, Severity, validate_for};

use super::tool_sources::ToolToCheck;

/// A tool and its result in each dialect.
pub(super) struct CheckedTool<'f> {
    pub(super) tool: ToolToCheck<'f>,
    pub(super) dialect_results: Vec<DialectResult<'f>>,
}

/// The result of lowering one tool to one dialect.
#[derive(Serialize)]
pub(super) struct DialectResult<'f> {
    #[serde(skip)]
    pub(super) dialect: Dialect,
    pub(super) verdict: LoweringVerdict,
    pub(super) losses: &'f [Loss],
    /// The error, if the verdict is impossible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    /// Violations of the provider's rules in the lowered schema; any is a bug of the lowering.
    pub(super) refused: Vec<Rejection>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum LoweringVerdict {
    Lossless,
    Lossy,
    Impossible,
}

impl<'f> CheckedTool<'f> {
    pub(super) fn new(tool: ToolToCheck<'f>, dialects: &[Dialect]) -> Self {
        let dialect_results =
            dialects.iter().map(|dialect| DialectResult::new(&tool, *dialect)).collect();
        Self { tool, dialect_results }
    }
}

impl<'f> DialectResult<'f> {
    fn new(tool: &ToolToCheck<'f>, dialect: Dialect) -> Self {
        match tool.candidate.input.lower(dialect) {
            Ok(lowered) => Self {
                dialect,
                verdict: if lowered.is_lossless() {
                    LoweringVerdict::Lossless
                } else {
                    LoweringVerdict::Lossy
                },
                losses: lowered.losses(),
                reason: None,
                refused: validate_for(dialect, lowered.schema()),
            },
            Err(impossible) => Self {
                dialect,
                verdict: LoweringVerdict::Impossible,
                losses: &[],
                reason: Some(impossible.to_string()),
                refused: Vec::new(),
            },
        }
    }

    pub(super) fn is_lossy(&self) -> bool {
        self.verdict == LoweringVerdict::Lossy
    }

    pub(super) fn is_impossible(&self) -> bool {
        self.verdict == LoweringVerdict::Impossible
    }

    /// The losses that change which arguments are valid.
    pub(super) fn significant_losses(&self) -> impl Iterator<Item = &Loss> {
        self.losses.iter().filter(|loss| loss.severity != Severity::Note)
    }

    /// The cell in the table.
    pub(super) fn label(&self) -> String {
        match self.verdict {
            LoweringVerdict::Lossless => "ok".to_owned(),
            LoweringVerdict::Lossy => format!("lossy {}", self.significant_losses().count()),
            LoweringVerdict::Impossible => "impossible".to_owned(),
        }
    }
}
