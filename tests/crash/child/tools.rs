//! Tools that leave a line in a log, which is the world: what is written there has happened.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;

use toolwright::{State, Tool, ToolError, tool};

use crate::points::{KillPoints, Stage};

/// Where the tools do their work.
#[derive(Clone)]
pub(crate) struct SideEffects(Arc<(PathBuf, KillPoints)>);

impl SideEffects {
    pub(crate) fn new(log: &str, points: KillPoints) -> Self {
        Self(Arc::new((PathBuf::from(log), points)))
    }

    /// Does something that stays done, whatever becomes of the program.
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

/// Gives the money of an order back, if somebody allows it.
#[tool(destructive)]
fn refund(order: u32, euros: u32, State(shop): State<SideEffects>) -> Result<String, ToolError> {
    shop.record_effect("refund", order, euros)
}

pub(crate) fn all() -> Vec<Tool> {
    vec![look::tool(), put::tool(), charge::tool(), refund::tool()]
}
