//! A [`RemoteServer`] in, its validated configuration out.

use std::ffi::OsString;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use rmcp::model::ProtocolVersion;
use toolwright_core::schema::{Dialect, redact};
use toolwright_core::wire::wire_names;
use toolwright_core::{Secret, ToolName};
use url::Url;

use crate::client::catalogue::remote_call::call_state::CallStates;
use crate::client::connection::http::HttpTransport;
use crate::client::elicit::ElicitHandler;
use crate::client::error::AttachError;
use crate::client::oauth::TokenSource;
use crate::client::setup::limits::AttachLimits;
use crate::client::setup::remote_server::{HiddenCallback, RemoteServer, ServerLocation, Trust};
use crate::client::setup::sent_secrets::SentSecrets;
use crate::pin::PinStore;

/// Longer prefixes are truncated, to leave room for the names.
const MAX_PREFIX_LEN: usize = 32;

/// Headers of the protocol, which cannot be set.
const PROTOCOL_HEADERS: [&str; 7] = [
    "accept",
    "content-type",
    "content-length",
    "host",
    "last-event-id",
    "mcp-protocol-version",
    "mcp-session-id",
];

/// The validated configuration of an attached server.
pub(crate) struct ValidatedServer {
    pub(crate) name: Arc<str>,
    pub(crate) prefix: String,
    pub(crate) target: TransportConfig,
    /// What the server must not be quoted with.
    pub(crate) secrets: SentSecrets,
    pub(crate) timeout: Duration,
    pub(crate) limits: AttachLimits,
    pub(crate) trust: Trust,
    /// The only revision to use; `None` negotiates one.
    pub(crate) revision: Option<ProtocolVersion>,
    pub(crate) pins: Arc<dyn PinStore>,
    pub(crate) elicit: Option<Arc<dyn ElicitHandler>>,
    pub(crate) on_hidden: Option<Arc<HiddenCallback>>,
    /// The only person whose calls use the connection; `None` if all callers share it, and for the operator.
    pub(crate) person: Option<Arc<str>>,
    /// The tool that a call makes if the login has ended.
    pub(crate) login_tool: Option<ToolName>,
    /// Where calls are stored that go on after an interruption.
    pub(crate) call_states: Option<CallStates>,
}

pub(crate) enum TransportConfig {
    Http { url: Arc<str>, wire: HttpTransport },
    Process(ServerCommand),
}

pub(crate) struct ServerCommand {
    pub(crate) path: OsString,
    pub(crate) args: Vec<OsString>,
    pub(crate) env: Vec<(String, Secret)>,
}

impl ValidatedServer {
    /// The address of the server without its secrets; `None` for a process.
    pub(crate) fn address(&self) -> Option<String> {
        match &self.target {
            TransportConfig::Http { url, .. } => Some(redact(url).into_owned()),
            TransportConfig::Process(_) => None,
        }
    }

    /// The name of the tool that asks the person of a turn.
    pub(crate) fn question_tool_name(&self) -> ToolName {
        format!("{}_ask_user", self.prefix).into()
    }

    pub(crate) fn new(server: RemoteServer) -> Result<Self, AttachError> {
        let server_name = server.name.clone();
        let invalid =
            |message: String| AttachError::InvalidOptions { server: server_name.clone(), message };
        let name = server.name.trim();
        if name.is_empty() || name.len() > 64 || name.chars().any(char::is_control) {
            let message = "a server's name has 1 to 64 characters, none of them control characters";
            return Err(invalid(message.to_owned()));
        }
        let prefix = server.tool_prefix();
        let revision = server.revision.as_deref().map(parse_revision);
        let revision = revision.transpose().map_err(&invalid)?;
        let credential_key = server.credential_key();
        let values = server.headers.iter().chain(&server.env).map(|(_, value)| value);
        let secrets = SentSecrets::new(values.chain(&server.authorization));
        let target = match server.location {
            ServerLocation::Url(url) => {
                if !server.env.is_empty() {
                    return Err(invalid(
                        "`env` is for a server that is started by its command".to_owned(),
                    ));
                }
                let url = parse_url(&url).map_err(&invalid)?;
                let has_secret = server.authorization.is_some() || server.oauth.is_some();
                if has_secret && url.scheme() == "http" && !is_loopback(&url) {
                    let message =
                        "authorization would be sent in clear: use an address with https://";
                    return Err(invalid(message.to_owned()));
                }
                let headers =
                    build_headers(server.headers, server.authorization).map_err(&invalid)?;
                let issuer_pins = server.issuer_pins.unwrap_or_else(|| Arc::clone(&server.pins));
                let store = server.credentials;
                let token_source = server.oauth.map(|oauth| {
                    Arc::new(TokenSource::new(&url, oauth, issuer_pins, store, credential_key))
                });
                let max_bytes = server.limits.max_message_bytes;
                let wire =
                    HttpTransport::new(headers, max_bytes, token_source).map_err(&invalid)?;
                TransportConfig::Http { url: url.as_str().into(), wire }
            }
            ServerLocation::Command(path, args) => {
                let has_headers = !server.headers.is_empty() || server.authorization.is_some();
                if has_headers || server.oauth.is_some() {
                    let message = "`headers` and `authorization` are for a server that is attached by its address; use `env`";
                    return Err(invalid(message.to_owned()));
                }
                if path.is_empty() {
                    return Err(invalid("the command is empty".to_owned()));
                }
                TransportConfig::Process(ServerCommand { path, args, env: server.env })
            }
        };
        Ok(Self {
            name: name.into(),
            prefix,
            target,
            secrets,
            timeout: server.timeout,
            limits: server.limits,
            trust: server.trust,
            revision,
            pins: server.pins,
            elicit: server.elicit,
            on_hidden: server.on_hidden,
            person: server.person.flatten().map(Into::into),
            login_tool: server.login_tool.map(ToolName::from),
            call_states: server.call_states.map(CallStates),
        })
    }
}

