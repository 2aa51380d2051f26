//! What rmcp says went wrong in, what is told about it out.

use std::error::Error;

use rmcp::service::{ClientInitializeError, ServiceError};
use rmcp::transport::streamable_http_client::HttpStatusError;

use super::http::{Fault, WireError};
use crate::import::{chain, short};

/// Tells why no hands were shaken.
pub(super) fn handshake(error: &ClientInitializeError) -> String {
    match error {
        ClientInitializeError::ConnectionClosed(_) => "it closed the connection".to_owned(),
        ClientInitializeError::JsonRpcError(said) => {
            format!("it refused: {}", short(&said.message))
        }
        ClientInitializeError::TransportError { error, .. } => Lost::of(error.error.as_ref()).told,
        // Whatever the newer way failed with, the older one is the one that should have worked.
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => handshake(fallback),
        ClientInitializeError::ExpectedInitResponse(_)
        | ClientInitializeError::ExpectedInitResult(_)
        | ClientInitializeError::ConflictInitResponseId(..)
        | ClientInitializeError::UncorrelatedErrorResponse { .. } => {
            "it answered something else than it was asked".to_owned()
        }
        other => chain(other),
    }
}

/// Tells why a request was not answered.
pub(super) fn service(error: &ServiceError) -> String {
    match error {
        ServiceError::McpError(said) => format!("it refused: {}", short(&said.message)),
        ServiceError::TransportSend(error) => Lost::of(error.error.as_ref()).told,
        ServiceError::TransportClosed => "it closed the connection".to_owned(),
        ServiceError::UnexpectedResponse => {
            "it answered something else than it was asked".to_owned()
        }
        other => chain(other),
    }
}

/// What is known of a request that failed on its way.
pub(super) struct Lost {
    pub(super) told: String,
    /// Whether later requests would fail likewise.
    pub(super) is_broken: bool,
    pub(super) may_have_run: bool,
}

impl Lost {
    pub(super) fn of(error: &(dyn Error + 'static)) -> Self {
        let mut cause = Some(error);
        while let Some(error) = cause {
            if let Some(fault) = error.downcast_ref::<Fault>() {
                return Self::by(fault);
            }
            cause = error.source();
        }
        Self {
            told: chain(error),
            is_broken: true,
            may_have_run: true,
        }
    }

    fn by(fault: &Fault) -> Self {
        let mut lost = Self {
            told: chain(fault),
            is_broken: false,
            may_have_run: true,
        };
        match fault {
            Fault::Client(WireError::Http(http)) => {
                lost.told = chain(http);
                lost.is_broken = true;
                lost.may_have_run = !http.is_connect();
            }
            Fault::Client(other) => {
                lost.told = chain(other);
                lost.may_have_run = !matches!(other, WireError::Login(_));
            }
            // A server that asks who we are, or to come later, has not run anything.
            Fault::HttpStatus(HttpStatusError { status, .. }) => {
                lost.told = format!("HTTP status {status}");
                lost.may_have_run = !(400..500).contains(status);
            }
            Fault::AuthRequired(_) | Fault::InsufficientScope(_) => lost.may_have_run = false,
            _ => {}
        }
        lost
    }
}
