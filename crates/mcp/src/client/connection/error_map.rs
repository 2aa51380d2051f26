//! Errors of rmcp in, messages for users out.

use std::error::Error;

use rmcp::service::{ClientInitializeError, ServiceError};
use rmcp::transport::streamable_http_client::HttpStatusError;

use crate::client::connection::http::{HttpTransportError, StreamableError};
use crate::client::oauth::AuthorizationFailure;
use crate::client::setup::sent_secrets::SentSecrets;
use crate::import::{error_chain, excerpt};

/// Describes a failed handshake, without the secrets that the server may have quoted.
pub(crate) fn describe_handshake_error(
    error: &ClientInitializeError,
    secrets: &SentSecrets,
) -> String {
    match error {
        ClientInitializeError::ConnectionClosed(_) => "it closed the connection".to_owned(),
        ClientInitializeError::JsonRpcError(error) => {
            format!("it refused: {}", excerpt(&secrets.mask(&error.message)))
        }
        ClientInitializeError::TransportError { error, .. } => {
            secrets.mask(&TransportFailure::from_error(error.error.as_ref()).message)
        }
        // The error of `initialize` matters, not that of `server/discover` before it.
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => {
            describe_handshake_error(fallback, secrets)
        }
        ClientInitializeError::ExpectedInitResponse(_)
        | ClientInitializeError::ExpectedInitResult(_)
        | ClientInitializeError::ConflictInitResponseId(..)
        | ClientInitializeError::UncorrelatedErrorResponse { .. } => {
            "it answered something else than it was asked".to_owned()
        }
        other => secrets.mask(&error_chain(other)),
    }
}

/// Describes a failed request.
pub(crate) fn describe_service_error(error: &ServiceError) -> String {
    match error {
        ServiceError::McpError(error) => format!("it refused: {}", excerpt(&error.message)),
        ServiceError::TransportSend(error) => {
            TransportFailure::from_error(error.error.as_ref()).message
        }
        ServiceError::TransportClosed => "it closed the connection".to_owned(),
        ServiceError::UnexpectedResponse => {
            "it answered something else than it was asked".to_owned()
        }
        other => error_chain(other),
    }
}

/// A request that failed in the transport.
pub(crate) struct TransportFailure {
    pub(crate) message: String,
    /// Whether later requests would fail as well.
    pub(crate) is_broken: bool,
    pub(crate) may_have_run: bool,
    /// Whether a person has to log in first.
    pub(crate) needs_login: bool,
}

impl TransportFailure {
    pub(crate) fn from_error(error: &(dyn Error + 'static)) -> Self {
        let mut cause = Some(error);
        while let Some(error) = cause {
            if let Some(error) = error.downcast_ref::<StreamableError>() {
                return Self::from_http_error(error);
            }
            cause = error.source();
        }
        let message = error_chain(error);
        Self { message, is_broken: true, may_have_run: true, needs_login: false }
    }

    fn from_http_error(error: &StreamableError) -> Self {
        let (message, may_have_run) = (error_chain(error), true);
        let mut failure = Self { message, is_broken: false, may_have_run, needs_login: false };
        match error {
            StreamableError::Client(HttpTransportError::Http(http)) => {
                failure.message = error_chain(http);
                failure.is_broken = true;
                failure.may_have_run = !http.is_connect();
            }
            StreamableError::Client(other) => {
                failure.message = error_chain(other);
                failure.may_have_run = !matches!(other, HttpTransportError::Authorization(..));
                let login = AuthorizationFailure::is_login_required;
                failure.needs_login =
                    matches!(other, HttpTransportError::Authorization(reason) if login(reason));
            }
            // A request that was rejected with a client error has not run.
            StreamableError::HttpStatus(HttpStatusError { status, .. }) => {
                failure.message = format!("HTTP status {status}");
                failure.may_have_run = !(400..500).contains(status);
            }
            StreamableError::AuthRequired(_) | StreamableError::InsufficientScope(_) => {
                failure.may_have_run = false
            }
            _ => {}
        }
        failure
    }
}
