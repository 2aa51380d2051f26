//! One tool and the dialects in, a verdict for each out.

use serde::Serialize;
use toolwright_core::schema::{Dialect, Loss, Rejection, Severity, validate_for};

use super::found::Tool;

/// A tool and what each dialect makes of it.
pub(super) struct Checked<'f> {
    pub(super) tool: Tool<'f>,
    pub(super) verdicts: Vec<Verdict<'f>>,
}

/// What one dialect makes of one tool.
#[derive(Serialize)]
pub(super) struct Verdict<'f> {
    #[serde(skip)]
    pub(super) dialect: Dialect,
    pub(super) verdict: Outcome,
    pub(super) losses: &'f [Loss],
    /// Why it is impossible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    /// What the provider would still refuse; anything here is a mistake of the lowering.
    pub(super) refused: Vec<Rejection>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Outcome {
    Lossless,
    Lossy,
    Impossible,
}

impl<'f> Checked<'f> {
    pub(super) fn new(tool: Tool<'f>, dialects: &[Dialect]) -> Self {
        let verdicts = dialects
            .iter()
            .map(|dialect| Verdict::new(&tool, *dialect))
            .collect();
        Self { tool, verdicts }
    }
}

impl<'f> Verdict<'f> {
    fn new(tool: &Tool<'f>, dialect: Dialect) -> Self {
        match tool.candidate.input.lower(dialect) {
            Ok(lowered) => Self {
                dialect,
                verdict: if lowered.is_lossless() {
                    Outcome::Lossless
                } else {
                    Outcome::Lossy
                },
                losses: lowered.losses(),
                reason: None,
                refused: validate_for(dialect, lowered.schema()),
            },
            Err(impossible) => Self {
                dialect,
                verdict: Outcome::Impossible,
                losses: &[],
                reason: Some(impossible.to_string()),
                refused: Vec::new(),
            },
        }
    }

    pub(super) fn is_lossy(&self) -> bool {
        self.verdict == Outcome::Lossy
    }

    pub(super) fn is_impossible(&self) -> bool {
        self.verdict == Outcome::Impossible
    }

    /// What changed the arguments a model may send.
    pub(super) fn real_losses(&self) -> impl Iterator<Item = &Loss> {
        self.losses
            .iter()
            .filter(|loss| loss.severity != Severity::Note)
    }

    /// The verdict in a word or two.
    pub(super) fn short(&self) -> String {
        match self.verdict {
            Outcome::Lossless => "ok".to_owned(),
            Outcome::Lossy => format!("lossy {}", self.real_losses().count()),
            Outcome::Impossible => "impossible".to_owned(),
        }
    }
}
