//! What rmcp says went wrong in, what is told about it out.

use std::error::Error;

use rmcp::service::{ClientInitializeError, ServiceError};
use rmcp::transport::streamable_http_client::HttpStatusError;

use crate::client::connection::http::{HttpTransportError, StreamableError};
use crate::import::{error_chain, excerpt};

/// Tells why no hands were shaken.
pub(crate) fn describe_handshake_error(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::ConnectionClosed(_) => "it closed the connection".to_owned(),
        ClientInitializeError::JsonRpcError(said) => {
            format!("it refused: {}", excerpt(&said.message))
        }
        ClientInitializeError::TransportError { error, .. } => {
            TransportFailure::from_error(error.error.as_ref()).message
        }
        // Whatever the newer way failed with, the older one is the one that should have worked.
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => {
            describe_handshake_error(fallback)
        }
        ClientInitializeError::ExpectedInitResponse(_)
        | ClientInitializeError::ExpectedInitResult(_)
        | ClientInitializeError::ConflictInitResponseId(..)
        | ClientInitializeError::UncorrelatedErrorResponse { .. } => {
            "it answered something else than it was asked".to_owned()
        }
        other => error_chain(other),
    }
}

/// Tells why a request was not answered.
pub(crate) fn describe_service_error(error: &ServiceError) -> String {
    match error {
        ServiceError::McpError(said) => format!("it refused: {}", excerpt(&said.message)),
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

/// What is known of a request that failed on its way.
pub(crate) struct TransportFailure {
    pub(crate) message: String,
    /// Whether later requests would fail likewise.
    pub(crate) is_broken: bool,
    pub(crate) may_have_run: bool,
}

impl TransportFailure {
    pub(crate) fn from_error(error: &(dyn Error + 'static)) -> Self {
        let mut cause = Some(error);
        while let Some(error) = cause {
            if let Some(fault) = error.downcast_ref::<StreamableError>() {
                return Self::from_http_error(fault);
            }
            cause = error.source();
        }
        Self {
            message: error_chain(error),
            is_broken: true,
            may_have_run: true,
        }
    }

    fn from_http_error(fault: &StreamableError) -> Self {
        let mut lost = Self {
            message: error_chain(fault),
            is_broken: false,
            may_have_run: true,
        };
        match fault {
            StreamableError::Client(HttpTransportError::Http(http)) => {
                lost.message = error_chain(http);
                lost.is_broken = true;
                lost.may_have_run = !http.is_connect();
            }
            StreamableError::Client(other) => {
                lost.message = error_chain(other);
                lost.may_have_run = !matches!(other, HttpTransportError::Authorization(_));
            }
            // A server that asks who we are, or to come later, has not run anything.
            StreamableError::HttpStatus(HttpStatusError { status, .. }) => {
                lost.message = format!("HTTP status {status}");
                lost.may_have_run = !(400..500).contains(status);
            }
            StreamableError::AuthRequired(_) | StreamableError::InsufficientScope(_) => {
                lost.may_have_run = false
            }
            _ => {}
        }
        lost
    }
}
