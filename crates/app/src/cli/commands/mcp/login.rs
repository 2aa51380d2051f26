//! `mcp login` and `mcp logout`: a user logs in to a server in a browser, on this machine or another.

use std::io;
use std::process::ExitCode;

use futures::future::BoxFuture;
use jiff::Timestamp;
use serde_json::{Value, json};
use toolwright_core::Config;
use toolwright_mcp::{AttachmentStatus, RedirectListener, UserAuthorizer};

use crate::cli::cli_error::CliError;
use crate::cli::commands::serve::browser;
use crate::cli::terminal::output;
use crate::cli::terminal::sanitize::sanitize_label;
use crate::remote_servers::{RemoteServers, ServerLogin};

/// Logs in to a server, and stores the credential.
pub(super) async fn log_in(
    config: &Config,
    servers: &RemoteServers,
    name: &str,
    open: bool,
    port: u16,
) -> Result<ExitCode, CliError> {
    let listener = RedirectListener::bind(port).await.map_err(|error| {
        CliError::failure(format!("the port {port} cannot be listened to: {error}"))
    })?;
    let redirect = listener.redirect_url();
    let terminal = TerminalLogin { server: name.to_owned(), listener, open };
    let login = servers.log_in(config, name, &redirect, &terminal).await?;
    output::print_stderr(&format!("logged in to {name}: {}\n", describe(&login)));
    Ok(ExitCode::SUCCESS)
}

/// Removes the credential of a server; exit code 1 if there is none.
pub(super) async fn log_out(
    config: &Config,
    servers: &RemoteServers,
    name: &str,
    person: Option<&str>,
) -> Result<ExitCode, CliError> {
    match servers.log_out(config, name, person).await? {
        true => output::print_stderr(&format!("logged out of {name}\n")),
        false => return Err(CliError::failure(format!("there is no login to `{name}`"))),
    }
    Ok(ExitCode::SUCCESS)
}

/// Shows the link, and takes the redirect of a browser on this machine, or the address that the user pastes.
struct TerminalLogin {
    server: String,
    listener: RedirectListener,
    open: bool,
}

impl UserAuthorizer for TerminalLogin {
    fn authorize<'a>(&'a self, page: &'a str) -> BoxFuture<'a, Result<String, String>> {
        Box::pin(async move {
            output::print_stderr(&format!(
                "To log in to {}, open\n  {}\nIf the browser is on another machine, paste the address here that it is redirected to.\n",
                self.server,
                sanitize_label(page)
            ));
            if self.open {
                browser::open_url(page);
            }
            tokio::select! {
                redirect = self.listener.wait_for_redirect(page) => redirect,
                pasted = read_address() => Ok(pasted),
            }
        })
    }
}

/// Reads lines until one is an address; waits forever at the end of input, as the browser may still be redirected.
async fn read_address() -> String {
    loop {
        let line = tokio::task::spawn_blocking(|| {
            let mut line = String::new();
            io::stdin().read_line(&mut line).map(|read| (read > 0).then_some(line))
        });
        match line.await {
            Ok(Ok(Some(line))) if is_address(&line) => return line.trim().to_owned(),
            Ok(Ok(Some(line))) if line.trim().is_empty() => {}
            Ok(Ok(Some(_))) => output::print_stderr(
                "That is no such address: it begins with http:// and contains `code=` and `state=`.\n",
            ),
            _ => std::future::pending().await,
        }
    }
}

/// Returns true if a line may be the address of a redirect.
fn is_address(line: &str) -> bool {
    let line = line.trim();
    let has_outcome = line.contains("code=") || line.contains("error=");
    line.starts_with("http") && has_outcome && line.contains("state=")
}

/// A status as JSON, with the logins to the server.
pub(super) fn with_logins(
    status: &AttachmentStatus,
    logins: &[ServerLogin],
) -> Result<Value, CliError> {
    let mut status_json = serde_json::to_value(status)
        .map_err(|error| CliError::failure(format!("the status is no JSON: {error}")))?;
    let logins: Vec<&ServerLogin> =
        logins.iter().filter(|login| login.server == status.server).collect();
    if let Some(object) = status_json.as_object_mut().filter(|_| !logins.is_empty()) {
        object.insert("logins".to_owned(), json!(logins));
    }
    Ok(status_json)
}

/// The logins to a server, one in each line.
pub(super) fn format_logins(server: &str, logins: &[ServerLogin]) -> String {
    let logins = logins.iter().filter(|login| login.server == server);
    logins.map(|login| format!("  login: {}, {}\n", login.holder, describe(login))).collect()
}

/// How long a login lasts, and its scopes.
fn describe(login: &ServerLogin) -> String {
    let expires_at = login.expires_at.and_then(|at| i64::try_from(at).ok());
    let expires_at = expires_at.and_then(|at| Timestamp::from_second(at).ok());
    let lasts = match (login.needs_login, login.is_refreshed, expires_at) {
        (true, _, _) => "has ended".to_owned(),
        (false, true, _) => "refreshed by itself".to_owned(),
        (false, false, Some(at)) => format!("until {at}"),
        (false, false, None) => "without a known end".to_owned(),
    };
    match login.scopes.is_empty() {
        true => lasts,
        false => format!("{lasts}, scopes {}", login.scopes.join(" ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_address_of_a_redirect_is_taken() {
        assert!(is_address("http://127.0.0.1:1234/callback?code=1&state=2\n"));
        assert!(is_address(" https://app.example/cb?state=2&error=access_denied"));
        for line in ["", "yes", "http://127.0.0.1:1234/callback", "code=1&state=2"] {
            assert!(!is_address(line), "{line}");
        }
    }
}
