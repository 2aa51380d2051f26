//! A tool that needs approval: it refunds money.

use std::sync::Mutex;

use toolwright::{ToolError, tools};

/// The refunds so far.
#[derive(Debug, Default)]
pub struct RefundTotal {
    refunds: Mutex<Vec<String>>,
}

/// The bundle of tools that move money.
#[derive(Debug, Default)]
pub struct Refunds {
    till: RefundTotal,
}

#[tools]
impl Refunds {
    /// Refunds an order to the customer's card. This cannot be undone.
    #[tool(destructive, title = "Issue refund")]
    fn issue_refund(
        &self,
        /// The order's number, for example `A-1042`.
        order: String,
        /// How much to give back, in euros, for example `20`; greater than zero.
        amount: f64,
        /// Why, for the books.
        #[param(default = "customer request")]
        reason: String,
    ) -> Result<String, ToolError> {
        if amount <= 0.0 {
            return Err(ToolError::retry("the amount must be greater than zero"));
        }
        let mut refunds = self.till.refunds.lock().map_err(|_| "the till is jammed")?;
        if refunds.contains(&order) {
            return Err(ToolError::failed(format!("order {order} was refunded before")));
        }
        let receipt = format!("Refunded {amount:.2} EUR for order {order} ({reason})");
        refunds.push(order);
        Ok(receipt)
    }
}
