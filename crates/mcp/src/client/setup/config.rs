//! The sections `[mcp.servers.NAME]` of the settings in, servers to attach out.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::Deserialize;
use toolwright_core::{Config, ConfigError, McpAttachMode, McpServerConfig, Secret};
use url::Url;

use crate::client::error::AttachError;
use crate::client::oauth::OAuthClient;
use crate::client::setup::ancestors::{ANCESTORS_VARIABLE, Ancestors, SELF_ATTACH_MESSAGE};
use crate::client::setup::remote_server::{RemoteServer, Trust};

const SECTION: &str = "mcp.servers";

/// The keys of `[mcp.servers.NAME]`.
const KEYS: [&str; 18] = [
    "url",
    "command",
    "args",
    "headers",
    "authorization",
    "env",
    "prefix",
    "timeout_s",
    "connect_s",
    "trust",
    "revision",
    "oauth",
    "grant",
    "client_id",
    "client_secret",
    "client_metadata_url",
    "scopes",
    "issuer",
];

/// Who logs in to a server with OAuth.
#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum LoginMode {
    /// One login for all callers.
    Shared,
    /// Every person logs in on their own.
    Personal,
}

/// How a client is authorized.
#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum ConfiguredGrant {
    /// By a person, in a browser.
    AuthorizationCode,
    /// By the client's own id and secret.
    ClientCredentials,
}

impl RemoteServer {
    /// Reads the sections `[mcp.servers.NAME]`, in the order of their names.
    ///
    /// A server has either `url`, optionally with `headers` and `authorization`, or `command`, optionally with `args` and `env`.
    /// One with `url` that uses OAuth has `oauth`, which is `shared` or `personal`, and optionally `grant`, `client_id`,
    /// `client_secret`, `client_metadata_url`, `scopes` and `issuer`. Optional for both are `prefix`, `timeout_s` for a call, `connect_s`, `trust` and `revision`.
    ///
    /// # Errors
    ///
    /// When a setting is unknown or invalid; the error names its key.
    ///
    /// # Examples
    ///
    /// ```
    /// use toolwright::{Config, ConfigSources};
    /// use toolwright::mcp::RemoteServer;
    ///
    /// let sources = ConfigSources::new().defaults([
    ///     ("mcp.servers.wiki.url", "https://wiki.example/mcp"),
    ///     ("mcp.servers.files.command", "mcp-server-filesystem"),
    ///     ("mcp.servers.files.args", "/srv/shared"),
    /// ]);
    /// let servers = RemoteServer::from_config(&Config::load(sources)?.config)?;
    /// let names: Vec<_> = servers.iter().map(RemoteServer::name).collect();
    /// assert_eq!(names, ["files", "wiki"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_config(config: &Config) -> Result<Vec<Self>, AttachError> {
        let section = config.section(SECTION);
        let keys = section.keys_under("").into_iter();
        let names: BTreeSet<&str> = keys.filter_map(|key| key.split('.').next()).collect();
        names.into_iter().map(|name| parse_server(&section, name)).collect()
    }

    /// Returns an error if the same program with the same settings has started this process, directly or indirectly: it would
    /// start itself in an endless loop.
    ///
    /// A program that serves MCP on stdio and attaches the servers of its settings calls this first. By the error on stderr, the
    /// program that started this one recognizes that it must leave it out.
    ///
    /// # Errors
    ///
    /// When this program is among its ancestors.
    pub fn reject_self_attach(config: &Config) -> Result<(), AttachError> {
        match Ancestors::read(config).include_self() {
            false => Ok(()),
            true => Err(AttachError::InvalidSetting {
                key: SECTION.to_owned(),
                message: format!("{SELF_ATTACH_MESSAGE}: take it out of its settings"),
            }),
        }
    }

    /// Reads the groups `MCP.*`, `MCP_1.*`… that this client attaches.
    ///
    /// With `hosted`, the vendor of the model attaches servers itself: then the client attaches only those with `mode = client`,
    /// otherwise all but those with `mode = hosted`.
    ///
    /// # Errors
    ///
    /// When a group cannot be read; the error names its key.
    pub fn from_groups(config: &Config, hosted: bool) -> Result<Vec<Self>, AttachError> {
        let groups = config.mcp_servers()?.into_iter();
        let attached = groups.filter(|group| match group.mode {
            McpAttachMode::Client => true,
            McpAttachMode::Hosted => false,
            _ => !hosted,
        });
        Ok(attached.map(Self::from).collect())
    }
}

