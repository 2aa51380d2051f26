//! Takes the place of `elicitation` without the feature `mcp-client`: only attached servers ask questions.

use std::sync::Arc;

use crate::terminal::input::LineReader;

/// Answers no question.
#[derive(Default)]
pub(crate) struct TerminalElicitor;

impl TerminalElicitor {
    pub(crate) fn set_reader(&self, _: Arc<dyn LineReader>) {}
}
