//! The people at the clients of a conversation.

use serde::{Deserialize, Serialize};

/// A person who is connected to a conversation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Participant {
    /// The name that others see.
    pub name: String,
    pub subject: String,
}
