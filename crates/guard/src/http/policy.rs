//! A URL in, a target that may be asked out; an address in, yes or no out.

use std::net::{IpAddr, SocketAddr};

use ipnet::IpNet;
use url::{Host, Position, Url};

use super::address::{is_public, same};
use super::error::FetchError;

/// The longest URL that is fetched.
const MAX_URL: usize = 8_192;

/// Names that mean this machine or its neighbours, with all that is below them.
const LOCAL_NAMES: [&str; 4] = ["localhost", "local", "internal", "home.arpa"];

/// What may be asked.
#[derive(Debug)]
pub(crate) struct Policy {
    pub(crate) ports: Vec<u16>,
    /// Empty: every host that is not denied.
    pub(crate) allowed: Vec<Pattern>,
    pub(crate) denied: Vec<Pattern>,
    /// As [`same`] writes them.
    pub(crate) denied_addresses: Vec<IpAddr>,
    pub(crate) addresses: Vec<SocketAddr>,
    pub(crate) networks: Vec<IpNet>,
}

/// A host, or all hosts below a name.
#[derive(Debug, PartialEq)]
pub(crate) enum Pattern {
    Exact(String),
    /// With a leading dot.
    Below(String),
}

impl Pattern {
    fn covers(&self, host: &str) -> bool {
        match self {
            Self::Exact(name) => host == name,
            Self::Below(suffix) => host.ends_with(suffix),
        }
    }
}

/// A URL that has been checked; the only thing a connection is made for.
#[derive(Debug)]
pub(crate) struct Target {
    url: Url,
    /// Without the dot that a full name may end in.
    host: Host<String>,
    /// The host as text, an IPv6 address in brackets.
    name: String,
    port: u16,
}

impl Target {
    pub(crate) fn is_https(&self) -> bool {
        self.url.scheme() == "https"
    }

    pub(crate) fn host(&self) -> &Host<String> {
        &self.host
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The `Host` header: the port only where it is not the scheme's own.
    pub(crate) fn authority(&self) -> String {
        match self.url.port() {
            Some(port) => format!("{}:{port}", self.name),
            None => self.name.clone(),
        }
    }

    pub(crate) fn path_and_query(&self) -> &str {
        &self.url[Position::BeforePath..Position::AfterQuery]
    }

    /// The URL without its fragment, which no server is told.
    pub(crate) fn url(&self) -> &str {
        &self.url[..Position::AfterQuery]
    }
}

impl Policy {
    /// Checks a URL as the model wrote it.
    pub(crate) fn target(&self, url: &str) -> Result<Target, FetchError> {
        if url.len() > MAX_URL {
            return Err(too_long());
        }
        let url = Url::parse(url).map_err(|_| FetchError::Url {
            reason: "is not one: write it in full, with `https://` and a host",
        })?;
        self.checked(url)
    }

    /// Checks where a redirect leads, as strictly as if the model had asked for it.
    pub(crate) fn redirected(&self, from: &Target, location: &str) -> Result<Target, FetchError> {
        let url = from.url.join(location).map_err(|_| FetchError::Url {
            reason: "that the page redirects to is not one",
        })?;
        if from.is_https() && url.scheme() == "http" {
            return Err(FetchError::Downgrade {
                host: from.name.clone(),
            });
        }
        self.checked(url)
    }

    fn checked(&self, url: Url) -> Result<Target, FetchError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(FetchError::Scheme {
                scheme: url.scheme().to_owned(),
            });
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(FetchError::UserInfo);
        }
        // A relative redirect may have made it longer.
        if url.as_str().len() > MAX_URL {
            return Err(too_long());
        }
        let no_host = FetchError::Url {
            reason: "has no host",
        };
        let host = match url.host() {
            Some(Host::Domain(name)) => Host::Domain(name.trim_end_matches('.').to_owned()),
            Some(host) => host.to_owned(),
            None => return Err(no_host),
        };
        let port = url.port_or_known_default().ok_or(no_host)?;
        let name = host.to_string();
        if !self.admits_host(&host, &name) {
            return Err(FetchError::Host { host: name });
        }
        let named = |address: &SocketAddr| address.port() == port;
        if !self.ports.contains(&port) && !self.addresses.iter().any(named) {
            return Err(FetchError::Port { port });
        }
        Ok(Target {
            url,
            host,
            name,
            port,
        })
    }

    fn admits_host(&self, host: &Host<String>, name: &str) -> bool {
        let is_denied = match host {
            Host::Domain(_) => self.denied.iter().any(|pattern| pattern.covers(name)),
            Host::Ipv4(address) => self.denies((*address).into()),
            Host::Ipv6(address) => self.denies((*address).into()),
        };
        if is_denied {
            return false;
        }
        if !self.allowed.is_empty() {
            return self.allowed.iter().any(|pattern| pattern.covers(name));
        }
        match host {
            Host::Domain(name) => !is_local(name),
            // What addresses may be is decided when they are connected to.
            Host::Ipv4(_) | Host::Ipv6(_) => true,
        }
    }

    /// Returns true if a connection to the address is denied, however it is written.
    fn denies(&self, address: IpAddr) -> bool {
        self.denied_addresses.contains(&same(address))
    }

    /// Checks one address that a connection could be made to.
    pub(crate) fn admit(&self, target: &Target, address: IpAddr) -> Result<SocketAddr, FetchError> {
        let address = SocketAddr::new(address.to_canonical(), target.port);
        let ip = address.ip();
        let refused = || FetchError::Address {
            host: target.name.clone(),
            address: ip,
        };
        // A name may lead to an address that is denied.
        if self.denies(ip) {
            return Err(refused());
        }
        if self.addresses.contains(&address) {
            return Ok(address);
        }
        if !is_public(ip) && !self.networks.iter().any(|network| network.contains(&ip)) {
            return Err(refused());
        }
        // The port was let through for another address.
        if !self.ports.contains(&target.port) {
            return Err(FetchError::Port { port: target.port });
        }
        Ok(address)
    }
}

/// Whether a name is local by its form. One without a dot is completed by the host's search domains.
fn is_local(name: &str) -> bool {
    let is_below = |local: &str| {
        name.strip_suffix(local)
            .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    !name.contains('.') || LOCAL_NAMES.into_iter().any(is_below)
}

fn too_long() -> FetchError {
    FetchError::Url {
        reason: "is longer than 8192 bytes",
    }
}
