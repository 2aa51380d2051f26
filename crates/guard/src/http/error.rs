//! Why a page was not fetched, and why a client cannot be made.

use std::error::Error;
use std::io;
use std::net::IpAddr;
use std::time::Duration;

/// Why a page was not fetched.
///
/// The texts say what the model asked for; addresses and the reports of the system are in the fields
/// and sources, for the host.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// It is no URL that could be fetched.
    #[error("the URL {reason}")]
    Url {
        /// What is wrong with it.
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
    /// The host's name is not one that tools may ask for.
    #[error("the host `{host}` is not one that tools may fetch from")]
    Host {
        /// The host.
        host: String,
    },
    /// The port is not one that tools may connect to.
    #[error("port {port} is not one that tools may connect to")]
    Port {
        /// The port.
        port: u16,
    },
    /// The host is, or its name leads to, an address that is not public.
    #[error("the host `{host}` has an address that tools may not connect to")]
    Address {
        /// The host.
        host: String,
        /// The address; for the host.
        address: IpAddr,
    },
    /// A page under https redirects to one without.
    #[error("`{host}` redirects from https to http, which is not followed")]
    Downgrade {
        /// The host that redirects.
        host: String,
    },
    /// One redirect led to another, too often.
    #[error("more than {limit} redirects")]
    TooManyRedirects {
        /// How many are followed.
        limit: usize,
    },
    /// The host's name leads nowhere.
    #[error("the host `{host}` cannot be found")]
    Unknown {
        /// The host.
        host: String,
        /// What the resolver reports; for the host.
        source: io::Error,
    },
    /// Nobody answers at the host's addresses.
    #[error("`{host}` cannot be reached")]
    Unreachable {
        /// The host.
        host: String,
        /// What the last attempt met; for the host.
        source: io::Error,
    },
    /// There is no secure connection to the host.
    #[error("no secure connection to `{host}` can be made")]
    Insecure {
        /// The host.
        host: String,
        /// What is wrong with it; for the host.
        source: Box<dyn Error + Send + Sync>,
    },
    /// What the host sends is not HTTP, is broken off, or has a head without end.
    #[error("the answer of `{host}` cannot be read")]
    Answer {
        /// The host.
        host: String,
        /// What is wrong with it; for the host.
        source: Box<dyn Error + Send + Sync>,
    },
    /// The host sends a packed answer though none was asked for.
    #[error("the answer of `{host}` is compressed, which is not read")]
    Packed {
        /// The host.
        host: String,
    },
    /// It took too long.
    #[error("no complete answer within {} seconds", limit.as_secs_f32())]
    Timeout {
        /// How long it may take, redirects included.
        limit: Duration,
    },
}

impl FetchError {
    /// Tells whether the same request may succeed later.
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::Unknown { .. }
                | Self::Unreachable { .. }
                | Self::Answer { .. }
                | Self::Timeout { .. }
        )
    }
}

/// Why a client cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SetupError {
    /// An allowed or denied host is no host.
    #[error("`{pattern}` is no host: write `example.com`, or `*.example.com` for what is below it")]
    Host {
        /// The host as given.
        pattern: String,
    },
    /// TLS cannot be set up.
    #[error("https cannot be set up with these certificates")]
    Tls {
        /// Why not.
        source: Box<dyn Error + Send + Sync>,
    },
}
