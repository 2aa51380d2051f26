//! Tools that append a line to a log: the record of side effects outside of the program.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use toolwright::{State, Tool, ToolError, tool};

use super::kill_points::{KillPoints, Stage};

/// The log of side effects.
#[derive(Clone)]
pub(crate) struct SideEffects(Arc<(PathBuf, KillPoints)>);

impl SideEffects {
    pub(crate) fn new(log: &str, points: KillPoints) -> Self {
        Self(Arc::new((PathBuf::from(log), points)))
    }

    /// Appends a durable line.
    fn record_effect(&self, tool: &str, order: u32, euros: u32) -> Result<String, ToolError> {
        let (log, points) = &*self.0;
        points.reach(Stage::During, &format!("{tool} has done nothing yet"));
        let mut log = OpenOptions::new().create(true).append(true).open(log)?;
        log.write_all(format!("{tool} {order} {euros}\n").as_bytes())?;
        log.sync_all()?;
        points.reach(Stage::During, &format!("{tool} has done its work"));
        Ok(format!("{tool}: done"))
    }
}

/// Looks an order up, which changes nothing.
#[tool(read_only)]
fn look(order: u32, State(shop): State<SideEffects>) -> Result<String, ToolError> {
    shop.record_effect("look", order, 0)
}

/// Puts an order on its shelf, where it may be already.
#[tool(idempotent)]
fn put(order: u32, State(shop): State<SideEffects>) -> Result<String, ToolError> {
    shop.record_effect("put", order, 0)
}

/// Charges an order to a card; twice is once too often.
#[tool(approval = never)]
fn charge(order: u32, euros: u32, State(shop): State<SideEffects>) -> Result<String, ToolError> {
    shop.record_effect("charge", order, euros)
}

/// Refunds an order, after approval.
#[tool(destructive)]
fn refund(order: u32, euros: u32, State(shop): State<SideEffects>) -> Result<String, ToolError> {
    shop.record_effect("refund", order, euros)
}

pub(crate) fn all() -> Vec<Tool> {
    vec![look::tool(), put::tool(), charge::tool(), refund::tool()]
}