/// Returns the prefix with the characters that every provider accepts.
pub(crate) fn tool_name_prefix(prefix: &str) -> String {
    let names = wire_names(&[prefix], Dialect::OPENAI.tool_name(), &[]);
    let name = names.into_iter().next().unwrap_or_default();
    name.chars().take(MAX_PREFIX_LEN).collect()
}

fn parse_revision(revision: &str) -> Result<ProtocolVersion, String> {
    let known = ProtocolVersion::KNOWN_VERSIONS;
    match known.iter().find(|version| version.as_str() == revision) {
        Some(version) => Ok(version.clone()),
        None => {
            let known: Vec<&str> = known.iter().map(ProtocolVersion::as_str).collect();
            Err(format!("`{revision}` is no revision of MCP; known are {}", known.join(", ")))
        }
    }
}

fn parse_url(url: &str) -> Result<Url, String> {
    let parsed = Url::parse(url).map_err(|error| format!("its address is no URL: {error}"))?;
    if !matches!(parsed.scheme(), "http" | "https") {
        let scheme = parsed.scheme();
        return Err(format!(
            "`{scheme}://` is not supported: its address begins with https:// or http://"
        ));
    }
    if !parsed.username().is_empty() || parsed.password().is_some() {
        return Err("its address holds a password: give it with `authorization`".to_owned());
    }
    Ok(parsed)
}

/// Returns true if the host is this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host_str() {
        Some("localhost") => true,
        Some(host) => host
            .trim_start_matches('[')
            .trim_end_matches(']')
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback()),
        None => false,
    }
}

fn build_headers(
    extra: Vec<(String, Secret)>,
    authorization: Option<Secret>,
) -> Result<HeaderMap, String> {
    let mut headers = HeaderMap::new();
    for (name, value) in extra {
        if PROTOCOL_HEADERS.contains(&name.to_ascii_lowercase().as_str()) {
            return Err(format!("header `{name}` is set by the protocol"));
        }
        let header = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| format!("`{name}` is no name of a header"))?;
        headers.append(header, sensitive_value(&name, &value)?);
    }
    if let Some(value) = authorization {
        headers.insert(AUTHORIZATION, sensitive_value("authorization", &value)?);
    }
    Ok(headers)
}

fn sensitive_value(name: &str, value: &Secret) -> Result<HeaderValue, String> {
    let mut value = HeaderValue::from_str(value.expose().trim()).map_err(|_| {
        format!("the value of header `{name}` holds a character that no header may")
    })?;
    value.set_sensitive(true);
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_of(server: RemoteServer) -> String {
        match ValidatedServer::new(server) {
            Ok(_) => "none".to_owned(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn the_error_of_an_invalid_option_contains_a_fix() {
        for (server, part) in [
            (RemoteServer::url("a", "ftp://a.example"), "https://"),
            (RemoteServer::url("a", "nowhere"), "no URL"),
            (RemoteServer::url("a", "https://u:p@a.example"), "`authorization`"),
            (RemoteServer::url("", "https://a.example"), "name"),
            (RemoteServer::url("a", "https://a.example").env("A", "1"), "`env`"),
            (RemoteServer::url("a", "https://a.example").header("Mcp-Session-Id", "1"), "protocol"),
            (RemoteServer::url("a", "https://a.example").header("a b", "1"), "no name of a header"),
            (RemoteServer::url("a", "https://a.example").revision("2020-01-01"), "2026-07-28"),
            (RemoteServer::command("a", "", [""; 0]), "empty"),
            (RemoteServer::command("a", "b", [""; 0]).header("x", "y"), "use `env`"),
        ] {
            let message = error_of(server);
            assert!(message.starts_with("server `") && message.contains(part), "{message}");
        }
    }

    #[test]
    fn authorization_is_never_sent_in_clear_to_another_machine() {
        let with = |url: &str| RemoteServer::url("a", url).authorization(Secret::new("Bearer x"));
        assert!(error_of(with("http://a.example/mcp")).contains("in clear"));
        for url in
            ["https://a.example", "http://127.0.0.1:1/mcp", "http://localhost/", "http://[::1]/"]
        {
            assert_eq!(error_of(with(url)), "none", "{url}");
        }
    }

    #[test]
    fn a_prefix_has_characters_that_every_provider_accepts() {
        assert_eq!(tool_name_prefix("files"), "files");
        assert_eq!(tool_name_prefix("My wiki!"), "My_wiki_");
        assert!(tool_name_prefix("天気").starts_with("tool_"));
        assert!(tool_name_prefix(&"a".repeat(60)).len() <= MAX_PREFIX_LEN);
    }
}
