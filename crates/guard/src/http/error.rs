//! The errors of fetching a URL and of building a client.

use std::error::Error;
use std::io;
use std::net::IpAddr;
use std::time::Duration;

/// Why a URL was not fetched.
///
/// The messages are for the model; resolved addresses and errors of the system are only in the fields
/// and sources, for the host program.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The URL is invalid.
    #[error("the URL {reason}")]
    Url {
        /// The problem, as the rest of the sentence.
        reason: &'static str,
    },
    /// The scheme is neither http nor https, or https is not compiled in.
    #[error("URLs that start with `{scheme}:` are not fetched")]
    Scheme {
        /// The scheme.
        scheme: String,
    },
    /// The URL carries a user name or password.
    #[error("a URL with a user name or password is not fetched: leave out what is before the `@`")]
    UserInfo,
    /// The host is denied, a local name, or not among those that are allowed.
    #[error("the host `{host}` is not one that tools may fetch from")]
    Host {
        /// The host.
        host: String,
    },
    /// The port is not allowed.
    #[error("port {port} is not one that tools may connect to")]
    Port {
        /// The port.
        port: u16,
    },
    /// The host is, or resolves to, an address that is denied or not public.
    #[error("the host `{host}` has an address that tools may not connect to")]
    Address {
        /// The host.
        host: String,
        /// The address; for the host program.
        address: IpAddr,
    },
    /// An https page redirects to http.
    #[error("`{host}` redirects from https to http, which is not followed")]
    Downgrade {
        /// The host that redirects.
        host: String,
    },
    /// The page redirects too often.
    #[error("more than {limit} redirects")]
    TooManyRedirects {
        /// The maximum number of redirects that are followed.
        limit: usize,
    },
    /// The host's name cannot be resolved.
    #[error("the host `{host}` cannot be found")]
    Unknown {
        /// The host.
        host: String,
        /// The resolver's error; for the host program.
        source: io::Error,
    },
    /// None of the host's addresses accepts a connection.
    #[error("`{host}` cannot be reached")]
    Unreachable {
        /// The host.
        host: String,
        /// The error of the last attempt; for the host program.
        source: io::Error,
    },
    /// The TLS handshake with the host failed.
    #[error("no secure connection to `{host}` can be made")]
    Insecure {
        /// The host.
        host: String,
        /// The cause; for the host program.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The response is not HTTP or incomplete, or its head is too large.
    #[error("the answer of `{host}` cannot be read")]
    Response {
        /// The host.
        host: String,
        /// The cause; for the host program.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The response is compressed although the request did not accept that.
    #[error("the answer of `{host}` is compressed, which is not read")]
    Compressed {
        /// The host.
        host: String,
    },
    /// The response was not complete within the timeout.
    #[error("no complete answer within {} seconds", limit.as_secs_f32())]
    Timeout {
        /// The timeout, redirects included.
        limit: Duration,
    },
}

impl FetchError {
    /// Returns true if the same request may succeed later.
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::Unknown { .. }
                | Self::Unreachable { .. }
                | Self::Response { .. }
                | Self::Timeout { .. }
        )
    }
}

/// Why a client cannot be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// An allowed or denied host is invalid.
    #[error("`{pattern}` is no host: write `example.com`, or `*.example.com` for what is below it")]
    Host {
        /// The invalid host.
        pattern: String,
    },
    /// TLS cannot be set up.
    #[error("https cannot be set up with these certificates")]
    Tls {
        /// The cause.
        source: Box<dyn Error + Send + Sync>,
    },
}