impl From<McpServerConfig> for RemoteServer {
    fn from(group: McpServerConfig) -> Self {
        let server = Self::url(group.name, group.url);
        match group.authorization {
            Some(authorization) => server.authorization(authorization),
            None => server,
        }
    }
}

fn parse_server(servers: &Config, name: &str) -> Result<RemoteServer, AttachError> {
    let section = servers.section(name);
    let key = |key: &str| format!("{SECTION}.{name}.{key}");
    let invalid = |at: &str, message: &str| AttachError::InvalidSetting {
        key: key(at),
        message: message.to_owned(),
    };
    section.reject_unknown("", &KEYS)?;
    let mut server = match (trimmed_string(&section, "url")?, trimmed_string(&section, "command")?)
    {
        (Some(url), None) => RemoteServer::url(name, url),
        (None, Some(command)) => {
            let args: Vec<String> = section.get_or("args", Vec::new())?;
            let ancestors = Ancestors::read(servers);
            if ancestors.are_too_deep() {
                let message =
                    "programs that attach programs stand too deep here: attach it directly";
                return Err(invalid("command", message));
            }
            RemoteServer::command(name, command, args)
                .env(ANCESTORS_VARIABLE, ancestors.child_variable())
        }
        (Some(_), Some(_)) => return Err(invalid("command", "`url` is set too: set one of them")),
        (None, None) => {
            return Err(invalid("url", "is missing, and so is `command`: set one of them"));
        }
    };
    let is_url = section.origin("url").is_some();
    for (setting, is_for_url) in [
        ("args", false),
        ("env", false),
        ("headers", true),
        ("authorization", true),
        ("oauth", true),
    ] {
        let is_set = section.origin(setting).is_some() || !section.keys_under(setting).is_empty();
        if is_set && is_for_url != is_url {
            let other = if is_for_url { "url" } else { "command" };
            return Err(invalid(setting, &format!("is for a server with `{other}`")));
        }
    }
    for (header, value) in secret_table(&section, "headers")? {
        server = server.header(header, value.expose());
    }
    for (variable, value) in secret_table(&section, "env")? {
        server = server.env(variable, value.expose());
    }
    if let Some(authorization) = section.secret("authorization")? {
        server = server.authorization(authorization);
    }
    server = parse_oauth(&section, server, &invalid)?;
    if let Some(prefix) = trimmed_string(&section, "prefix")? {
        server = server.prefix(prefix);
    }
    if let Some(revision) = trimmed_string(&section, "revision")? {
        server = server.revision(revision);
    }
    if let Some(seconds) = section.get_optional::<u64>("timeout_s")? {
        server = server.timeout(Duration::from_secs(seconds));
    }
    if let Some(seconds) = section.get_optional::<u64>("connect_s")? {
        server.limits.connect_timeout = Duration::from_secs(seconds);
    }
    if let Some(trust) = section.get_optional::<Trust>("trust")? {
        server = server.trust(trust);
    }
    Ok(server)
}

