//! Logs in to the servers of the settings that use OAuth, and out again.

use serde::Serialize;
use toolwright_core::{Config, schema};
use toolwright_mcp::{CredentialHolder, CredentialStore as _, RemoteServer, UserAuthorizer};

use super::{RemoteServers, configured_servers, describe_attach_error};
use crate::error::{AppError, error_chain};

/// A login to a server.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ServerLogin {
    /// The name of the server.
    pub server: String,
    /// `shared`, `operator` or the subject of a person.
    pub holder: String,
    /// When the access token expires, in seconds since 1970; `None` if that is not known.
    pub expires_at: Option<u64>,
    /// Whether the token is refreshed without a person.
    pub is_refreshed: bool,
    /// Whether only another login helps.
    pub needs_login: bool,
    /// The granted scopes.
    pub scopes: Vec<String>,
}

impl RemoteServers {
    /// Lets a user log in to a server, and stores the credential; returns the login.
    pub(crate) async fn log_in(
        &self,
        config: &Config,
        name: &str,
        redirect: &str,
        authorize: &dyn UserAuthorizer,
    ) -> Result<ServerLogin, AppError> {
        let server = self.login_server(config, name)?;
        let holder = holder_name(&server.credential_key().holder);
        let credential = server.log_in(redirect, authorize).await;
        let credential =
            credential.map_err(|error| AppError::new(describe_attach_error(&error)))?;
        Ok(to_login(name, holder, &credential))
    }

    /// Removes the credential for a server, and revokes it; returns false if there was none. `subject` is a person whose login
    /// it is, for a server that everyone logs in to on their own.
    pub(crate) async fn log_out(
        &self,
        config: &Config,
        name: &str,
        subject: Option<&str>,
    ) -> Result<bool, AppError> {
        let mut server = self.login_server(config, name)?;
        if let Some(subject) = subject {
            if !server.is_personal() {
                return Err(AppError::usage(format!(
                    "all callers share the login to `{name}`: log out without naming a person"
                )));
            }
            server = server.person(Some(subject));
        }
        let removed = server.log_out().await;
        removed.map_err(|error| AppError::new(describe_attach_error(&error)))
    }

    /// Returns the logins to the servers of the settings that use OAuth, and the names of those without one.
    pub(crate) async fn logins(
        &self,
        config: &Config,
    ) -> Result<(Vec<ServerLogin>, Vec<String>), AppError> {
        let (mut logins, mut missing) = (Vec::new(), Vec::new());
        let servers = configured_servers(config, false)?;
        for server in servers.iter().filter(|server| server.oauth_client().is_some()) {
            let name = server.name().trim();
            let stored = self.connector.credentials().list(name).await;
            let stored = stored.map_err(|error| AppError::new(error_chain(&error)))?;
            if stored.is_empty() {
                missing.push(name.to_owned());
            }
            logins.extend(
                stored
                    .iter()
                    .map(|(key, credential)| to_login(name, holder_name(&key.holder), credential)),
            );
        }
        Ok((logins, missing))
    }

    /// Encrypts all credentials with a new key; returns their number.
    pub(crate) async fn rotate_credential_key(&self) -> Result<usize, AppError> {
        let rotated = self.connector.credentials().rotate_key().await;
        rotated.map_err(|error| AppError::new(error_chain(&error)))
    }

    fn login_server(&self, config: &Config, name: &str) -> Result<RemoteServer, AppError> {
        let servers = configured_servers(config, false)?;
        let names: Vec<String> = servers.iter().map(|server| server.name().to_owned()).collect();
        let mut servers = servers.into_iter();
        let server = servers.find(|server| server.name().trim() == name).ok_or_else(|| {
            let nearest = schema::nearest(name, names.iter().map(String::as_str), 1);
            let hint = match nearest.first() {
                Some(nearest) => format!("did you mean `{nearest}`?"),
                None => format!("add it as [mcp.servers.{name}] with url and oauth"),
            };
            AppError::usage(format!("the settings have no server `{name}`; {hint}"))
        })?;
        Ok(self.connector.with_credentials(server))
    }
}

fn holder_name(holder: &CredentialHolder) -> String {
    match holder {
        CredentialHolder::Shared => "shared".to_owned(),
        CredentialHolder::Person(None) => "operator".to_owned(),
        CredentialHolder::Person(Some(subject)) => subject.clone(),
    }
}

fn to_login(server: &str, holder: String, credential: &toolwright_mcp::Credential) -> ServerLogin {
    ServerLogin {
        server: server.to_owned(),
        holder,
        expires_at: credential.expires_at(),
        is_refreshed: credential.can_refresh(),
        needs_login: credential.needs_login(),
        scopes: credential.scopes().to_vec(),
    }
}
