//! The user's response to an elicitation, in both directions.

use serde_json::Value;

/// The user's response to an elicitation.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ElicitResponse {
    /// The user accepted, with the content of the form. As a client, missing fields get the defaults of the form.
    Accept(Value),
    /// The user declined.
    Decline,
    /// The user dismissed the form without a decision.
    Cancel,
}
