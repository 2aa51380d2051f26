//! Error messages of failed turns, with advice.

use toolwright_chat::{ChatError, ModelErrorKind, TurnEnd};
use toolwright_core::schema::redact;
use toolwright_server::error_kind;

use crate::cli::cli_error::error_chain;
use crate::cli::terminal::sanitize::sanitize;

/// The page that explains each kind of error of a model.
const ERRORS_PAGE: &str = "docs/reference/errors.md";

/// The error message with secrets redacted, and on a second line what the user can do; of a model also where to read more.
pub(crate) fn describe_error(error: &ChatError) -> String {
    let message = sanitize(&redact(&error_chain(error))).into_owned();
    let advice = match error {
        ChatError::Model(model) => {
            let advice = match (model.kind, model.retry_after) {
                (ModelErrorKind::RateLimit, Some(wait)) => {
                    format!("ask again in {} seconds", wait.as_secs().max(1))
                }
                (kind, _) => advice(kind).to_owned(),
            };
            format!("{advice} ({ERRORS_PAGE}#{})", error_kind(error))
        }
        ChatError::Ended { response, .. }
            if matches!(response.end(), Some(TurnEnd::Limit { .. })) =>
        {
            "ask for less at once, or raise the limit: --max-calls, or [turn] in the settings"
                .to_owned()
        }
        ChatError::Tools(_) => "`check` tells what is wrong with the tools".to_owned(),
        _ => return message,
    };
    format!("{message}\n  {advice}")
}

fn advice(kind: ModelErrorKind) -> &'static str {
    match kind {
        ModelErrorKind::Auth => "check the key, or choose another model with --model or /model",
        ModelErrorKind::RateLimit => "wait a little, then ask again",
        ModelErrorKind::Quota => {
            "check the plan and the billing of your account with the vendor, or choose another model with --model or /model"
        }
        ModelErrorKind::Overloaded => "ask again later, or choose another model",
        ModelErrorKind::BadRequest => {
            "check the model's name; `check` tells whether the vendor takes the tools"
        }
        ModelErrorKind::ContextTooLong => "begin a new conversation: /clear",
        ModelErrorKind::ContentFilter => "ask in other words",
        ModelErrorKind::Network => "is the network there, and the address right? Then ask again",
        ModelErrorKind::Timeout => "ask again, or choose another model",
        ModelErrorKind::Forbidden => "choose another model with --model or /model",
        _ => "ask again; if it stays so, choose another model",
    }
}

#[cfg(test)]
mod tests {
    use toolwright_chat::ModelError;

    use super::*;

    #[test]
    fn an_exhausted_quota_does_not_advise_to_ask_again() {
        let error = ModelError::new(ModelErrorKind::Quota, "you exceeded your current quota");
        let message = describe_error(&ChatError::Model(error));
        assert!(message.contains("billing") && !message.contains("again"), "{message}");
    }
}
