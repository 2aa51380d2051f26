//! Checks URLs and addresses against what the client allows.

use std::net::{IpAddr, SocketAddr};

use ipnet::IpNet;
use url::{Host, Position, Url};

use super::address::{effective_address, is_public};
use super::error::FetchError;

/// The longest URL that is fetched.
const MAX_URL: usize = 8_192;

/// Names of this machine and its local network; their subdomains are local, too.
const LOCAL_NAMES: [&str; 4] = ["localhost", "local", "internal", "home.arpa"];

/// The hosts, ports and addresses that a client allows and denies.
#[derive(Debug)]
pub(crate) struct Policy {
    pub(crate) ports: Vec<u16>,
    /// If empty, every host that is not denied is allowed.
    pub(crate) allowed: Vec<Pattern>,
    pub(crate) denied: Vec<Pattern>,
    /// In the form that [`effective_address`] returns.
    pub(crate) denied_addresses: Vec<IpAddr>,
    /// Allowed even if they are not public.
    pub(crate) addresses: Vec<SocketAddr>,
    /// Allowed even if they are not public.
    pub(crate) networks: Vec<IpNet>,
}

/// A host, or all subdomains of one.
#[derive(Debug, PartialEq)]
pub(crate) enum Pattern {
    Exact(String),
    /// A suffix with a leading dot.
    Subdomains(String),
}

impl Pattern {
    fn matches(&self, host: &str) -> bool {
        match self {
            Self::Exact(name) => host == name,
            Self::Subdomains(suffix) => host.ends_with(suffix),
        }
    }
}

/// A URL that has been checked; the only thing a connection is made for.
#[derive(Debug)]
pub(crate) struct Target {
    url: Url,
    /// Without the trailing dot of a fully qualified name.
    pub(crate) host: Host<String>,
    /// The host as text, an IPv6 address in brackets.
    pub(crate) name: String,
    port: u16,
}

impl Target {
    pub(crate) fn is_https(&self) -> bool {
        self.url.scheme() == "https"
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

    /// The URL without its fragment, which is not sent.
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
        self.check(url)
    }

    /// Checks the target of a redirect as strictly as a URL of the model.
    pub(crate) fn redirect_target(
        &self,
        from: &Target,
        location: &str,
    ) -> Result<Target, FetchError> {
        let url = from
            .url
            .join(location)
            .map_err(|_| FetchError::Url { reason: "that the page redirects to is not one" })?;
        if from.is_https() && url.scheme() == "http" {
            return Err(FetchError::Downgrade { host: from.name.clone() });
        }
        self.check(url)
    }

    fn check(&self, url: Url) -> Result<Target, FetchError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(FetchError::Scheme { scheme: url.scheme().to_owned() });
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(FetchError::UserInfo);
        }
        // A relative redirect may have made it longer.
        if url.as_str().len() > MAX_URL {
            return Err(too_long());
        }
        let no_host = FetchError::Url { reason: "has no host" };
        let host = match url.host() {
            Some(Host::Domain(name)) => Host::Domain(name.trim_end_matches('.').to_owned()),
            Some(host) => host.to_owned(),
            None => return Err(no_host),
        };
        let port = url.port_or_known_default().ok_or(no_host)?;
        let name = host.to_string();
        if !self.allows_host(&host, &name) {
            return Err(FetchError::Host { host: name });
        }
        let has_port = |address: &SocketAddr| address.port() == port;
        if !self.ports.contains(&port) && !self.addresses.iter().any(has_port) {
            return Err(FetchError::Port { port });
        }
        Ok(Target { url, host, name, port })
    }

    fn allows_host(&self, host: &Host<String>, name: &str) -> bool {
        let is_denied = match host {
            Host::Domain(_) => self.denied.iter().any(|pattern| pattern.matches(name)),
            Host::Ipv4(address) => self.denies((*address).into()),
            Host::Ipv6(address) => self.denies((*address).into()),
        };
        if is_denied {
            return false;
        }
        if !self.allowed.is_empty() {
            return self.allowed.iter().any(|pattern| pattern.matches(name));
        }
        match host {
            Host::Domain(name) => !is_local(name),
            // `check_address` decides, before the connection is made.
            Host::Ipv4(_) | Host::Ipv6(_) => true,
        }
    }

    /// Returns true if a connection to the address is denied, in any notation.
    fn denies(&self, address: IpAddr) -> bool {
        self.denied_addresses.contains(&effective_address(address))
    }

    /// Checks one address of the target's host.
    pub(crate) fn check_address(
        &self,
        target: &Target,
        address: IpAddr,
    ) -> Result<SocketAddr, FetchError> {
        let address = SocketAddr::new(address.to_canonical(), target.port);
        let ip = address.ip();
        let refused = || FetchError::Address { host: target.name.clone(), address: ip };
        // A name may resolve to an address that is denied.
        if self.denies(ip) {
            return Err(refused());
        }
        if self.addresses.contains(&address) {
            return Ok(address);
        }
        if !is_public(ip) && !self.networks.iter().any(|network| network.contains(&ip)) {
            return Err(refused());
        }
        // `check` accepted the port because another address is allowed on it.
        if !self.ports.contains(&target.port) {
            return Err(FetchError::Port { port: target.port });
        }
        Ok(address)
    }
}

/// Returns true if a name is local by its form. The resolver appends search domains to a name without a dot.
fn is_local(name: &str) -> bool {
    let is_under = |local: &str| {
        name.strip_suffix(local).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    !name.contains('.') || LOCAL_NAMES.into_iter().any(is_under)
}

fn too_long() -> FetchError {
    FetchError::Url { reason: "is longer than 8192 bytes" }
}