/// Reads the keys of a server that uses OAuth.
fn parse_oauth(
    section: &Config,
    server: RemoteServer,
    invalid: &dyn Fn(&str, &str) -> AttachError,
) -> Result<RemoteServer, AttachError> {
    let Some(mode) = section.get_optional::<LoginMode>("oauth")? else {
        let keys =
            ["grant", "client_id", "client_secret", "client_metadata_url", "scopes", "issuer"];
        return match keys.into_iter().find(|key| section.origin(key).is_some()) {
            None => Ok(server),
            Some(key) => Err(invalid(key, "is for a server with `oauth`: set that too")),
        };
    };
    if section.origin("authorization").is_some() {
        return Err(invalid("authorization", "`oauth` is set too: set one of them"));
    }
    let grant = section.get_optional::<ConfiguredGrant>("grant")?;
    let client = trimmed_string(section, "client_id")?;
    let secret = section.secret("client_secret")?;
    let mut oauth = match (grant, client, secret) {
        (Some(ConfiguredGrant::ClientCredentials), Some(id), Some(secret)) => {
            if mode == LoginMode::Personal {
                let message = "has no person: write `oauth = \"shared\"`";
                return Err(invalid("grant", message));
            }
            OAuthClient::client_credentials(id, secret)
        }
        (Some(ConfiguredGrant::ClientCredentials), None, _) => {
            return Err(invalid("client_id", "is missing"));
        }
        (Some(ConfiguredGrant::ClientCredentials), Some(_), None) => {
            return Err(invalid("client_secret", "is missing"));
        }
        (_, Some(id), secret) => OAuthClient::stored_login().registered_client(id, secret),
        (_, None, Some(_)) => {
            return Err(invalid("client_secret", "is for a client with `client_id`: set that too"));
        }
        (_, None, None) => OAuthClient::stored_login(),
    };
    if let Some(url) = trimmed_string(section, "client_metadata_url")? {
        oauth = oauth.client_metadata_url(url);
    }
    if let Some(issuer) = trimmed_string(section, "issuer")? {
        if Url::parse(&issuer).is_err() {
            let message = "is an address, such as `https://login.example.com`";
            return Err(invalid("issuer", message));
        }
        oauth = oauth.issuer(issuer);
    }
    let scopes: Vec<String> = section.get_or("scopes", Vec::new())?;
    let server = server.oauth(oauth.scopes(scopes));
    Ok(match mode {
        LoginMode::Shared => server,
        LoginMode::Personal => server.personal(),
    })
}

fn trimmed_string(section: &Config, key: &str) -> Result<Option<String>, ConfigError> {
    let text: Option<String> = section.get_optional(key)?;
    Ok(text.map(|text| text.trim().to_owned()))
}

/// Reads the keys below a key; all of their values may be secrets.
fn secret_table(section: &Config, key: &str) -> Result<BTreeMap<String, Secret>, ConfigError> {
    #[derive(Deserialize)]
    #[serde(transparent)]
    struct Table(BTreeMap<String, Secret>);

    match section.keys_under(key).is_empty() {
        true => Ok(BTreeMap::new()),
        false => Ok(section.get::<Table>(key)?.0),
    }
}

#[cfg(test)]
mod tests {
    use toolwright_core::ConfigSources;

    use super::*;

    fn config(settings: &[(&str, &str)]) -> Config {
        let sources = ConfigSources::new().defaults(settings.iter().copied());
        Config::load(sources).unwrap().config
    }

    #[test]
    fn a_server_is_read_with_all_its_settings() {
        let config = config(&[
            ("mcp.servers.wiki.url", "https://wiki.example/mcp"),
            ("mcp.servers.wiki.headers.X-Team", "blue"),
            ("mcp.servers.wiki.authorization", "Bearer abc"),
            ("mcp.servers.wiki.prefix", "w"),
            ("mcp.servers.wiki.timeout_s", "7"),
            ("mcp.servers.wiki.connect_s", "3"),
            ("mcp.servers.wiki.trust", "hints"),
            ("mcp.servers.wiki.revision", "2025-11-25"),
        ]);
        let [wiki] = &RemoteServer::from_config(&config).unwrap()[..] else {
            panic!("one server");
        };
        assert_eq!(wiki.prefix.as_deref(), Some("w"));
        assert_eq!(wiki.timeout, Duration::from_secs(7));
        assert_eq!(wiki.limits.connect_timeout, Duration::from_secs(3));
        assert_eq!(wiki.trust, Trust::Hints);
        assert_eq!(wiki.revision.as_deref(), Some("2025-11-25"));
        assert_eq!(wiki.headers[0].0, "X-Team");
        assert_eq!(wiki.authorization.as_ref().unwrap().expose(), "Bearer abc");
        assert!(!format!("{wiki:?}").contains("abc"));
    }

