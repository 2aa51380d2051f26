//! Why a server cannot be attached.

use std::io;
use std::time::Duration;

use toolwright_core::ConfigError;

use crate::credential::CredentialError;
use crate::pin::PinError;

/// Why a server cannot be attached.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AttachError {
    /// An option is invalid.
    #[error("server `{server}`: {message}")]
    InvalidOptions {
        /// The server's name.
        server: String,
        /// What is wrong, and what to write instead.
        message: String,
    },
    /// A setting cannot be read.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// A setting is invalid.
    #[error("setting `{key}`: {message}")]
    InvalidSetting {
        /// The key.
        key: String,
        /// What is wrong, and what to write instead.
        message: String,
    },
    /// Another server of this registry has the prefix.
    #[error(
        "server `{server}` cannot have the prefix `{prefix}`: server `{holder}` has it; give one of them another with `.prefix(…)` or `prefix = \"…\"`"
    )]
    PrefixTaken {
        /// The server's name.
        server: String,
        /// The prefix.
        prefix: String,
        /// The server that has it.
        holder: String,
    },
    /// The program cannot be started.
    #[error(
        "server `{server}`: cannot start `{program}`; check that it is installed and on the PATH"
    )]
    Start {
        /// The server's name.
        server: String,
        /// The program.
        program: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The server cannot be reached, or is no MCP server.
    #[error("server `{server}` cannot be attached: {message}")]
    Connect {
        /// The server's name.
        server: String,
        /// What went wrong, as far as it is known.
        message: String,
    },
    /// The server is the program that attaches it, or one of its ancestors.
    #[error(
        "server `{server}` is this program with these settings, or one that attaches it: it is left out; take `{server}` out of the settings"
    )]
    AttachesItself {
        /// The server's name.
        server: String,
    },
    /// The server requires authorization.
    #[error(
        "server `{server}` wants authorization: {message}; give it with `.authorization(…)` or `.oauth(…)`"
    )]
    Unauthorized {
        /// The server's name.
        server: String,
        /// The error of the server or of the authorization.
        message: String,
    },
    /// A user has to log in to the server.
    #[error("server `{server}`: {message}")]
    LoginRequired {
        /// The server's name.
        server: String,
        /// What to do.
        message: String,
    },
    /// The server names an authorization server that is not trusted with credentials: another one than before, or than the settings
    /// name.
    #[error("server `{server}`: {message}")]
    UntrustedIssuer {
        /// The server's name.
        server: String,
        /// The authorization server, and what to do.
        message: String,
    },
    /// The server is not one that a user logs in to.
    #[error(
        "nobody logs in to server `{server}`: for one with an address that uses OAuth, set `oauth` to \"shared\" or \"personal\""
    )]
    NoLogin {
        /// The server's name.
        server: String,
    },
    /// The credential for the server cannot be read or written.
    #[error("server `{server}`: its credential cannot be used")]
    Credential {
        /// The server's name.
        server: String,
        /// The cause.
        source: CredentialError,
    },
    /// Connecting and listing took too long.
    #[error("server `{server}` did not answer within {} s{message}", after.as_secs_f32())]
    TimedOut {
        /// The server's name.
        server: String,
        /// The timeout.
        after: Duration,
        /// The address, or output of the process, as the end of the sentence.
        message: String,
    },
    /// The lists of the server exceed a limit.
    #[error("server `{server}` lists more than {limit} {what}, which is as much as is read")]
    ListTooLarge {
        /// The server's name.
        server: String,
        /// The unit of the limit.
        what: &'static str,
        /// The limit.
        limit: usize,
    },
    /// The definitions cannot be compared with their pins.
    #[error("the tools of server `{server}` cannot be compared with their pins")]
    Pins {
        /// The server's name.
        server: String,
        /// The cause.
        source: PinError,
    },
    /// No hidden tool or prompt has this name.
    #[error("server `{server}` has no changed tool or prompt named `{name}`")]
    NotChanged {
        /// The server's name.
        server: String,
        /// The name as given.
        name: String,
    },
}
