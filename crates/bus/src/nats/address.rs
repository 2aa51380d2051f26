//! The servers that a URL names, and the credential for them.

use std::path::PathBuf;
use std::str::FromStr as _;

use async_nats::ServerAddr;
use percent_encoding::percent_decode_str;
use url::Url;

use crate::bus::BusError;

const DEFAULT_PREFIX: &str = "toolwright";

/// The parsed URL of a [`NatsBus`](super::NatsBus). The addresses have no credential, because async-nats logs them.
pub(super) struct Address {
    pub(super) servers: Vec<ServerAddr>,
    pub(super) credential: Credential,
    /// The first part of all subjects.
    pub(super) prefix: String,
    /// The certificates that sign those of the servers; without it, those of the system.
    pub(super) ca_file: Option<PathBuf>,
}

#[derive(Clone, PartialEq)]
pub(super) enum Credential {
    None,
    Token(String),
    Password { user: String, password: String },
}

impl Address {
    /// Parses `nats://USER:PASSWORD@HOST:PORT,HOST:PORT/PREFIX?ca=FILE`.
    pub(super) fn parse(text: &str) -> Result<Self, BusError> {
        let mut scheme = "nats";
        let (mut servers, mut credential) = (Vec::new(), Credential::None);
        let (mut prefix, mut ca_file) = (None, None);
        for server in text.split(',').map(str::trim) {
            let rest = match server.split_once("://") {
                Some((own_scheme, rest)) => {
                    scheme = own_scheme;
                    rest
                }
                None => server,
            };
            let mut url = Url::parse(&format!("{scheme}://{rest}"))
                .map_err(|error| malformed("cannot be read").with_source(error))?;
            if !matches!(url.scheme(), "nats" | "tls") {
                return Err(malformed("has servers with other schemes"));
            }
            if url.host_str().is_none_or(str::is_empty) {
                return Err(malformed("has a server without a host"));
            }
            for (name, value) in url.query_pairs() {
                match &*name {
                    "ca" => ca_file = Some(PathBuf::from(&*value)),
                    _ => {
                        return Err(malformed(
                            "has another parameter than `ca`, a file of certificates",
                        ));
                    }
                }
            }
            match (take_credential(&mut url)?, &credential) {
                (Credential::None, _) => {}
                (new, Credential::None) => credential = new,
                (new, known) if new == *known => {}
                _ => return Err(malformed("has several credentials: all servers take the same")),
            }
            match url.path().trim_matches('/') {
                "" => {}
                path if is_prefix(path) => prefix = Some(path.to_owned()),
                _ => {
                    let problem =
                        "has a path that is no subject: letters, digits, `-`, `_` and `.`";
                    return Err(malformed(problem));
                }
            }
            url.set_path("");
            url.set_query(None);
            url.set_fragment(None);
            let server = ServerAddr::from_str(url.as_str())
                .map_err(|error| malformed("cannot be read").with_source(error))?;
            servers.push(server);
        }
        let prefix = prefix.unwrap_or_else(|| DEFAULT_PREFIX.to_owned());
        Ok(Self { servers, credential, prefix, ca_file })
    }

    /// Names the servers, without the credential.
    pub(super) fn label(&self) -> String {
        let host_and_port = |server: &ServerAddr| format!("{}:{}", server.host(), server.port());
        let servers: Vec<String> = self.servers.iter().map(host_and_port).collect();
        match servers.as_slice() {
            [server] => format!("the NATS server `{server}`"),
            servers => format!("each of the NATS servers `{}`", servers.join(", ")),
        }
    }
}

fn malformed(problem: &str) -> BusError {
    BusError::new(format!(
        "the URL of the bus {problem}: write `nats://HOST:PORT`, with `USER:PASSWORD@` before the host, `tls://…` to require TLS, more servers after commas"
    ))
}

/// Removes the credential from a URL.
fn take_credential(url: &mut Url) -> Result<Credential, BusError> {
    let decode = |text: &str| match percent_decode_str(text).decode_utf8() {
        Ok(text) => Ok(text.into_owned()),
        Err(_) => Err(malformed("has a credential that is no UTF-8")),
    };
    let credential = match (url.username(), url.password()) {
        ("", None) => Credential::None,
        (token, None) => Credential::Token(decode(token)?),
        (user, Some(password)) => {
            Credential::Password { user: decode(user)?, password: decode(password)? }
        }
    };
    let removed = url.set_username("").and_then(|()| url.set_password(None));
    match removed {
        Ok(()) => Ok(credential),
        Err(()) => Err(malformed("has a credential without a host")),
    }
}

/// Returns true if a text can begin subjects: parts of letters, digits, `-` and `_`, separated by dots.
fn is_prefix(text: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    text.len() <= 64 && text.split('.').all(|part| !part.is_empty() && part.chars().all(is_plain))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Address {
        Address::parse(url).unwrap_or_else(|error| panic!("{url}: {error}"))
    }

    #[test]
    fn a_url_may_name_several_servers_a_credential_and_a_prefix() {
        let address =
            parse("tls://ada:p%40ss%2C@one:4333, two,nats://three:4444/shop.eu?ca=ca.pem");
        assert_eq!(address.ca_file, Some("ca.pem".into()));
        assert_eq!(address.prefix, "shop.eu");
        let password =
            Credential::Password { user: "ada".to_owned(), password: "p@ss,".to_owned() };
        assert!(address.credential == password);
        let label = address.label();
        assert_eq!(label, "each of the NATS servers `one:4333, two:4222, three:4444`");
        let tls: Vec<bool> = address.servers.iter().map(ServerAddr::tls_required).collect();
        assert_eq!(tls, [true, true, false]);
        assert!(address.servers.iter().all(|server| !format!("{server:?}").contains("p%40")));
    }

    #[test]
    fn a_user_alone_is_a_token_and_the_prefix_has_a_default() {
        let address = parse("nats://s3cret@[::1]");
        assert!(address.credential == Credential::Token("s3cret".to_owned()));
        assert_eq!(address.prefix, "toolwright");
        assert_eq!(address.label(), "the NATS server `::1:4222`");
    }

    #[test]
    fn a_malformed_url_is_an_error_without_its_password() {
        let wrong = [
            "nats://",
            "nats://u:hunter2@",
            "nats://u:hunter2@host:port",
            "nats://u:hunter2@host:99999",
            "nats://u:hunter2@host,",
            "ws://u:hunter2@host",
            "nats://u:hunter2@host,http://host",
            "nats://u:hunter2@host?tls=true",
            "nats://u:hunter2@host/a b",
            "nats://u:hunter2@host/a..b",
            "nats://u:hunter2@host/a.*",
            "nats://u:hunter2@one,v:hunter2@two",
            "nats://u:hunter2%ff@one",
        ];
        for url in wrong {
            let error = match Address::parse(url) {
                Ok(address) => panic!("{url}: {}", address.label()),
                Err(error) => error,
            };
            let text = format!("{error} {error:?}");
            assert!(!text.contains("hunter2"), "{url}: {text}");
            assert!(text.contains("write `nats://HOST"), "{url}: {text}");
        }
    }
}