    #[test]
    fn the_error_of_an_invalid_setting_names_its_key() {
        for (settings, key) in [
            (&[("mcp.servers.a.prefix", "x")][..], "mcp.servers.a.url"),
            (
                &[("mcp.servers.a.url", "u"), ("mcp.servers.a.command", "c")],
                "mcp.servers.a.command",
            ),
            (&[("mcp.servers.a.url", "u"), ("mcp.servers.a.env.K", "v")], "mcp.servers.a.env"),
            (
                &[("mcp.servers.a.command", "c"), ("mcp.servers.a.authorization", "v")],
                "mcp.servers.a.authorization",
            ),
            (&[("mcp.servers.a.url", "u"), ("mcp.servers.a.urll", "v")], "mcp.servers.a.urll"),
            (
                &[("mcp.servers.a.url", "u"), ("mcp.servers.a.trust", "blindly")],
                "mcp.servers.a.trust",
            ),
            (
                &[("mcp.servers.a.url", "u"), ("mcp.servers.a.timeout_s", "soon")],
                "mcp.servers.a.timeout_s",
            ),
            (&[("mcp.servers.a.url", "u"), ("mcp.servers.a.oauth", "both")], "mcp.servers.a.oauth"),
            (
                &[("mcp.servers.a.command", "c"), ("mcp.servers.a.oauth", "shared")],
                "mcp.servers.a.oauth",
            ),
            (
                &[("mcp.servers.a.url", "u"), ("mcp.servers.a.client_id", "i")],
                "mcp.servers.a.client_id",
            ),
            (
                &[
                    ("mcp.servers.a.url", "u"),
                    ("mcp.servers.a.oauth", "shared"),
                    ("mcp.servers.a.authorization", "Bearer abc"),
                ],
                "mcp.servers.a.authorization",
            ),
            (
                &[
                    ("mcp.servers.a.url", "u"),
                    ("mcp.servers.a.oauth", "shared"),
                    ("mcp.servers.a.client_secret", "s"),
                ],
                "mcp.servers.a.client_secret",
            ),
            (
                &[
                    ("mcp.servers.a.url", "u"),
                    ("mcp.servers.a.oauth", "shared"),
                    ("mcp.servers.a.grant", "client_credentials"),
                    ("mcp.servers.a.client_id", "i"),
                ],
                "mcp.servers.a.client_secret",
            ),
            (
                &[
                    ("mcp.servers.a.url", "u"),
                    ("mcp.servers.a.oauth", "personal"),
                    ("mcp.servers.a.grant", "client_credentials"),
                    ("mcp.servers.a.client_id", "i"),
                    ("mcp.servers.a.client_secret", "s"),
                ],
                "mcp.servers.a.grant",
            ),
            (
                &[
                    ("mcp.servers.a.url", "u"),
                    ("mcp.servers.a.oauth", "shared"),
                    ("mcp.servers.a.issuer", "login.example"),
                ],
                "mcp.servers.a.issuer",
            ),
            (&[("MCP.name", "wiki")], "MCP.url"),
        ] {
            let config = config(settings);
            let error = RemoteServer::from_config(&config)
                .and_then(|_| RemoteServer::from_groups(&config, false));
            let message = error.unwrap_err().to_string();
            assert!(message.contains(&format!("`{key}`")), "{message}");
        }
    }

    #[test]
    fn mode_and_vendor_decide_if_the_client_attaches_a_group() {
        let attached = |mode: &str, hosted: bool| {
            let config = config(&[
                ("MCP_1.name", "My wiki"),
                ("MCP_1.url", "https://wiki.example/mcp"),
                ("MCP_1.authorization", "Bearer abc"),
                ("MCP_1.mode", mode),
            ]);
            RemoteServer::from_groups(&config, hosted).unwrap().len()
        };
        for (mode, hosted, count) in [
            ("auto", true, 0),
            ("auto", false, 1),
            ("client", true, 1),
            ("client", false, 1),
            ("hosted", true, 0),
            ("hosted", false, 0),
        ] {
            assert_eq!(attached(mode, hosted), count, "{mode}, hosted: {hosted}");
        }
    }
}
