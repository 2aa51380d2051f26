//! The [`PersonalConnections`] role: servers that every person logs in to on their own, and the tools that this gives them.

use serde::Serialize;
use toolwright_core::{BoxFuture, Tool};

/// Connects people to servers that each of them logs in to on their own.
///
/// `subject` is the person; `None` is the operator. Implementations return nothing of one person to another.
pub trait PersonalConnections: Send + Sync + 'static {
    /// Returns the servers, and whether the person is connected to each.
    ///
    /// # Errors
    ///
    /// When the credentials cannot be read.
    fn list<'a>(
        &'a self,
        subject: Option<&'a str>,
    ) -> BoxFuture<'a, Result<Vec<PersonalConnection>, ConnectionError>>;

    /// Starts a login, and returns the address of the page to visit. The browser will be redirected to `redirect`; only one that
    /// knows `browser_key` can finish the login.
    ///
    /// # Errors
    ///
    /// When there is no such server, or it cannot be reached.
    fn begin<'a>(
        &'a self,
        subject: Option<&'a str>,
        server: &'a str,
        redirect: &'a str,
        browser_key: &'a str,
    ) -> BoxFuture<'a, Result<String, ConnectionError>>;

    /// Finishes a login with the whole address that the browser was redirected to; returns the name of the server.
    ///
    /// # Errors
    ///
    /// When no login waits for this address and key, or the person has not consented.
    fn finish<'a>(
        &'a self,
        callback: &'a str,
        browser_key: &'a str,
    ) -> BoxFuture<'a, Result<String, ConnectionError>>;

    /// Closes the person's connection and removes the credential; returns false if there was none.
    ///
    /// # Errors
    ///
    /// When there is no such server, or the credential cannot be removed.
    fn disconnect<'a>(
        &'a self,
        subject: Option<&'a str>,
        server: &'a str,
    ) -> BoxFuture<'a, Result<bool, ConnectionError>>;

    /// Returns the person's tools for a turn: those of the servers that they are connected to, and one for each server that
    /// connects. Servers that cannot be reached have none.
    fn tools<'a>(&'a self, subject: Option<&'a str>) -> BoxFuture<'a, Vec<Tool>>;
}

/// A server that every person logs in to on their own, as one of them sees it.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct PersonalConnection {
    /// The name of the server.
    pub name: String,
    /// The name of the tool that asks the person to connect.
    pub tool: String,
    /// Whether there is a credential that may be good.
    pub is_connected: bool,
    /// The scopes that the person has granted.
    pub scopes: Vec<String>,
}

impl PersonalConnection {
    /// Creates a connection; for implementations of [`PersonalConnections`].
    pub fn new(name: impl Into<String>, tool: impl Into<String>) -> Self {
        Self { name: name.into(), tool: tool.into(), is_connected: false, scopes: Vec::new() }
    }
}

/// Why a person cannot be connected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConnectionError {
    /// There is no such server, or no login that waits for this browser.
    #[error("{0}")]
    NotFound(String),
    /// The login failed.
    #[error("{0}")]
    Failed(String),
    /// The credentials cannot be read or written now.
    #[error("{0}")]
    Unavailable(String),
}
