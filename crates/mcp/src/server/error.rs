//! JSON-RPC errors, and the errors of building and running a server.

use std::io;
use std::net::SocketAddr;

use serde_json::{Value, json};
#[cfg(feature = "http")]
use toolwright_auth::AuthBuildError;
use toolwright_core::{InvokerError, RegistryError};

use crate::server::{ClientCapability, Revision};

/// The protocol extension that defines tasks.
pub(crate) const TASKS_EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// The `WWW-Authenticate` header; over stdio alone there is none.
#[cfg(feature = "http")]
pub(crate) type Challenge = axum::http::HeaderValue;
#[cfg(not(feature = "http"))]
#[derive(Clone, Debug)]
pub(crate) enum Challenge {}

/// A JSON-RPC error.
#[derive(Clone, Debug)]
pub(crate) struct RpcError {
    pub(crate) code: i32,
    pub(crate) message: String,
    pub(crate) data: Option<Box<Value>>,
    /// The status over HTTP, in revisions where an error has one.
    pub(crate) status: u16,
    /// The `WWW-Authenticate` header over HTTP.
    pub(crate) challenge: Option<Challenge>,
    /// The `Retry-After` header over HTTP, in seconds.
    pub(crate) retry_after: Option<u64>,
}

impl RpcError {
    pub(crate) fn new(code: i32, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
            status: 200,
            challenge: None,
            retry_after: None,
        }
    }

    pub(crate) fn invalid_request(message: impl Into<String>) -> Self {
        Self::new(-32600, message).with_status(400)
    }

    pub(crate) fn id_in_use() -> Self {
        Self::invalid_request("another request with this id is under way")
    }

    pub(crate) fn invalid_params(message: impl Into<String>) -> Self {
        Self::new(-32602, message)
    }

    pub(crate) fn internal(message: impl Into<String>) -> Self {
        Self::new(-32603, message)
    }

    pub(crate) fn method_not_found(method: &str) -> Self {
        Self::new(-32601, format!("there is no method `{method}` here")).with_status(404)
    }

    /// Other nodes, or what they share, cannot be reached at this time.
    pub(crate) fn unavailable(message: impl Into<String>) -> Self {
        Self::new(-32603, message).with_status(503)
    }

    /// The principal has to wait before its next call.
    pub(crate) fn too_many_requests(message: impl Into<String>, retry_after: u64) -> Self {
        let mut error = Self::new(-32000, message).with_status(429);
        error.retry_after = Some(retry_after);
        error
    }

    pub(crate) fn too_many_sessions() -> Self {
        Self::unavailable("too many sessions at once: try again")
    }

    pub(crate) fn header_mismatch(message: impl Into<String>) -> Self {
        Self::new(-32020, message).with_status(400)
    }

    pub(crate) fn missing_capability(missing: &[ClientCapability]) -> Self {
        let needed: serde_json::Map<String, Value> = missing
            .iter()
            .map(|capability| match capability {
                ClientCapability::Tasks => {
                    ("extensions".to_owned(), json!({ TASKS_EXTENSION: {} }))
                }
                other => (other.as_str().to_owned(), json!({})),
            })
            .collect();
        let names: Vec<&str> = missing.iter().map(|capability| capability.as_str()).collect();
        let message = format!("the client has to support {}", names.join(" and "));
        Self::new(-32021, message)
            .with_status(400)
            .with_data(json!({ "requiredCapabilities": needed }))
    }

    pub(crate) fn unsupported_version(requested: &str) -> Self {
        let supported = [Revision::V2026_07_28.as_str()];
        let message = format!("revision `{requested}` is not spoken here without a handshake");
        Self::new(-32022, message)
            .with_status(400)
            .with_data(json!({ "supported": supported, "requested": requested }))
    }

    /// The token lacks a scope; the challenge leads clients to it.
    pub(crate) fn insufficient_scope(scope: &str, challenge: Option<Challenge>) -> Self {
        let message = format!("your token lacks the scope `{scope}`");
        let mut error = Self::new(-32600, message)
            .with_status(403)
            .with_data(json!({ "requiredScopes": [scope] }));
        error.challenge = challenge;
        error
    }

    pub(crate) fn with_status(mut self, status: u16) -> Self {
        self.status = status;
        self
    }

    pub(crate) fn with_data(mut self, data: Value) -> Self {
        self.data = Some(Box::new(data));
        self
    }
}

impl From<RegistryError> for RpcError {
    /// The reason is logged, not sent to the client.
    fn from(error: RegistryError) -> Self {
        tracing::error!(%error, "the tools cannot be listed");
        Self::internal("the tools cannot be listed now")
    }
}

/// Why a server cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum McpBuildError {
    /// A resource cannot be read through its tool.
    #[error("resource `{uri}`: {message}")]
    Resource {
        /// Its address or template.
        uri: String,
        /// What is wrong and what to write instead.
        message: String,
    },
    /// The tools behind the resources cannot run.
    #[error(transparent)]
    Invoker(#[from] InvokerError),
    /// A token is too short, or the settings of OAuth are invalid.
    #[cfg(feature = "http")]
    #[error(transparent)]
    Auth(#[from] AuthBuildError),
    /// An authenticator is given, and settings for one of this server alone.
    #[cfg(feature = "http")]
    #[error(
        "tokens, OAuth, hosts and origins are those of the authenticator: set them there, or leave it out"
    )]
    AuthConfiguredTwice,
    /// There are no random numbers for session ids and signatures.
    #[error("no random numbers for session ids: {message}")]
    NoRandomness {
        /// The error of the operating system.
        message: String,
    },
}

/// Why a server cannot listen, or its transport failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum McpServeError {
    /// The address is reachable from other machines, and no credential is required.
    #[error(
        "{addr} is open to other machines: set a token with `.token(…)`, or `.oauth(…)`, or listen on 127.0.0.1"
    )]
    Unauthenticated {
        /// The address.
        addr: SocketAddr,
    },
    /// The transport failed.
    #[error("cannot {action}")]
    Io {
        /// The action that failed, as in "cannot …".
        action: &'static str,
        /// The cause.
        source: io::Error,
    },
}
