//! The settings of a chat that `chat` and `serve` share.

use std::time::Duration;

use toolwright_core::Config;

use crate::error::AppError;

const DEFAULT_SYSTEM_MESSAGE: &str = "You are a helpful assistant. Use the tools when they help to answer. \
    Say so when you do not know something or when a tool failed; never make up a result.";

/// How long a lease outlives a process that crashed; short, so that a restart can soon continue the conversation.
pub(crate) const LEASE_DURATION: Duration = Duration::from_secs(10);

/// The system message: the setting `system`, else the default.
pub(crate) fn system_message(config: &Config) -> Result<String, AppError> {
    Ok(config.get_or("system", DEFAULT_SYSTEM_MESSAGE.to_owned())?)
}
